# SPDX-License-Identifier: Apache-2.0
"""The link to a part of a robot: one driver, of which all joints that a motion moves are commanded."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_bench.msg import ServoCommands, ServoConfiguration
from rclpy.node import Node

from bam_ros.recorder.robot_playback import RobotGoal
from bam_ros.recorder.servo_link import ServoLink
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits


class RobotLink(ServoLink[RobotGoal]):
    """Subscriptions and publishers of a recording on a robot.

    Args:
        node: whose names, clock and context are used.
        wanted: joints of the motion.
        namespace: of the driver, in that of the node; empty: the same.
        waits: for the driver.
    """

    def __init__(
        self, node: Node, wanted: Sequence[str], namespace: str = "", waits: Waits = DEFAULT_WAITS
    ) -> None:
        self._wanted = tuple(wanted)
        self.joints: tuple[str, ...] = ()
        """Those of the motion that this driver has, once it has reported them."""
        super().__init__(node, namespace, waits)

    @property
    def torque_off(self) -> RobotGoal:
        """The goal that releases the servos."""
        return RobotGoal(torque_enable=False, position={})

    def is_wanted(self, configuration: ServoConfiguration) -> bool:
        """Note which joints the driver has; true where the motion moves one of them."""
        self.joints = tuple(joint for joint in self._wanted if joint in configuration.name)
        return bool(self.joints)

    def fill(self, goal: RobotGoal) -> ServoCommands:
        """Return a goal as a command for the joints of this driver."""
        joints = self.joints or self._wanted
        nowhere = [math.nan] * len(joints)
        return ServoCommands(
            name=list(joints),
            torque_enabled=[goal.torque_enable] * len(joints),
            goal_position=[goal.position.get(joint, math.nan) for joint in joints],
            goal_velocity=nowhere,
            goal_current=nowhere,
            goal_duty=nowhere,
        )
