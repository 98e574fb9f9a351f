# SPDX-License-Identifier: Apache-2.0
"""Whether a script was measured and commanded without a pause; pure arithmetic on the times that come in."""

from __future__ import annotations

from bam_ros.text.spoiled_runs import Stall

COMMAND_PAUSE = 0.1
"""Longest time between two commands, s; the fastest script moves by a radian meanwhile, which is a jump."""
DROPPED = 1
"""States that may be missing in a run; one that is missing makes a pause of two periods."""
_ENOUGH = 20  # states, after which their period is known
_PERIODS = 3.0  # of states; a pause limit is at least that, so that a slow driver is not always refused


class StallWatch:
    """Pauses between the states of a run, and between the commands that answer them.

    Args:
        pause_limit: longest time between two states, s; for a slow driver, three periods.

    Attributes:
        states: since the start.
        pause: longest time between two of them, s.
    """

    def __init__(self, pause_limit: float) -> None:
        self.states = 0
        self.pause = 0.0
        self._pause_limit = pause_limit
        self._start = self._last_state = self._last_command = self._paused_at = self._command_pause = 0.0

    def start(self, measured: float, answered: float) -> None:
        """Note the last state before the script: when it was measured and answered, s."""
        self.states, self.pause, self._command_pause = 0, 0.0, 0.0
        self._start = self._last_state = measured
        self._last_command = answered

    def state(self, measured: float, answered: float) -> None:
        """Note a state: when it was measured and answered, s."""
        self.states += 1
        if measured - self._last_state > self.pause:
            self.pause, self._paused_at = measured - self._last_state, self._last_state
        self._command_pause = max(self._command_pause, answered - self._last_command)
        self._last_state, self._last_command = measured, answered

    @property
    def stalled(self) -> bool:
        """Whether there was a pause already for which the run has to be recorded again."""
        return self.states >= _ENOUGH and self.pause > self._limit()

    def problem(self, dropped: int) -> Stall | None:
        """Return why the run has to be recorded again; None where it is good.

        Args:
            dropped: states that never arrived.
        """
        limit = self._limit()
        if self.pause > limit:
            return Stall(kind="driver", amount=self.pause, limit=limit, at=self._paused_at - self._start)
        if dropped > DROPPED:
            return Stall(kind="lost_states", amount=dropped, limit=DROPPED)
        limit = max(limit, COMMAND_PAUSE)
        if self._command_pause > limit:
            return Stall(kind="recorder", amount=self._command_pause, limit=limit)
        return None

    def _limit(self) -> float:
        """Return the longest time between two states, s."""
        period = (self._last_state - self._start - self.pause) / max(self.states - 1, 1)
        return max(self._pause_limit, _PERIODS * period)
