# SPDX-License-Identifier: Apache-2.0
"""From commands of clients to goals of servos that never jump."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.joint_limits import Range
from bam_ros.driver.servo_bus import ServoGoal, ServoSample
from bam_ros.driver.setpoint_limits import JointMotion, limited_setpoint

_POSITION = CommandKind.POSITION
_LONGEST_STEP = 0.02  # s; a step up to this length is never treated as a stall
_RECENT = 5  # periods that are remembered; at least one of them is assumed to be normal


@dataclass(frozen=True, kw_only=True)
class JointCommand:
    """What a client asks of one joint.

    Attributes:
        torque_enable: whether the servo shall hold its goal.
        position: goal, rad; NaN: the goal in force, or where the servo is when torque goes on.
        setpoint: velocity, current or duty of a joint that is commanded by one, rad/s, A or 1; NaN: 0.
    """

    torque_enable: bool = False
    position: float = math.nan
    setpoint: float = math.nan


@dataclass(frozen=True, kw_only=True)
class GoalSpeeds:
    """How fast goals may move.

    Attributes:
        torque_on: from torque on until the goal has caught up with the command, rad/s.
        limit: at any time, rad/s.
    """

    torque_on: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class SetpointRules:
    """What joints are commanded by, and what bounds that.

    Attributes:
        kinds: of each joint.
        limits: returns the lowest and highest position of each, rad.
        largest: returns the largest set-point of each, rad/s, A or 1.
    """

    kinds: Sequence[CommandKind]
    limits: Callable[[], Sequence[Range]]
    largest: Callable[[], Sequence[float]]


class GoalShaper:
    """Turns commands into goals that never jump.

    When torque goes on the goal is where the servo is. From there it moves towards the commanded position at
    `GoalSpeeds.torque_on`. Once it has caught up it follows, never faster than `GoalSpeeds.limit`.

    Velocities, currents and duties begin at 0 when torque goes on; see `limited_setpoint`.

    Args:
        servos: how many there are.
        speeds: of the goals.
        setpoints: what joints are commanded by, and within which limits; None: all by position.

    Attributes:
        speeds: see above; they may change.
    """

    def __init__(self, servos: int, speeds: GoalSpeeds, setpoints: SetpointRules | None = None) -> None:
        self.speeds = speeds
        self._rules = setpoints
        kinds = setpoints.kinds if setpoints is not None else ()
        self._by_setpoint = {index: kind for index, kind in enumerate(kinds) if kind is not _POSITION}
        self._goal: list[float | None] = [None] * servos  # position or set-point; None: released
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
            if not command.torque_enable:
                self._goal[index] = None
            elif index in self._by_setpoint:
                self._goal[index] = self._setpoint(index, command.setpoint, sample)
            else:
                self._goal[index] = self._next(index, command.position, sample, time)
        torque = tuple(goal is not None for goal in self._goal)
        goals = tuple(math.nan if goal is None else goal for goal in self._goal)
        by_setpoint = self._by_setpoint
        if not by_setpoint:
            return ServoGoal(torque_enable=torque, position=goals)
        return ServoGoal(
            torque_enable=torque,
            position=tuple(math.nan if index in by_setpoint else goal for index, goal in enumerate(goals)),
            setpoint=tuple(goal if index in by_setpoint else math.nan for index, goal in enumerate(goals)),
        )

    def _setpoint(self, index: int, wanted: float, sample: ServoSample | None) -> float | None:
        """Return the set-point of a joint; None: it stays released, for it is not known where it is."""
        if sample is None or not math.isfinite(sample.position[index]):
            return self._goal[index]
        if self._goal[index] is None:
            return 0.0
        assert self._rules is not None
        return limited_setpoint(
            self._by_setpoint[index],
            wanted,
            JointMotion(position=sample.position[index], velocity=sample.velocity[index]),
            limits=self._rules.limits()[index],
            largest=self._rules.largest()[index],
            speed=self.speeds.limit,
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
