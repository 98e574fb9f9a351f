# SPDX-License-Identifier: Apache-2.0
"""How the arm moves during a run: gently to the script's start, through the script, gently back to rest.

Pure arithmetic on what it is told: times come in, goals go out, nothing is read or sent here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from bam_core.errors import OutOfRange, Unavailable
from bam_core.recordings.trajectories import TrajectoryScript
from bam_ros.recorder.joint_reading import JointReading

STILL_TIME = 0.3
"""The arm rests when it has stayed within STILL_BAND for this long, s."""
STILL_BAND = 0.01
"""Width of what counts as staying, rad."""
SETTLE_TIMEOUT = 10.0
"""An arm that has not come to rest after this is not a bench at rest, s."""
TORQUE_TIMEOUT = 1.0
"""The servo shall show the commanded torque state within this, s."""
FREE_TIME = 0.1
"""Torque off is commanded for this long before anything else, which also acknowledges a driver's fault, s."""
SHORTEST_MOVE = 0.3
"""Even the shortest way takes this long, s."""
REST = 0.0
"""Where the arm hangs, rad."""
_LONGEST_STEP = 0.02  # s; after a stall a move goes on where it was instead of leaping


@dataclass(frozen=True, kw_only=True)
class ArmGoal:
    """What the servo is told.

    Attributes:
        torque_enable: False releases it.
        position: rad.
    """

    torque_enable: bool
    position: float


