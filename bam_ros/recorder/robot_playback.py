# SPDX-License-Identifier: Apache-2.0
"""How a robot moves while a motion is played: slowly to its start, through it, slowly back to where it was.

Pure arithmetic on its inputs, like `motion.Motion`: times and states come in, goals go out. All joints
move at once; where anything is wrong the error names it, and whoever plays switches torque off.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, Unavailable
from bam_core.errors.checks import require_positive
from bam_core.robot.motion import RobotMotion
from bam_ros.recorder.joint_reading import JointReading
from bam_ros.recorder.session import PAUSE_LIMIT

FREE_TIME = 0.1
"""Torque off is commanded for this long before anything else, which also acknowledges a driver's fault, s."""
SHORTEST_MOVE = 0.5
"""Even the shortest way takes this long, s."""
_PAST = 500  # goals; half a second of a fast driver
_LONGEST_STEP = 0.05  # s; after a stall a motion goes on where it was instead of leaping


@dataclass(frozen=True, kw_only=True)
class PlaybackLimits:
    """When playing ends.

    Attributes:
        approach_speed: fastest joint on the way to the motion's start and back, rad/s.
        error: largest distance of a joint from its goal, rad.
        hold: s that a robot holds when it is asked to stop, before it is released.
        state_timeout: largest age of a joint's newest state, s. A joint moves unobserved for so long:
            at 1 rad/s in 0.3 s nearly as far as `error`.
        rest: s that a robot rests at the motion's start, and where it ends: longer than it swings.
        torque_timeout: s within which servos shall show the commanded torque state.
        pause: longest time between two states, s, of a motion that counts.
    """

    approach_speed: float = 0.3
    error: float = 0.35
    hold: float = 60.0
    state_timeout: float = 0.3
    rest: float = 1.0
    torque_timeout: float = 1.0
    pause: float = PAUSE_LIMIT

    def __post_init__(self) -> None:
        require_positive("playback", **asdict(self))


@dataclass(frozen=True, kw_only=True)
class RobotGoal:
    """Goals of all servos.

    Attributes:
        torque_enable: False releases them.
        position: joint -> rad.
    """

    torque_enable: bool
    position: Mapping[str, float]


class Stage(Enum):
    """Where playing is."""

    FREE = "making sure that torque is off"
    APPROACH = "moving slowly to the start"
    REST = "resting at the start"
    MOTION = "playing the motion"
    HOLD = "holding where it is"
    END = "resting at the end"
    RETURN = "moving slowly back"
    RELEASE = "releasing the servos"
    DONE = "done"


_MOVING = (Stage.APPROACH, Stage.RETURN)
_WATCHED = (Stage.APPROACH, Stage.REST, Stage.MOTION, Stage.HOLD, Stage.END, Stage.RETURN)


