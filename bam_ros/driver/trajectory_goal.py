# SPDX-License-Identifier: Apache-2.0
"""Goals of `control_msgs/FollowJointTrajectory` without ROS, and their outcomes."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName
from bam_core.recordings.joint_path import PathPoint


class ErrorCode(enum.IntEnum):
    """Of the action's result."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Ending(enum.Enum):
    """How a goal ended."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    REPLACED = "replaced"
    """By a newer goal of one of its joints; clients see it as cancelled, as of other servers."""
    ABORTED = "aborted"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a goal.

    Attributes:
        ending: how it ended.
        code: of the result.
        text: one line; empty where it succeeded.
    """

    ending: Ending
    code: ErrorCode = ErrorCode.SUCCESSFUL
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """How far a joint may be from where it should be; infinite: any distance.

    Attributes:
        position: rad.
        velocity: rad/s.
    """

    position: float = math.inf
    velocity: float = math.inf

    def exceeded(self, position: float, velocity: float) -> str:
        """Return which error exceeds it, in words; empty: none does. A velocity that is not measured is NaN.

        Args:
            position: error, rad.
            velocity: error, rad/s.
        """
        if abs(position) > self.position:
            return f"{abs(position):.3g} rad from it (expected at most {self.position:g})"
        if abs(velocity) > self.velocity:
            return f"{abs(velocity):.3g} rad/s from its velocity (expected at most {self.velocity:g})"
        return ""


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Tolerances of a whole goal.

    Attributes:
        path: of each joint on the way.
        goal: of each joint at the end.
        goal_time: how long after the last point joints may take to be there, s; infinite: any time.
    """

    path: tuple[Tolerance, ...]
    goal: tuple[Tolerance, ...]
    goal_time: float = math.inf


@dataclass(frozen=True, kw_only=True)
class ToleranceRequest:
    """A `JointTolerance` as it arrived: 0 asks for the default, a negative number for none.

    Attributes:
        position: rad.
        velocity: rad/s.
    """

    position: float = 0.0
    velocity: float = 0.0


@dataclass(frozen=True, kw_only=True)
class DefaultTolerances:
    """What counts where a goal has none; 0: any.

    Attributes:
        path: of positions on the way, rad.
        goal: of positions at the end, rad.
        goal_time: s.
    """

    path: float = 0.0
    goal: float = 0.0
    goal_time: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FollowerSettings:
    """How trajectories are followed.

    Attributes:
        default: tolerances.
        timeout: of commands, s.
        acknowledges_faults: whether a new goal ends a fault whose cause has passed.
    """

    default: DefaultTolerances = DefaultTolerances()
    timeout: float = 0.5
    acknowledges_faults: bool = False


@dataclass(frozen=True, kw_only=True)
class TrajectoryGoal:
    """What a client asks for.

    Attributes:
        joints: names of some joints of the bus, in any order.
        points: where they shall be.
        stamp: when it starts, ns on the clock of the samples' stamps; 0: at once.
        path: joint -> tolerance on the way.
        goal: joint -> tolerance at the end.
        goal_time: s after the last point; 0: the default, negative: any.
        ends_at_rest: whether a last point in motion is refused.
    """

    joints: tuple[str, ...]
    points: tuple[PathPoint, ...]
    stamp: int = 0
    path: Mapping[str, ToleranceRequest] = field(default_factory=dict)
    goal: Mapping[str, ToleranceRequest] = field(default_factory=dict)
    goal_time: float = 0.0
    ends_at_rest: bool = True

    def places(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the place of each joint on the bus.

        Args:
            names: of the joints on the bus.

        Raises:
            Missing: it names no joint.
            UnknownName: a joint, or one with a tolerance, is not on the bus.
            Conflict: a joint is named twice, or has a tolerance and no trajectory.
        """
        if not self.joints:
            raise Missing("trajectory joint_names", "at least one joint", advice="name them")
        for name in (*self.joints, *self.path, *self.goal):
            if name not in names:
                raise UnknownName("joint", name, names)
        if len(set(self.joints)) != len(self.joints):
            raise Conflict(
                "trajectory joint_names",
                f"a joint is there twice ({', '.join(self.joints)})",
                advice="name each once",
            )
        for name in (*self.path, *self.goal):
            if name not in self.joints:
                raise Conflict(
                    f"tolerance of joint {name!r}",
                    "is given, but no trajectory of it",
                    advice="leave it out, or add the joint",
                )
        return tuple(names.index(name) for name in self.joints)

    def tolerances(self, default: DefaultTolerances) -> Tolerances:
        """Return what counts, in the order of `joints`.

        Raises:
            OutOfRange: a tolerance is not a number.
        """
        return Tolerances(
            path=tuple(_tolerance(name, self.path.get(name), default.path) for name in self.joints),
            goal=tuple(_tolerance(name, self.goal.get(name), default.goal) for name in self.joints),
            goal_time=_effective("goal_time_tolerance", self.goal_time, default.goal_time),
        )


def _tolerance(name: str, asked: ToleranceRequest | None, default: float) -> Tolerance:
    asked = asked or ToleranceRequest()
    return Tolerance(
        position=_effective(f"position tolerance of joint {name!r}", asked.position, default),
        velocity=_effective(f"velocity tolerance of joint {name!r}", asked.velocity, 0.0),
    )


def _effective(what: str, asked: float, default: float) -> float:
    """Return a tolerance by the rules of control_msgs; a default of 0 is none."""
    if math.isnan(asked):
        raise OutOfRange(what, asked, "a number; 0: the default, negative: none", advice="correct it")
    if asked == 0.0:
        asked = default
    return asked if asked > 0.0 else math.inf
