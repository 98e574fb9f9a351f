# SPDX-License-Identifier: Apache-2.0
"""From what clients command to what the servos are told: no jump when torque goes on."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_ros.servo_bus import ServoGoal, ServoSample

_LONGEST_STEP = 0.02  # s; after a stall the goal goes on where it was instead of leaping


@dataclass(frozen=True, kw_only=True)
class ServoCommand:
    """The wish in force for every servo. Tuples are parallel to the names of the bus.

    Attributes:
        torque_enable: whether the servo shall hold its goal.
        position: goal, rad; NaN where none was given yet.
        received: when the newest command arrived, s on the monotonic clock.
    """

    torque_enable: tuple[bool, ...]
    position: tuple[float, ...]
    received: float

    @classmethod
    def idle(cls, servos: int) -> ServoCommand:
        """Return the command that is in force before any arrived."""
        return cls(torque_enable=(False,) * servos, position=(math.nan,) * servos, received=-math.inf)


class GoalShaper:
    """Turns commands into goals that never jump.

    When torque goes on the goal is where the servo is. From there it moves towards the commanded position at
    `speed`, and from the moment it has caught up it is the commanded position.

    Attributes:
        speed: rad/s of the goal between torque on and catching up.
    """

    def __init__(self, servos: int, speed: float) -> None:
        self.speed = speed
        self._goal: list[float | None] = [None] * servos  # None: released
        self._following = [False] * servos

    def reset(self) -> None:
        """Forget everything: the servos were released behind the shaper's back."""
        self._goal = [None] * len(self._goal)
        self._following = [False] * len(self._following)

    def shape(self, command: ServoCommand, sample: ServoSample | None, dt: float) -> ServoGoal:
        """Return the next goal.

        Args:
            command: the wish in force.
            sample: newest measured state; None while there is none, then nothing is switched on.
            dt: time since the last call, s.
        """
        for index, wanted in enumerate(command.torque_enable):
            self._goal[index] = self._next(index, command.position[index], sample, dt) if wanted else None
        return ServoGoal(
            torque_enable=tuple(goal is not None for goal in self._goal),
            position=tuple(math.nan if goal is None else goal for goal in self._goal),
        )

    def _next(self, index: int, target: float, sample: ServoSample | None, dt: float) -> float | None:
        goal = self._goal[index]
        if goal is None:
            self._following[index] = False
            if sample is None or not math.isfinite(sample.position[index]):
                return None
            return sample.position[index]
        if not math.isfinite(target):
            return goal
        step = self.speed * min(dt, _LONGEST_STEP)
        if self._following[index] or abs(target - goal) <= step:
            self._following[index] = True
            return target
        return goal + math.copysign(step, target - goal)
