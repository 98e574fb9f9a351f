# SPDX-License-Identifier: Apache-2.0
"""A trajectory that joints follow: where they are on it, and what violates its tolerances."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bam_core.recordings.joint_path import JointPath
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range
from bam_ros.driver.servo_bus import ServoSample
from bam_ros.driver.trajectory_goal import Outcome, Tolerance, Tolerances

_TORQUE_ON_TIME = 1.0  # s; every driver has switched torque on after this,
_TORQUE_ON_SAMPLES = 20  # and after so many samples: the machine may stand still meanwhile
_GOAL_IN_FORCE = (
    5e-3  # rad; a goal is that of its registers within half a count of the coarsest servo, the XL-320
)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where joints are on their way; tuples are parallel to the joints of the goal.

    Attributes:
        stamp: of the sample, ns.
        time: since the start of the trajectory, s.
        desired: positions, rad.
        desired_velocity: rad/s.
        actual: positions, rad.
        actual_velocity: rad/s.
    """

    stamp: int
    time: float
    desired: tuple[float, ...]
    desired_velocity: tuple[float, ...]
    actual: tuple[float, ...]
    actual_velocity: tuple[float, ...]

    def exceeded(self, tolerances: Sequence[Tolerance]) -> tuple[int, str] | None:
        """Return which joint of the goal exceeds its tolerance, and how in words; None: none does.

        Args:
            tolerances: of each joint.
        """
        for index, tolerance in enumerate(tolerances):
            wrong = tolerance.exceeded(
                self.actual[index] - self.desired[index],
                self.actual_velocity[index] - self.desired_velocity[index],
            )
            if wrong:
                return index, wrong
        return None


@dataclass(kw_only=True, eq=False)
class ActiveTrajectory:
    """A goal that is being followed. Times are s on the clock of the bus.

    Attributes:
        places: of its joints on the bus.
        path: of these joints.
        start: when the path begins.
        began: when the goal was accepted.
        limits: of these joints, rad.
        tolerances: of the goal.
        cancelled: whether the client has cancelled it.
        on_progress: called with reports.
        on_done: called once, with what became of it.
        was_on: joints whose torque has been on.
        samples: seen since it was accepted.
        reported: when progress was reported last.
    """

    places: tuple[int, ...]
    path: JointPath
    start: float
    began: float
    limits: tuple[Range, ...]
    tolerances: Tolerances
    cancelled: Callable[[], bool] = lambda: False
    on_progress: Callable[[Progress], None] = lambda _: None
    on_done: Callable[[Outcome], None] = lambda _: None
    was_on: set[int] = field(default_factory=set)
    samples: int = 0
    reported: float = -math.inf

    def note(self, sample: ServoSample) -> None:
        """Note which joints have torque."""
        self.samples += 1
        self.was_on.update(place for place in self.places if sample.torque_enabled[place])

    def without_torque(self, sample: ServoSample, now: float) -> int | None:
        """Return a joint that lost its torque, or did not get it in time; None where all is well."""
        late = now - self.began > _TORQUE_ON_TIME and self.samples > _TORQUE_ON_SAMPLES
        for place in self.places:
            if not sample.torque_enabled[place] and (place in self.was_on or late):
                return place
        return None

    def progress(self, sample: ServoSample, acquired: float) -> Progress:
        """Return where the joints were when a sample was acquired."""
        time = acquired - self.start
        desired, velocity = self.path.at(time)
        return Progress(
            stamp=sample.stamp,
            time=time,
            desired=desired,
            desired_velocity=velocity,
            actual=tuple(sample.position[place] for place in self.places),
            actual_velocity=tuple(sample.velocity[place] for place in self.places),
        )

    def is_there(self, sample: ServoSample) -> bool:
        """Return whether the goals in force, which a speed limit may hold back, are the last ones."""
        goals = (goal_in_force(sample, place) for place in self.places)
        return len(self.was_on) == len(self.places) and all(
            abs(goal - min(max(last, low), high)) <= _GOAL_IN_FORCE
            for goal, last, (low, high) in zip(goals, self.path.last, self.limits, strict=True)
        )

    def commands(self, positions: Sequence[float]) -> dict[int, JointCommand]:
        """Return the commands of positions, within the limits, by the joint's place on the bus."""
        return {
            place: JointCommand(torque_enable=True, position=min(max(position, low), high))
            for place, position, (low, high) in zip(self.places, positions, self.limits, strict=True)
        }


def goal_in_force(sample: ServoSample, place: int) -> float:
    """Return the goal that a joint has, rad; where it has none, its position."""
    goal = sample.goal_position[place]
    return goal if sample.torque_enabled[place] and math.isfinite(goal) else sample.position[place]
