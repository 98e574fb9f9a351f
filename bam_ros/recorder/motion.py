# SPDX-License-Identifier: Apache-2.0
"""Goals of the arm during a run: slowly to the script's start, through the script, slowly back to rest.

Goals follow from the times and states that the caller passes. This module does no input or output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from bam_core.errors import OutOfRange, Unavailable
from bam_core.recordings.trajectories import TrajectoryScript
from bam_ros.recorder.joint_reading import JointReading

STILL_BAND = 0.01
"""Largest distance from one position that counts as still, rad."""
SETTLE_TIMEOUT = 10.0
"""Longest time to come to rest, s; then the run fails, except while the arm swings out."""
TORQUE_TIMEOUT = 1.0
"""Longest time until the servo reports the commanded torque state, s."""
REST = 0.0
"""Position of the arm hanging straight down, rad."""
_MAX_STEP = 0.02  # s of a move per step; after a stall, the goal does not jump


@dataclass(frozen=True, kw_only=True)
class MotionTimes:
    """Times of a motion, s.

    Attributes:
        free: for which torque off is commanded at the beginning; this acknowledges a fault of the driver.
        still: the arm is at rest when it has stayed within STILL_BAND for this long.
        shortest_move: duration of the shortest move.
    """

    free: float = 0.1
    still: float = 0.3
    shortest_move: float = 0.3


_TIMES = MotionTimes()


@dataclass(frozen=True, kw_only=True)
class ArmGoal:
    """Command for the servo.

    Attributes:
        torque_enable: False releases it.
        position: goal, rad; NaN before the first one.
    """

    torque_enable: bool
    position: float


class Phase(Enum):
    """Phases of a motion, with the words for error lines."""

    FREE = "making sure that torque is off"
    APPROACH = "moving to the start"
    SETTLE = "coming to rest at the start"
    SCRIPT = "following the script"
    SWING_OUT = "swinging out"
    RETURN = "moving back to rest"
    HANG = "coming to rest"
    RELEASE = "releasing the servo"
    DONE = "done"


class Motion:
    """One run as a sequence of phases; `step` maps time and state to the next goal.

    Goals are continuous from phase to phase, whatever the state.

    Args:
        script: to follow.
        approach_speed: peak speed on the way to the start and back, rad/s.
        position_limit: largest angle, rad.
        error_limit: largest difference between goal and position while torque is on, rad.
        times: before and after the script.
    """

    def __init__(
        self,
        script: TrajectoryScript,
        *,
        approach_speed: float,
        position_limit: float,
        error_limit: float,
        times: MotionTimes = _TIMES,
    ) -> None:
        self._script = script
        self._times = times
        self._speed = approach_speed
        self._position_limit = position_limit
        self._error_limit = error_limit
        goal, _ = script([0.0])
        self._first_goal = float(goal[0])
        self.phase = Phase.FREE
        self.script_start: float | None = None
        """Time of the script's first goal, s; None before it."""
        self.may_start = True
        """False holds the arm at the script's start."""
        self._phase_start: float | None = None
        self._move_from = self._move_to = 0.0
        self._move_time = times.shortest_move
        self._move_elapsed = 0.0  # s of the move so far
        self._last_step: float | None = None
        self._goal = ArmGoal(torque_enable=False, position=math.nan)
        self._still_since = 0.0
        self._still_position = math.inf
        self._torque_wrong_since: float | None = None
        self._on_since = math.inf  # s, time of the last command from torque off to on
        self._torque_was_on = False  # whether the servo has reported torque on since that command
        self.released_at: float | None = None
        """Time at which the driver was seen to have released the servo by itself, s; None: never."""
        self._min_delay = math.inf  # s, smallest age of a state so far, including the offset of the clocks

    def step(self, now: float, state: JointReading) -> ArmGoal:
        """Return the goal to send now.

        Args:
            now: time, s; must not decrease.
            state: the newest one of the servo.

        Raises:
            OutOfRange: the position is not finite or beyond a limit.
            Unavailable: the arm does not come to rest, or torque is not as commanded.
        """
        if self._phase_start is None:
            self._phase_start = now
        self._move_elapsed += min(now - (now if self._last_step is None else self._last_step), _MAX_STEP)
        self._last_step = now
        self._min_delay = min(self._min_delay, now - state.time)
        self._update_stillness(now, state)
        self._update_torque_was_on(state)
        if self._driver_released(state):
            self.released_at = now
            self._enter_phase(now, Phase.SWING_OUT)
        self._advance(now, state)
        before, self._goal = self._goal, self._next_goal(now)
        if self._goal.torque_enable != before.torque_enable:
            self._on_since, self._torque_was_on = now, False
        self._check(now, state)
        return self._goal

    def cut_short(self, now: float) -> None:
        """End the script early, at time `now` in s, and move back to rest."""
        self._leave_script(now)

    def script_time(self, now: float) -> float:
        """Return the time since the start of the script, s: 0 before it, the duration after it."""
        if self.script_start is None:
            return 0.0
        return min(max(now - self.script_start, 0.0), self._script.duration)

    def waits_at_start(self, now: float) -> bool:
        """Return whether the arm is at rest at the script's start; `now` in s."""
        return self.phase is Phase.SETTLE and now - self._still_since >= self._times.still

    def _advance(self, now: float, state: JointReading) -> None:
        """Enter the next phase if the present one is over."""
        elapsed = now - (self._phase_start or 0.0)
        phase = self.phase
        if phase is Phase.FREE and elapsed >= self._times.free and not state.torque_enabled:
            self._start_move(now, Phase.APPROACH, state.position, self._first_goal)
        elif phase is Phase.APPROACH and self._move_elapsed >= self._move_time:
            self._enter_phase(now, Phase.SETTLE)
        elif phase is Phase.SETTLE and self._is_at_rest(now) and self.may_start:
            self._enter_phase(now, Phase.SCRIPT)
            self.script_start = now
        elif phase is Phase.SCRIPT and state.time - (self.script_start or 0.0) >= self._script.duration:
            self._leave_script(now)
        elif phase is Phase.SWING_OUT and self._is_at_rest(now):
            if self.released_at is None:
                self._start_move(now, Phase.RETURN, state.position, REST)
            else:
                self._enter_phase(now, Phase.RELEASE)
        elif phase is Phase.RETURN and self._move_elapsed >= self._move_time:
            self._enter_phase(now, Phase.HANG)
        elif phase is Phase.HANG and self._is_at_rest(now):
            self._enter_phase(now, Phase.RELEASE)
        elif phase is Phase.RELEASE and not state.torque_enabled:
            self._enter_phase(now, Phase.DONE)

    def _leave_script(self, now: float) -> None:
        if self._goal.torque_enable:
            self._start_move(now, Phase.RETURN, self._goal.position, REST)
        else:
            self._enter_phase(now, Phase.SWING_OUT)

    def _is_after_torque_on(self, state: JointReading) -> bool:
        """Return whether torque is commanded on, and a state was measured after that command."""
        return self._goal.torque_enable and state.time + self._min_delay >= self._on_since

    def _update_torque_was_on(self, state: JointReading) -> None:
        self._torque_was_on = self._torque_was_on or (
            self._is_after_torque_on(state) and state.torque_enabled
        )

    def _driver_released(self, state: JointReading) -> bool:
        """Return whether the driver has turned torque off by itself, while it is commanded on.

        The driver may be ready again already. It would then apply the next goal, from the arm's new position.
        """
        return self._torque_was_on and self._is_after_torque_on(state) and not state.torque_enabled

    def _enter_phase(self, now: float, phase: Phase) -> None:
        self.phase = phase
        self._phase_start = self._still_since = now

    def _start_move(self, now: float, phase: Phase, start: float, end: float) -> None:
        self._enter_phase(now, phase)
        self._move_from, self._move_to, self._move_elapsed = start, end, 0.0
        # A cubic with zero end slopes peaks at 1.5 times its mean speed.
        self._move_time = max(1.5 * abs(end - start) / self._speed, self._times.shortest_move)

    def _next_goal(self, now: float) -> ArmGoal:
        if self.phase in (Phase.APPROACH, Phase.SETTLE, Phase.RETURN, Phase.HANG):
            moving = self.phase in (Phase.APPROACH, Phase.RETURN)
            s = min(self._move_elapsed / self._move_time, 1.0) if moving else 1.0
            way = (self._move_to - self._move_from) * s * s * (3.0 - 2.0 * s)
            return ArmGoal(torque_enable=True, position=self._move_from + way)
        if self.phase is Phase.SCRIPT:
            goal, torque = self._script([self.script_time(now)])
            return ArmGoal(torque_enable=bool(torque[0]), position=float(goal[0]))
        return ArmGoal(torque_enable=False, position=self._goal.position)

    def _update_stillness(self, now: float, state: JointReading) -> None:
        if not abs(state.position - self._still_position) <= STILL_BAND:
            self._still_position, self._still_since = state.position, now

    def _is_at_rest(self, now: float) -> bool:
        """Return whether the arm is at rest; after SETTLE_TIMEOUT in SWING_OUT it counts as at rest.

        Raises:
            Unavailable: it still moves after SETTLE_TIMEOUT in another phase.
        """
        if now - self._still_since >= self._times.still:
            return True
        if now - (self._phase_start or 0.0) > SETTLE_TIMEOUT:
            if self.phase is Phase.SWING_OUT:  # friction is low; torque will stop the arm
                return True
            raise Unavailable(
                "arm",
                f"still moves after {SETTLE_TIMEOUT:g} s of {self.phase.value}",
                expected=f"rest within {STILL_BAND:g} rad",
                advice="look for a loose load or a gain too high for it",
            )
        return False

    def _check(self, now: float, state: JointReading) -> None:
        """Raise an error if the arm is out of bounds or torque is not as commanded; see `step`."""
        if not math.isfinite(state.position):
            raise OutOfRange(
                "position of the arm", state.position, "a number, rad", advice="look at the driver's log"
            )
        if self.phase is Phase.SCRIPT and abs(state.position) > self._position_limit:
            raise OutOfRange(
                "position of the arm",
                state.position,
                f"within position_limit {self._position_limit:g} rad",
                printed=f"{state.position:.2f} rad",
                advice="check the load and the zero of the servo, or raise position_limit in the session",
            )
        error = abs(self._goal.position - state.position)
        if self._goal.torque_enable and state.torque_enabled and error > self._error_limit:
            raise OutOfRange(
                "distance of the arm from its goal",
                error,
                f"within error_limit {self._error_limit:g} rad",
                printed=f"{error:.2f} rad",
                advice="free the arm, use a larger gain or a smaller load, or raise error_limit in the"
                " session",
            )
        if self.phase is Phase.DONE or state.torque_enabled == self._goal.torque_enable:
            self._torque_wrong_since = None
        elif self._torque_wrong_since is None:
            self._torque_wrong_since = now
        # The time of measurement counts: on a busy machine, states from before the command may arrive late.
        elif state.time + self._min_delay - self._torque_wrong_since > TORQUE_TIMEOUT:
            wanted = "on" if self._goal.torque_enable else "off"
            raise Unavailable(
                "servo",
                f"torque is not {wanted} {TORQUE_TIMEOUT:g} s after it was commanded so",
                advice="see the driver's log and /diagnostics for the reason",
            )
