# SPDX-License-Identifier: Apache-2.0
"""`~/joint_trajectory`: trajectories as messages, executed as goals of the action with default tolerances.

Scripts and `ros2 topic pub` send them so to the joint_trajectory_controller of ros2_control.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bam_core.errors import printable_line
from bam_ros.driver.trajectory_action import trajectory_of
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.driver.trajectory_goal import Ending, Outcome
from bam_ros.text.driver_notices import CommandIgnored

TOPIC = "~/joint_trajectory"


class TrajectoryTopic:
    """Starts a trajectory with each message; one without points stops those of all messages before.

    Args:
        follower: returns the one in use; None while the node is not active.
        warn: called with one line where a trajectory is not followed to its end.
    """

    def __init__(
        self, follower: Callable[[], TrajectoryFollower | None], warn: Callable[[str], None]
    ) -> None:
        self._follower, self._warn = follower, warn
        self._stops = 0  # messages without points

    def take(self, message: Any) -> None:
        """Take one `trajectory_msgs/JointTrajectory`."""
        if not len(message.points):
            self._stops += 1
            return
        follower = self._follower()
        if follower is None:
            self._warn(str(CommandIgnored(topic="joint_trajectory")))
            return
        begun = self._stops
        # A stream replaces each message before its end, such as MoveIt Servo's: its points may be in motion.
        goal = replace(trajectory_of(message), ends_at_rest=False)
        follower.start(goal, self._on_done, cancelled=lambda: self._stops > begun)

    def _on_done(self, outcome: Outcome) -> None:
        if outcome.ending is Ending.ABORTED:
            self._warn(printable_line(f"joint_trajectory: aborted, {outcome.text}"))
