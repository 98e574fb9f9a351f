# SPDX-License-Identifier: Apache-2.0
"""From commands of clients to goals of servos that never jump."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from bam_ros.driver.servo_bus import ServoGoal, ServoSample

_LONGEST_STEP = 0.02  # s; a step up to this length is never treated as a stall
_RECENT = 5  # periods that are remembered; at least one of them is assumed to be normal


@dataclass(frozen=True, kw_only=True)
class JointCommand:
    """What a client asks of one joint.

    Attributes:
        torque_enable: whether the servo shall hold its goal.
        position: goal, rad; NaN: the goal in force, or where the servo is when torque goes on.
    """

    torque_enable: bool = False
    position: float = math.nan


@dataclass(frozen=True, kw_only=True)
class GoalSpeeds:
    """How fast goals may move.

    Attributes:
        torque_on: from torque on until the goal has caught up with the command, rad/s.
        limit: at any time, rad/s.
    """

    torque_on: float
    limit: float


class GoalShaper:
    """Turns commands into goals that never jump.

    When torque goes on the goal is where the servo is. From there it moves towards the commanded position at
    `GoalSpeeds.torque_on`. Once it has caught up it follows, never faster than `GoalSpeeds.limit`.

    Args:
        servos: how many there are.
        speeds: of the goals.

    Attributes:
        speeds: see above; they may change.
    """

    def __init__(self, servos: int, speeds: GoalSpeeds) -> None:
        self.speeds = speeds
        self._goal: list[float | None] = [None] * servos  # None: released
        self._caught_up = [False] * servos
        self._periods: deque[float] = deque(maxlen=_RECENT)  # s, of the last calls that let time pass

    @property
    def released(self) -> tuple[bool, ...]:
        """Which servos have no goal, in the order of the bus."""
        return tuple(goal is None for goal in self._goal)

    def reset(self) -> None:
        """Forget every goal: the servos were released by somebody else."""
        self._goal = [None] * len(self._goal)

    def shape(self, commands: Sequence[JointCommand], sample: ServoSample | None, dt: float) -> ServoGoal:
        """Return the next goal.

        Args:
            commands: one per servo, in the order of the bus.
            sample: newest measured state; None while there is none, then nothing is switched on.
            dt: time since the last call, s, on the clock of the bus.
        """
        time = self._step_time(dt)
        for index, command in enumerate(commands):
            self._goal[index] = (
                self._next(index, command.position, sample, time) if command.torque_enable else None
            )
        return ServoGoal(
            torque_enable=tuple(goal is not None for goal in self._goal),
            position=tuple(math.nan if goal is None else goal for goal in self._goal),
        )

    def _step_time(self, dt: float) -> float:
        """Return the time that goals move on for, s.

        It is dt, but at most _LONGEST_STEP or twice the shortest of the last _RECENT periods, whichever is
        larger: goals do not jump after a stall of the loop.
        """
        usual = min(self._periods, default=0.0)
        if dt > 0.0:
            self._periods.append(dt)
        return min(dt, max(_LONGEST_STEP, 2.0 * usual))

    def _next(self, index: int, target: float, sample: ServoSample | None, time: float) -> float | None:
        goal = self._goal[index]
        if goal is None:
            self._caught_up[index] = False
            if sample is None or not math.isfinite(sample.position[index]):
                return None
            return sample.position[index]
        if not math.isfinite(target):
            return goal
        speed = self.speeds.limit if self._caught_up[index] else self.speeds.torque_on
        step = min(speed, self.speeds.limit) * time
        if abs(target - goal) <= step:
            self._caught_up[index] = True
            return target
        return goal + math.copysign(step, target - goal)