class RobotPlayback:
    """A motion as a sequence of stages; `step` maps time and readings to the next goal.

    Goals are continuous from stage to stage: no jump, whatever the readings.

    Args:
        motion: to play.
        limits: when to end.
    """

    def __init__(self, motion: RobotMotion, limits: PlaybackLimits) -> None:
        self._motion = motion
        self._limits = limits
        self.stage = Stage.FREE
        self.may_start = True
        """False lets the robot rest at the motion's start."""
        self.initial_position: Array | None = None
        """(joints,) rad, where the robot was before torque went on."""
        self._since: float | None = None
        self._last: float | None = None
        self._moved = 0.0  # s of a way, or of the motion, that are done
        self._ends = (np.zeros(0), np.zeros(0))  # of a way
        self._way_time = SHORTEST_MOVE
        self._goal = np.full(len(motion.joints), math.nan)
        self._past: deque[tuple[float, Array]] = deque(maxlen=_PAST)  # goals and when they were told, s
        self._torque_wrong_since: float | None = None

    def step(self, now: float, readings: Mapping[str, JointReading]) -> RobotGoal:
        """Return the goal to send now.

        Args:
            now: s; must not go back.
            readings: the newest one of every joint.

        Raises:
            OutOfRange: a joint is too far from its goal, or its position is no number.
            Unavailable: a joint's state is too old, or torque is not as commanded.
        """
        if self._since is None:
            self._since = now
        self._moved += min(now - (now if self._last is None else self._last), _LONGEST_STEP)
        self._last = now
        ordered = [readings[joint] for joint in self._motion.joints]
        self._require_fresh(now, ordered)
        self._advance(now, ordered)
        self._set_goal()
        self._past.append((now, self._goal))
        self._check(now, ordered)
        return RobotGoal(
            torque_enable=self.torque_wanted,
            position=dict(zip(self._motion.joints, map(float, self._goal), strict=True)),
        )

    @property
    def torque_wanted(self) -> bool:
        """Whether the servos shall hold their goals."""
        return self.stage in _WATCHED

    @property
    def elapsed(self) -> float:
        """Seconds into the motion."""
        return min(self._moved, self._motion.duration) if self.stage is Stage.MOTION else 0.0

    def hold(self, now: float) -> None:
        """Stop where the goals are and hold; a robot without torque is left alone."""
        if self.torque_wanted:
            self._enter(now, Stage.HOLD)
        else:
            self._enter(now, Stage.RELEASE)

    def _advance(self, now: float, readings: list[JointReading]) -> None:
        """Go to the next stage where the present one is over."""
        elapsed = now - (self._since or 0.0)
        stage = self.stage
        is_free = not any(reading.torque_enabled for reading in readings)
        if stage is Stage.FREE and elapsed >= FREE_TIME and is_free:
            self.initial_position = np.array([reading.position for reading in readings])
            self._go(now, Stage.APPROACH, self.initial_position, self._motion.goal_position[0])
        elif stage is Stage.APPROACH and self._moved >= self._way_time:
            self._enter(now, Stage.REST)
        elif stage is Stage.REST and elapsed >= self._limits.rest and self.may_start:
            self._enter(now, Stage.MOTION)
            self._moved = 0.0
        elif stage is Stage.MOTION and self._moved >= self._motion.duration:
            self._enter(now, Stage.END)
        elif stage is Stage.END and elapsed >= self._limits.rest:
            assert self.initial_position is not None
            self._go(now, Stage.RETURN, self._goal, self.initial_position)
        elif (stage is Stage.RETURN and self._moved >= self._way_time + self._limits.rest) or (
            stage is Stage.HOLD and elapsed >= self._limits.hold
        ):
            self._enter(now, Stage.RELEASE)
        elif stage is Stage.RELEASE and is_free:
            self._enter(now, Stage.DONE)

    def _enter(self, now: float, stage: Stage) -> None:
        self.stage, self._since = stage, now

    def _go(self, now: float, stage: Stage, begin: Array, end: Array) -> None:
        self._enter(now, stage)
        self._ends, self._moved = (begin.copy(), end.copy()), 0.0
        # A cubic with zero end slopes peaks at 1.5 times its mean speed.
        farthest = float(np.abs(end - begin).max())
        self._way_time = max(1.5 * farthest / self._limits.approach_speed, SHORTEST_MOVE)

    def _set_goal(self) -> None:
        if self.stage in _MOVING:
            begin, end = self._ends
            share = min(self._moved / self._way_time, 1.0)
            self._goal = begin + share * share * (3.0 - 2.0 * share) * (end - begin)
        elif self.stage is Stage.MOTION:
            self._goal = self._motion.goals_at(self._moved)

    def _goal_at(self, time: float) -> Array:
        """Return (joints,) rad, the goals in force when a state was measured that may come late."""
        for since, goal in reversed(self._past):
            if since <= time:
                return goal
        return self._past[0][1]

    def _require_fresh(self, now: float, readings: list[JointReading]) -> None:
        for joint, reading in zip(self._motion.joints, readings, strict=True):
            if now - reading.time > self._limits.state_timeout and self.torque_wanted:
                raise Unavailable(
                    f"joint '{joint}'",
                    f"no state of it for {now - reading.time:.2f} s",
                    expected=f"one every {self._limits.state_timeout:g} s at least",
                    advice="look at its driver's log and /diagnostics, or raise --state-timeout",
                )
            if not math.isfinite(reading.position):
                raise OutOfRange(
                    f"position of joint '{joint}'",
                    reading.position,
                    "a number, rad",
                    advice="look at its driver's log",
                )

    def _check(self, now: float, readings: list[JointReading]) -> None:
        if self.stage in _WATCHED:
            errors = np.array(
                [abs(self._goal_at(reading.time)[i] - reading.position) for i, reading in enumerate(readings)]
            )
            worst = int(errors.argmax())
            if readings[worst].torque_enabled and errors[worst] > self._limits.error:
                raise OutOfRange(
                    f"distance of joint '{self._motion.joints[worst]}' from its goal",
                    float(errors[worst]),
                    f"at most {self._limits.error:g} rad, --error",
                    printed=f"{errors[worst]:.2f} rad",
                    advice="free the robot, raise the gain, or design a motion with less speed or torque",
                )
        wrong = [reading for reading in readings if reading.torque_enabled != self.torque_wanted]
        if self.stage is Stage.DONE or not wrong:
            self._torque_wrong_since = None
        elif self._torque_wrong_since is None:
            self._torque_wrong_since = now
        # By when it was measured: on a busy machine states of before the command may wait for their turn.
        elif max(reading.time for reading in wrong) - self._torque_wrong_since > self._limits.torque_timeout:
            wanted = "on" if self.torque_wanted else "off"
            names = ", ".join(
                joint
                for joint, reading in zip(self._motion.joints, readings, strict=True)
                if reading.torque_enabled != self.torque_wanted
            )
            raise Unavailable(
                f"servos of {names}",
                f"torque is not {wanted} {self._limits.torque_timeout:g} s after it was commanded so",
                advice="see the driver's log and /diagnostics for the reason",
            )
