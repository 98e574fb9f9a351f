# SPDX-License-Identifier: Apache-2.0
"""What the master refuses: goals out of range, goals that jump, a joint that does not follow its goals.

The node shapes and checks goals itself. The process that drives checks them again, so that a node
whose loop fails cannot turn a joint further or faster than its user allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_ros.driver.joint_limits import HALF_TURN, OFF_LIMITS
from bam_ros.erob.messages import AxisGoal
from bam_ros.text.goal_faults import GoalJumped, GoalOutsideLimits
from bam_ros.text.torque_reasons import JointNotFollowing, TorqueReason

_HELD_OFF_LIMITS = OFF_LIMITS + 0.01
"""Angle beyond its limits at which a joint may hold, rad: an arm moves a little while it is switched on."""
_UNEVEN = 0.1  # s; goals that were due at even times arrive that much too early or too late
_FOLLOWING_TIME = 1.0  # s; the node's own check acts after half of it and reports the same fault


@dataclass(frozen=True, kw_only=True)
class GoalLimits:
    """What goals of one joint may be.

    Attributes:
        low: lowest goal, rad.
        high: highest goal, rad.
        speed: fastest that goals move, rad/s.
        following_error: largest distance between position and goal that may last 1 s, rad; 0: not checked.
    """

    low: float = HALF_TURN[0]
    high: float = HALF_TURN[1]
    speed: float = 20.0
    following_error: float = 2.0


class GoalGuard:
    """Checks the goals of one joint, and how it follows them.

    Args:
        name: of the joint.
        limits: see there.
        period: of the cycle, s.

    Attributes:
        behind: for how many cycles the following error has been too large.
        max_behind: for how many cycles in a row it may be.
    """

    def __init__(self, name: str, limits: GoalLimits, period: float) -> None:
        self._name, self._limits = name, limits
        self.max_behind = round(_FOLLOWING_TIME / period)
        self.behind = 0
        self._error = limits.following_error or math.inf  # rad
        self._goal = math.nan  # rad; NaN: torque is not wanted
        self._when = 0.0  # s; when that goal came
        self._credit = _UNEVEN  # s of motion at full speed that the next goal may make

    def take(self, goal: AxisGoal, position: float, now: float) -> TorqueReason | None:
        """Take a goal that has arrived; return why it must not be followed, None where it may.

        Args:
            goal: of the joint.
            position: measured, rad; NaN where it is not known.
            now: s, on any clock that does not go back.
        """
        if not goal.enable:
            self._goal = math.nan
            return None
        if math.isnan(goal.position):
            return None
        limits = self._limits
        if not limits.low - _HELD_OFF_LIMITS <= goal.position <= limits.high + _HELD_OFF_LIMITS:
            return GoalOutsideLimits(joint=self._name, goal=goal.position, low=limits.low, high=limits.high)
        if math.isnan(self._goal):
            self._goal = goal.position if math.isnan(position) else position
            self._when, self._credit = now, _UNEVEN
        step, elapsed = abs(goal.position - self._goal), now - self._when
        self._goal, self._when = goal.position, now
        self._credit = min(self._credit, _UNEVEN) + elapsed - step / limits.speed
        if self._credit < 0.0:
            return GoalJumped(joint=self._name, goal=goal.position, step=step, speed=limits.speed)
        return None

    def note(self, error: float) -> None:
        """Note the distance of a driven joint from its goal in this cycle, rad."""
        self.behind = self.behind + 1 if error > self._error else 0

    def complaint(self, error: float) -> JointNotFollowing:
        """Return that the joint does not follow, with its distance from the goal, rad."""
        return JointNotFollowing(
            joint=self._name,
            distance=error,
            limit=self._limits.following_error,
            duration=_FOLLOWING_TIME,
        )
