# SPDX-License-Identifier: Apache-2.0
"""The link to a bench: one driver, of which one servo is commanded."""

from __future__ import annotations

import math

from bam_bench.msg import BenchRun, ServoCommands, ServoConfiguration
from rclpy.node import Node
from rclpy.serialization import serialize_message

from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.recorder.bench_topics import LATCHED_QOS
from bam_ros.recorder.motion import ArmGoal
from bam_ros.recorder.servo_link import ServoLink
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits


class BenchLink(ServoLink[ArmGoal]):
    """Subscriptions and publishers of a recording on the bench.

    Args:
        node: whose names, clock and context are used.
        joint: the servo that is commanded.
        namespace: of the driver, in that of the node; empty: the same.
        waits: for the driver.
    """

    def __init__(self, node: Node, joint: str, namespace: str = "", waits: Waits = DEFAULT_WAITS) -> None:
        self.joint = joint
        nowhere = [math.nan]
        self._command = ServoCommands(
            name=[joint],
            torque_enabled=[False],
            goal_position=nowhere,
            goal_velocity=nowhere,
            goal_current=nowhere,
            goal_duty=nowhere,
        )
        super().__init__(node, namespace, waits)
        self._runs = self.node.create_publisher(
            BenchRun, self.topics.run, LATCHED_QOS, qos_overriding_options=QOS_OVERRIDES
        )

    @property
    def torque_off(self) -> ArmGoal:
        """The goal that releases the servo."""
        return ArmGoal(torque_enable=False, position=float("nan"))

    def is_wanted(self, configuration: ServoConfiguration) -> bool:
        """Return whether the servo is there; else `servo_states` lack it, too, and that is reported."""
        return self.joint in configuration.name

    def fill(self, goal: ArmGoal) -> ServoCommands:
        """Return a goal as a command, the same message each time."""
        self._command.torque_enabled = [goal.torque_enable]
        self._command.goal_position = [goal.position]
        return self._command

    def announce(self, now_ns: int, run: BenchRun) -> None:
        """Publish what is being run, and copy it into the bag."""
        cdr = serialize_message(run)
        self._runs.publish(cdr)
        if self.sink is not None:
            self.sink(self.topics.run, now_ns, cdr)
