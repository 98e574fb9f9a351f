# SPDX-License-Identifier: Apache-2.0
"""What a node with simulated servos has beyond a driver: its parameters, `/clock`, services and pictures."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bam_bench.srv import SetLoad
from builtin_interfaces.msg import Time
from rclpy.logging import get_logging_directory
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray

from bam_core.errors import BamError, WrongShape
from bam_core.mujoco import bench_urdf
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.servo_node import ServoNode
from bam_ros.node.model_file import model_file
from bam_ros.node.parameters import one_each
from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.description import EnforcedLimits, with_limits
from bam_ros.simulator.markers import FrictionMarkers
from bam_ros.simulator.settings import SimulationSettings

_DESCRIPTION_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_DEFAULT_PERIOD = 2e-3  # s of simulation per exchange where no rate is asked for
_VIEW_PERIOD = 0.05  # s of the wall clock between pictures for RViz
_MARKER_SIZE = 0.12  # of the robot's extent
_MARKER_ROOM = 0.4  # of the way from a joint to the next: three lines of a label fit in


class SimulationInterface:
    """`SIMULATION_PARAMETERS` and `SIMULATION_INTERFACES` of a node.

    Args:
        node: that has them.
        loop: returns the node's loop; raises BamError while the node is not active.
    """

    def __init__(self, node: ServoNode, loop: Callable[[], ServoLoop]) -> None:
        self._node, self._loop = node, loop
        self._made: MujocoBus | None = None
        topic = str(self._value("description_topic"))
        self._description = (
            node.create_publisher(String, topic, _DESCRIPTION_QOS, qos_overriding_options=QOS_OVERRIDES)
            if topic
            else None
        )
        self._clock = (
            node.create_publisher(Clock, "/clock", 10, qos_overriding_options=QOS_OVERRIDES)
            if self._value("publish_clock")
            else None
        )
        self._clock_message = Clock()
        self._goals = node.create_publisher(
            JointState, "~/goal_states", 10, qos_overriding_options=QOS_OVERRIDES
        )
        self._band = [
            node.create_publisher(JointState, f"~/{end}_states", 10, qos_overriding_options=QOS_OVERRIDES)
            for end in ("low", "high")
        ]
        self._marker_publisher = node.create_publisher(
            MarkerArray, "~/markers", 10, qos_overriding_options=QOS_OVERRIDES
        )
        self._markers: FrictionMarkers | None = None
        self._next_view = 0.0
        self._speed = node.create_publisher(
            Float64, "~/real_time_factor", 10, qos_overriding_options=QOS_OVERRIDES
        )
        node.create_timer(1.0, self._publish_speed)
        node.serve(SetBool, "~/pause", self._on_pause)
        node.serve(Trigger, "~/step", self._on_step)
        node.serve(Trigger, "~/reset", self._on_reset)
        node.serve(SetLoad, "~/set_load", self._on_set_load)

    @property
    def bus(self) -> MujocoBus:
        """The simulation that was made last."""
        assert self._made is not None
        return self._made

    def create_bus(
        self,
        servos: Sequence[str],
        *,
        kp: float = 0.0,
        pwm: bool = False,
        kinds: Sequence[CommandKind] = (),
    ) -> MujocoBus:
        """Build a simulation from the node's parameters; it goes on from the time of the one before.

        Args:
            servos: of the joints, names or files; one: for all.
            kp: see `SimulationSettings`.
            pwm: likewise.
            kinds: what each joint is commanded by; empty: position.

        Raises:
            BamError: a parameter is wrong.
        """
        joints = list(self._value("joint_names"))
        if not joints or len(set(joints)) != len(joints):
            two = "correct the parameter; for two servos on one joint see bam servos new --motors 2"
            raise WrongShape("joint_names", joints, "at least one, each once", advice=two)
        by_joint = dict(zip(joints, one_each("servos", servos, joints), strict=True))
        count = int(self._value("draws"))
        positions = one_each("initial_position", self._value("initial_position"), joints)
        factor = float(self._value("real_time_factor"))
        settings = SimulationSettings(
            servos={joint: load_servo(servo) for joint, servo in by_joint.items()},
            model=model_file(str(self._value("model"))),
            bench=PendulumBench(
                mass=float(self._value("mass")),
                arm_mass=float(self._value("arm_mass")),
                length=float(self._value("length")),
            ),
            kp=kp,
            pwm=pwm,
            command_kinds=dict(zip(joints, kinds, strict=False)),
            supply_voltage=float(self._value("supply_voltage")),
            timestep=float(self._value("timestep")),
            period=_period(float(self._value("rate")), factor, whole=pwm),
            real_time_factor=factor,
            initial_position=dict(zip(joints, positions, strict=True)),
            keyframe=str(self._value("keyframe")),
            start_contacts=bool(self._value("start_contacts")),
            simulated_stamps=bool(self._value("publish_clock")),
            dump_directory=str(self._value("dump_directory")) or str(get_logging_directory()),
        )
        if settings.time_warning:
            self._node.get_logger().warning(settings.time_warning)
        draws = None
        if count:
            from bam_ros.simulator.ghosts import draws_of  # here, for it takes half a second

            draws = draws_of(by_joint, count)
        # `/clock` never turns back.
        self._made = MujocoBus(
            settings,
            clock=self._made.clock if self._made is not None else 0.0,
            draws=draws,
        )
        return self._made

    def describe(self) -> None:
        """Publish the robot's description, with the limits in force; to be called once the bus is open."""
        self._markers = None
        if self._description is None:
            return
        bus = self.bus
        if bus.bench is not None:
            self._publish_description(self._description, bench_urdf(bus.bench, joint=bus.names[0]))
            return
        urdf = Path(model_file(str(self._value("model")))).with_suffix(".urdf")
        if urdf.is_file():
            self._publish_description(self._description, urdf.read_text(encoding="utf-8"))
        else:
            self._node.get_logger().warning(
                f"robot_description: none, there is no {urdf} beside the model; add one"
            )

    def _publish_description(self, publisher: Publisher, urdf: str) -> None:
        bus, velocity = self.bus, float(self._value("speed_limit"))
        limits = {
            joint: EnforcedLimits(lower=low, upper=high, effort=torque, velocity=velocity)
            for joint, (low, high), torque in zip(
                bus.names, self._node.goal_limits, bus.world.stall_torques, strict=True
            )
        }
        publisher.publish(String(data=with_limits(urdf, limits)))

    def publish(self, sample: ServoSample) -> None:
        """Publish what belongs to a sample; called in the loop's thread."""
        if self._clock is not None:
            stamp = self._clock_message.clock
            stamp.sec, stamp.nanosec = divmod(sample.stamp, 1_000_000_000)
            self._clock.publish(self._clock_message)
        now = time.monotonic()
        if now >= self._next_view:
            self._next_view = now + _VIEW_PERIOD
            self._publish_view(sample)

    def _value(self, name: str) -> Any:
        return self._node.get_parameter(name).value

    def _publish_view(self, sample: ServoSample) -> None:
        """Publish what only eyes need."""
        bus = self.bus
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
        if any(publisher.get_subscription_count() for publisher in self._band):
            for publisher, positions in zip(self._band, bus.band or (), strict=False):
                state = JointState(name=list(bus.names), position=array("d", positions.tolist()))
                state.header.stamp = stamp
                publisher.publish(state)
        if self._marker_publisher.get_subscription_count():
            if self._markers is None:
                size = min(_MARKER_SIZE * bus.world.extent, _MARKER_ROOM * bus.world.spacing)
                self._markers = FrictionMarkers(bus.world.places, bus.world.stall_torques, size)
            self._marker_publisher.publish(self._markers.draw(bus.world.friction_states, stamp))

    def _publish_speed(self) -> None:
        try:
            self._loop()
        except BamError:
            return
        self._speed.publish(Float64(data=self.bus.real_time_factor))

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        def pause(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.call(lambda: setattr(bus, "paused", request.data))
            return f"{'paused' if request.data else 'running'} at {bus.clock:.3f} simulated s"

        return self._answer(response, pause)

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def step(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.call(bus.step)
            return f"at {bus.clock:.4f} simulated s"

        return self._answer(response, step)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        def reset(bus: MujocoBus, loop: ServoLoop) -> str:
            loop.interrupt(bus.reset, "reset")
            return "at the initial state, torque off"

        return self._answer(response, reset)

    def _on_set_load(self, request: SetLoad.Request, response: SetLoad.Response) -> SetLoad.Response:
        def set_load(bus: MujocoBus, loop: ServoLoop) -> str:
            bench = PendulumBench(mass=request.mass, arm_mass=request.arm_mass, length=request.length)
            loop.interrupt(lambda: bus.set_load(bench), "got another load")
            self.describe()
            return f"{bench.mass:g} kg on {bench.length:g} m hangs at rest"

        return self._answer(response, set_load)

    def _answer(self, response: Any, work: Callable[[MujocoBus, ServoLoop], str]) -> Any:
        try:
            loop = self._loop()
            response.message = work(self.bus, loop)
            response.success = True
        except BamError as error:
            response.message = str(error)
        return response


def _period(rate: float, factor: float, *, whole: bool) -> float:
    """Return the least simulated time per exchange, s.

    Where the node's loop keeps a rate, it sets the pace; the bus would only add jitter by waiting too, unless
    an exchange has to be a whole period.
    """
    if rate == 0.0:
        return _DEFAULT_PERIOD
    return (factor or 1.0) / rate * (0.5 if factor > 0.0 and not whole else 1.0)
