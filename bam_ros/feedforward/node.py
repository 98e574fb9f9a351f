# SPDX-License-Identifier: Apache-2.0
"""The `feedforward` node: a driver whose servos follow trajectories in PWM mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bam_bench.msg import ServoCommands
from builtin_interfaces.msg import Time
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy
from trajectory_msgs.msg import JointTrajectory

from bam_core.errors import BamError, UnknownName
from bam_core.feedforward import HandOver, Opposition, PidGains, Points
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.joint_limits import parse_limits
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_commands import torque_off
from bam_ros.driver.servo_node import ServoNode
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.node import bus_settings
from bam_ros.feedforward.about import ABOUT, DRIVERS, SIMULATED_SERVO, SIMULATOR
from bam_ros.feedforward.bus import FeedForwardBus
from bam_ros.feedforward.message import StampClock, is_at_once, points_of
from bam_ros.feedforward.settings import FeedForwardSettings
from bam_ros.node.model_file import model_file
from bam_ros.node.parameters import one_each
from bam_ros.node.process import run_node
from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.node.running_node import NodeProgram
from bam_ros.simulator.interface import SimulationInterface
from bam_ros.text.driver_notices import CommandIgnored
from bam_ros.text.feedforward_notices import PositionNotTaken, TorqueOffForAll, TorqueOnForAll

# Deeper than that of other commands: pieces of one motion must not replace each other while they wait.
_TRAJECTORY_QOS = QoSProfile(depth=20, reliability=ReliabilityPolicy.RELIABLE)
_PLANNING_TIME = 10.0  # s
_SWITCH_INTERVAL = 2e-4  # s; planning a trajectory must not keep the bus waiting for Python's 5 ms


class FeedForwardNode(ServoNode):
    """Drives servos along trajectories: Dynamixels, or simulated ones.

    Where servos are simulated a trajectory is planned between two exchanges, while no simulated time passes:
    as fast as possible the simulation would leave any plan behind.

    Args:
        stop: polled while servos are searched; true ends the search.
        arguments: as for `rclpy.node.Node`.
    """

    ABOUT = ABOUT

    def __init__(self, stop: Callable[[], bool] = lambda: False, **arguments: Any) -> None:
        super().__init__(self.ABOUT.name, **arguments)
        self._stop = stop
        self._stamps = StampClock()
        driver = self.get_parameter("driver").value
        if driver not in DRIVERS:
            raise UnknownName("parameter driver", driver, DRIVERS)
        self._simulation = (
            SimulationInterface(self, lambda: self._active()[1]) if driver == SIMULATOR else None
        )
        # Planning a minute of motion takes half a second: in a thread of its own, so that commands are taken
        # meanwhile, whose absence would release the servos.
        self._planner = ThreadPoolExecutor(1, "trajectories")
        self.create_subscription(
            JointTrajectory,
            "~/joint_trajectory",
            self._on_trajectory,  # type: ignore[arg-type]  # rclpy awaits coroutines, and does not declare it
            _TRAJECTORY_QOS,
            callback_group=MutuallyExclusiveCallbackGroup(),
            qos_overriding_options=QOS_OVERRIDES,
        )

    def destroy_node(self) -> None:
        """End the node, and the thread that plans."""
        self._planner.shutdown(wait=False)
        super().destroy_node()

    def create_bus(self) -> ServoBus:
        """Build the bus from the parameters; raises BamError."""
        value = {parameter.name: self.get_parameter(parameter.name).value for parameter in ABOUT.parameters}
        joints = value["joint_names"]
        feed_forward = FeedForwardSettings(
            servos=one_each("servos", value["servos"], joints),
            limits=parse_limits(value["limits"], joints),
            model=model_file(value["model"]),
            speed=value["speed_limit"],
            torque=value["torque_limit"],
            duty=value["duty_limit"],
            gains=PidGains(p=value["kp"], i=value["ki"], d=value["kd"]),
            opposition=Opposition(drop=value["drop"], resume=value["resume"]),
            hand_over=HandOver(horizon=value["horizon"]),
            error=value["following_error"],
        )
        if self._simulation is not None:
            servos = [servo or SIMULATED_SERVO for servo in feed_forward.servos]
            return FeedForwardBus(self._simulation.create_bus(servos, pwm=True), feed_forward)
        settings = bus_settings(self, kind=CommandKind.DUTY)
        return FeedForwardBus(DynamixelBus(settings, self._stop, self.get_logger().info), feed_forward)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Open the bus, and publish the description of a robot that is simulated."""
        result = super().on_configure(state)
        if self._simulation is not None and result == TransitionCallbackReturn.SUCCESS:
            self._simulation.describe()
        return result

    def _publish(self, sample: ServoSample, sequence: int) -> None:
        super()._publish(sample, sequence)
        if self._simulation is not None:
            self._simulation.publish(sample)

    def _on_commands(self, message: ServoCommands) -> None:
        names = list(self._bus.names) if self._bus is not None else []
        if off := torque_off(message, names):
            if len(off) < len(names):
                self.get_logger().warning(str(TorqueOffForAll()), throttle_duration_sec=1.0)
            count = len(names)
            message = ServoCommands(
                name=names, torque_enabled=[False] * count, goal_position=[math.nan] * count
            )
        if any(not math.isnan(position) for position in message.goal_position):
            self._reject(CommandIgnored(topic="servo_commands", reason=PositionNotTaken()))
        elif names and sorted(message.name) != sorted(names):
            reason = TorqueOnForAll(joints=tuple(names))
            self._reject(CommandIgnored(topic="servo_commands", reason=reason))
        else:
            super()._on_commands(message)

    async def _on_trajectory(self, message: JointTrajectory) -> None:
        await self.in_thread(self._planner, lambda: self._take_trajectory(message))

    def _take_trajectory(self, message: JointTrajectory) -> None:
        bus, loop = self._bus, self._loop
        if loop is None or not isinstance(bus, FeedForwardBus):
            self._refuse("the node is not active; activate it first")
            return
        try:
            points = self._points(message, bus) if message.points else None

            def plan() -> None:
                if points is None:
                    bus.stop()
                else:
                    bus.follow(points, self._start(message.header.stamp, bus))

            if self._simulation is not None:
                loop.call(plan, _PLANNING_TIME)
            else:
                plan()
        except BamError as error:
            self._refuse(str(error))

    def _start(self, stamp: Time, bus: FeedForwardBus) -> float:
        """Return when a trajectory with this stamp starts, s on the clock of the bus."""
        if self._simulation is not None and not is_at_once(stamp):
            return self._simulation.bus.time_of(stamp.sec * 10**9 + stamp.nanosec)
        return self._stamps.start(stamp, self.get_clock().now().nanoseconds * 1e-9, bus.now())

    def _points(self, message: JointTrajectory, bus: FeedForwardBus) -> Points:
        try:
            return points_of(message, bus.names)
        except BamError as error:
            bus.refuse(str(error))
            raise

    def _refuse(self, reason: str) -> None:
        self.get_logger().warning(f"joint_trajectory: refused, {reason}")
        self._publish_diagnostics()


PROGRAM = NodeProgram(about=ABOUT, make_node=FeedForwardNode, switch_interval=_SWITCH_INTERVAL)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the node until a signal ends it."""
    return run_node(PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