class Phase(Enum):
    """Where a motion is."""

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

    Goals are continuous from phase to phase: no jump, whatever the state.

    Args:
        script: to follow.
        approach_speed: peak speed on the way to the start and back, rad/s.
        position_limit: largest angle, rad.
        error_limit: largest difference between goal and position while torque is on, rad.
    """

    def __init__(
        self, script: TrajectoryScript, *, approach_speed: float, position_limit: float, error_limit: float
    ) -> None:
        self._script = script
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
        self._since: float | None = None
        self._move_from = self._move_to = 0.0
        self._move_time = SHORTEST_MOVE
        self._moved = 0.0  # s of the move that are done
        self._last_step: float | None = None
        self._goal = ArmGoal(torque_enable=False, position=math.nan)
        self._still_since = 0.0
        self._still_at = math.inf
        self._torque_wrong_since: float | None = None
        self._on_since = math.inf  # s, when torque on was commanded that is in force
        self._held = False  # whether torque has been on since then
        self.released_at: float | None = None
        """Time at which torque was found off that had been on and was commanded on, s; None: never."""
        self._delay = math.inf  # s, least one of a state so far, with the difference of the clocks

    def step(self, now: float, state: JointReading) -> ArmGoal:
        """Return the goal to send now.

        Args:
            now: s; must not go back.
            state: the newest one.

        Raises:
            OutOfRange: the arm is out of bounds.
            Unavailable: it never rests, or torque is not as commanded.
        """
        if self._since is None:
            self._since = now
        self._moved += min(now - (now if self._last_step is None else self._last_step), _LONGEST_STEP)
        self._last_step = now
        self._delay = min(self._delay, now - state.time)
        self._watch_stillness(now, state)
        self._note_torque(state)
        if self._was_released(state):
            self.released_at = now
            self._enter(now, Phase.SWING_OUT)
        self._advance(now, state)
        before, self._goal = self._goal, self._next_goal(now)
        if self._goal.torque_enable != before.torque_enable:
            self._on_since, self._held = now, False
        self._check(now, state)
        return self._goal

    def cut_short(self, now: float) -> None:
        """End the script before its time, s: back to rest."""
        self._leave_script(now)

    def script_time(self, now: float) -> float:
        """Seconds into the script, 0 before and its duration after."""
        if self.script_start is None:
            return 0.0
        return min(max(now - self.script_start, 0.0), self._script.duration)

    def waits_at_start(self, now: float) -> bool:
        """Return whether the arm rests at the script's start."""
        return self.phase is Phase.SETTLE and now - self._still_since >= STILL_TIME

    def _advance(self, now: float, state: JointReading) -> None:
        """Go to the next phase where the present one is over."""
        elapsed = now - (self._since or 0.0)
        phase = self.phase
        if phase is Phase.FREE and elapsed >= FREE_TIME and not state.torque_enabled:
            self._move(now, Phase.APPROACH, state.position, self._first_goal)
        elif phase is Phase.APPROACH and self._moved >= self._move_time:
            self._enter(now, Phase.SETTLE)
        elif phase is Phase.SETTLE and self._rests(now) and self.may_start:
            self._enter(now, Phase.SCRIPT)
            self.script_start = now
        elif phase is Phase.SCRIPT and state.time - (self.script_start or 0.0) >= self._script.duration:
            self._leave_script(now)
        elif phase is Phase.SWING_OUT and self._rests(now):
            if self.released_at is None:
                self._move(now, Phase.RETURN, state.position, REST)
            else:
                self._enter(now, Phase.RELEASE)
        elif phase is Phase.RETURN and self._moved >= self._move_time:
            self._enter(now, Phase.HANG)
        elif phase is Phase.HANG and self._rests(now):
            self._enter(now, Phase.RELEASE)
        elif phase is Phase.RELEASE and not state.torque_enabled:
            self._enter(now, Phase.DONE)

    def _leave_script(self, now: float) -> None:
        if self._goal.torque_enable:
            self._move(now, Phase.RETURN, self._goal.position, REST)
        else:
            self._enter(now, Phase.SWING_OUT)

    def _answers_torque_on(self, state: JointReading) -> bool:
        """Return whether a state was measured after torque on was commanded; older ones may still wait."""
        return self._goal.torque_enable and state.time + self._delay >= self._on_since

    def _note_torque(self, state: JointReading) -> None:
        self._held = self._held or (self._answers_torque_on(state) and state.torque_enabled)

    def _was_released(self, state: JointReading) -> bool:
        """Return whether torque is off that was on, though it is commanded on: its driver let go.

        The driver may be ready again, and would then obey the next command, from where the arm is now.
        """
        return self._held and self._answers_torque_on(state) and not state.torque_enabled

    def _enter(self, now: float, phase: Phase) -> None:
        self.phase = phase
        self._since = self._still_since = now

    def _move(self, now: float, phase: Phase, start: float, end: float) -> None:
        self._enter(now, phase)
        self._move_from, self._move_to, self._moved = start, end, 0.0
        # A cubic with zero end slopes peaks at 1.5 times its mean speed.
        self._move_time = max(1.5 * abs(end - start) / self._speed, SHORTEST_MOVE)

    def _next_goal(self, now: float) -> ArmGoal:
        if self.phase in (Phase.APPROACH, Phase.SETTLE, Phase.RETURN, Phase.HANG):
            moving = self.phase in (Phase.APPROACH, Phase.RETURN)
            s = min(self._moved / self._move_time, 1.0) if moving else 1.0
            way = (self._move_to - self._move_from) * s * s * (3.0 - 2.0 * s)
            return ArmGoal(torque_enable=True, position=self._move_from + way)
        if self.phase is Phase.SCRIPT:
            goal, torque = self._script([self.script_time(now)])
            return ArmGoal(torque_enable=bool(torque[0]), position=float(goal[0]))
        return ArmGoal(torque_enable=False, position=self._goal.position)

    def _watch_stillness(self, now: float, state: JointReading) -> None:
        if not abs(state.position - self._still_at) <= STILL_BAND:
            self._still_at, self._still_since = state.position, now

    def _rests(self, now: float) -> bool:
        if now - self._still_since >= STILL_TIME:
            return True
        if now - (self._since or 0.0) > SETTLE_TIMEOUT:
            if self.phase is Phase.SWING_OUT:  # little friction: torque will end it
                return True
            raise Unavailable(
                "arm",
                f"still moves after {SETTLE_TIMEOUT:g} s of {self.phase.value}",
                expected=f"rest within {STILL_BAND:g} rad",
                advice="look for a loose load or a gain too high for it",
            )
        return False

    def _check(self, now: float, state: JointReading) -> None:
        if not math.isfinite(state.position):
            raise OutOfRange(
                "position of the arm", state.position, "a number, rad", advice="look at the driver's log"
            )
        if self.phase is Phase.SCRIPT and abs(state.position) > self._position_limit:
            raise OutOfRange(
                "position of the arm",
                state.position,
                f"within position_limit {self._position_limit:g} rad",
                told=f"{state.position:.2f} rad",
                advice="check the load and the zero of the servo, or raise position_limit in the session",
            )
        error = abs(self._goal.position - state.position)
        if self._goal.torque_enable and state.torque_enabled and error > self._error_limit:
            raise OutOfRange(
                "distance of the arm from its goal",
                error,
                f"within error_limit {self._error_limit:g} rad",
                told=f"{error:.2f} rad",
                advice="free the arm, use a larger gain or a smaller load, or raise error_limit in the"
                " session",
            )
        if self.phase is Phase.DONE or state.torque_enabled == self._goal.torque_enable:
            self._torque_wrong_since = None
        elif self._torque_wrong_since is None:
            self._torque_wrong_since = now
        # By when it was measured: on a busy machine states of before the command may wait for their turn.
        elif state.time + self._delay - self._torque_wrong_since > TORQUE_TIMEOUT:
            wanted = "on" if self._goal.torque_enable else "off"
            raise Unavailable(
                "servo",
                f"torque is not {wanted} {TORQUE_TIMEOUT:g} s after it was commanded so",
                advice="see the driver's log and /diagnostics for the reason",
            )
