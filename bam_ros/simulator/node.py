# SPDX-License-Identifier: Apache-2.0
"""The `simulator` node: any robot with servos in MuJoCo, with topics and services of the drivers."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bam_bench.srv import SetLoad
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.logging import get_logging_directory
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from bam_core.errors import BamError
from bam_core.mujoco import bench_urdf
from bam_core.pendulum import PendulumBench
from bam_core.servo_model import load_servo
from bam_ros.parameters import one_each
from bam_ros.process import run_node
from bam_ros.servo_bus import BusError, ServoBus, ServoSample
from bam_ros.servo_loop import ServoLoop
from bam_ros.servo_node import ServoNode
from bam_ros.simulator.about import ABOUT
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.markers import FrictionMarkers
from bam_ros.simulator.settings import SimulationSettings

_DESCRIPTION_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_DEFAULT_PERIOD = 2e-3  # s of simulation per exchange where no rate is asked for
_VIEW_PERIOD = 0.05  # s of the wall clock between pictures for RViz
_MARKER_SIZE = 0.12  # of the robot's extent


class SimulatorNode(ServoNode):
    """Simulates servos. Beyond what drivers have it gives `~/pause`, `~/step`, `~/reset` and `~/set_load`."""

    ABOUT = ABOUT

    def __init__(self, **arguments: Any) -> None:
        super().__init__("simulator", **arguments)
        self._description = self.create_publisher(String, "robot_description", _DESCRIPTION_QOS)
        self._clock_publisher = (
            self.create_publisher(Clock, "/clock", 10) if self.get_parameter("publish_clock").value else None
        )
        self._clock_message = Clock()
        self._goals = self.create_publisher(JointState, "~/goal_states", 10)
        self._marker_publisher = self.create_publisher(MarkerArray, "~/markers", 10)
        self._markers: FrictionMarkers | None = None
        self._next_view = 0.0
        self._simulated = 0.0  # where the simulation got to, for the next one to go on from, s
        self._speed = self.create_publisher(Float64, "~/real_time_factor", 10)
        self.create_timer(1.0, self._publish_speed)
        self.serve(SetBool, "~/pause", self._on_pause)
        self.serve(Trigger, "~/step", self._on_step)
        self.serve(Trigger, "~/reset", self._on_reset)
        self.serve(SetLoad, "~/set_load", self._on_set_load)

    def create_bus(self) -> ServoBus:
        """Build the simulation's settings from the parameters; raises BamError."""
        joints = list(self.get_parameter("joint_names").value)
        if not joints or len(set(joints)) != len(joints):
            raise BusError(f"joint_names: {joints} (expected at least one, each once); correct the parameter")
        servos = one_each("servos", self.get_parameter("servos").value, joints)
        positions = one_each("initial_position", self.get_parameter("initial_position").value, joints)
        factor = float(self.get_parameter("real_time_factor").value)
        return MujocoBus(
            SimulationSettings(
                servos={joint: load_servo(servo) for joint, servo in zip(joints, servos, strict=True)},
                model=str(self.get_parameter("model").value),
                bench=PendulumBench(
                    mass=float(self.get_parameter("mass").value),
                    arm_mass=float(self.get_parameter("arm_mass").value),
                    length=float(self.get_parameter("length").value),
                ),
                kp=float(self.get_parameter("kp").value),
                timestep=float(self.get_parameter("timestep").value),
                period=_period(float(self.get_parameter("rate").value), factor),
                real_time_factor=factor,
                initial_position=dict(zip(joints, positions, strict=True)),
                keyframe=str(self.get_parameter("keyframe").value),
                simulated_stamps=bool(self.get_parameter("publish_clock").value),
                dump_directory=str(self.get_parameter("dump_directory").value)
                or str(get_logging_directory()),
            ),
            clock=self._simulated,
        )

    def close(self) -> None:
        """End the simulation; another one goes on from its time, so that `/clock` never turns back."""
        bus = self._bus
        super().close()
        if isinstance(bus, MujocoBus):
            self._simulated = bus.clock

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the simulation and publish the robot's description."""
        result = super().on_configure(state)
        if result == TransitionCallbackReturn.SUCCESS:
            self._markers = None
            self._publish_description()
        return result

    def _publish(self, sample: ServoSample, sequence: int) -> None:
        super()._publish(sample, sequence)
        if self._clock_publisher is not None:
            stamp = self._clock_message.clock
            stamp.sec, stamp.nanosec = divmod(sample.stamp, 1_000_000_000)
            self._clock_publisher.publish(self._clock_message)
        now = time.monotonic()
        if now >= self._next_view:
            self._next_view = now + _VIEW_PERIOD
            self._publish_view(sample)

    def _publish_view(self, sample: ServoSample) -> None:
        """Publish what only eyes need; called in the loop's thread."""
        bus = self._simulation()
        stamp = Time(sec=sample.stamp // 10**9, nanosec=sample.stamp % 10**9)
        if self._goals.get_subscription_count():
            goals = JointState(name=list(bus.names))
            goals.header.stamp = stamp
            goals.position = array(
                "d",
                [
                    goal if torque and math.isfinite(goal) else position
                    for goal, torque, position in zip(
                        sample.goal_position, sample.torque_enabled, sample.position, strict=True
                    )
                ],
            )
            self._goals.publish(goals)
        if self._marker_publisher.get_subscription_count():
            if self._markers is None:
                size = _MARKER_SIZE * bus.world.extent
                self._markers = FrictionMarkers(bus.world.places, bus.world.stall_torques, size)
            self._marker_publisher.publish(self._markers.draw(bus.world.friction_states, stamp))

    def _publish_speed(self) -> None:
        if self._bus is not None and self._loop is not None:
            self._speed.publish(Float64(data=self._simulation().real_time_factor))

    def _publish_description(self) -> None:
        bus = self._simulation()
        if bus.bench is not None:
            self._description.publish(String(data=bench_urdf(bus.bench, joint=bus.names[0])))
            return
        urdf = Path(self.get_parameter("model").value).with_suffix(".urdf")
        if urdf.is_file():
            self._description.publish(String(data=urdf.read_text(encoding="utf-8")))
        else:
            self.get_logger().warning(
                f"robot_description: none, there is no {urdf} beside the model; add one"
            )

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        def pause(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.call(lambda: setattr(bus, "paused", request.data))
            return f"{'paused' if request.data else 'running'} at {bus.clock:.3f} s"

        return self._answer(response, pause)

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def step(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.call(bus.step)
            return f"at {bus.clock:.4f} s"

        return self._answer(response, step)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def reset(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.interrupt(bus.reset)
            return "at the initial state, torque off"

        return self._answer(response, reset)

    def _on_set_load(self, request: SetLoad.Request, response: SetLoad.Response) -> SetLoad.Response:
        def hang(bus: MujocoBus, loop: ServoLoop) -> str:
            bench = PendulumBench(mass=request.mass, arm_mass=request.arm_mass, length=request.length)
            loop.interrupt(lambda: bus.hang(bench))
            self._markers = None
            self._publish_description()
            return f"{bench.mass:g} kg on {bench.length:g} m hangs at rest"

        return self._answer(response, hang)

    def _answer(self, response: Any, work: Callable[[MujocoBus, ServoLoop], str]) -> Any:
        try:
            _, loop = self._active()
            response.message = work(self._simulation(), loop)
            response.success = True
        except BamError as error:
            response.message = str(error)
        return response

    def _simulation(self) -> MujocoBus:
        assert isinstance(self._bus, MujocoBus)
        return self._bus


def _period(rate: float, factor: float) -> float:
    """Return the least simulated time per exchange, s.

    Where the node's loop keeps a rate, it sets the pace; the bus would only add jitter by waiting too.
    """
    if rate == 0.0:
        return _DEFAULT_PERIOD
    return 0.5 * factor / rate if factor > 0.0 else 1.0 / rate


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(SimulatorNode.ABOUT, lambda stop: SimulatorNode(), argv)


if __name__ == "__main__":
    raise SystemExit(main())
