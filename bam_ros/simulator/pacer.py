# SPDX-License-Identifier: Apache-2.0
"""How far a simulation shall be by now, on deadlines counted from one anchor so that no error adds up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW = 4.0
"""How long the pacer remembers what it gave up, s."""
CATCH_UP = 0.1
"""Most simulated time that is caught up on at once, s; the rest is skipped."""


class Pacer:
    """Ties simulated time to the wall clock.

    Attributes:
        factor: simulated seconds per second; 0 is as fast as possible.
        lost: simulated time given up so far because the machine was too slow, s.
    """

    def __init__(
        self,
        factor: float,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        wall: Callable[[], int] = time.time_ns,
    ) -> None:
        self.factor = factor
        self.lost = 0.0
        self._losses: deque[tuple[float, float]] = deque(maxlen=10_000)  # when, how much; s
        self._monotonic, self._sleep, self._wall = monotonic, sleep, wall
        self.restart(0.0)

    def restart(self, simulated: float) -> None:
        """Begin anew: the simulation is at this time, s, and shall go on from now."""
        self._anchor = self._monotonic()
        self._anchor_wall = self._wall()
        self._anchor_simulated = simulated

    def wait(self, simulated: float, least: float) -> float:
        """Wait until a simulation at time `simulated` is due for `least` seconds more.

        Returns:
            The simulated time that is due, s.
        """
        if self.factor == 0.0:
            return simulated + least
        early = simulated + least - self._due()
        if early > 0.0:
            self._sleep(early / self.factor)
        due = max(self._due(), simulated + least)
        if due - simulated <= CATCH_UP:
            return due
        self.lost += due - simulated - CATCH_UP
        self._losses.append((self._monotonic(), due - simulated - CATCH_UP))
        self.restart(simulated + CATCH_UP)
        return simulated + CATCH_UP

    def lag(self) -> float:
        """Return the share of simulated time that is given up all the while, 0 to 1.

        A single stall, such as the start of other programs, does not count: 0 unless time was given up in
        the older and in the newer half of the last `WINDOW` seconds.
        """
        now = self._monotonic()
        recent = [(now - when, lost) for when, lost in tuple(self._losses) if now - when < WINDOW]
        if len({age < 0.5 * WINDOW for age, _ in recent}) < 2:
            return 0.0
        return min(sum(lost for _, lost in recent) / (WINDOW * self.factor), 1.0)

    def idle(self, least: float) -> None:
        """Wait while the simulation stands still, for as long as `least` simulated seconds would take, s."""
        self._sleep(least / (self.factor or 1.0))

    def stamp(self, simulated: float) -> int:
        """Return the wall time that belongs to a simulated time, ns since the epoch."""
        return self._anchor_wall + round((simulated - self._anchor_simulated) / (self.factor or 1.0) * 1e9)

    def simulated(self, stamp: int) -> float:
        """Return the simulated time, s, that belongs to a wall time, ns since the epoch."""
        return self._anchor_simulated + (stamp - self._anchor_wall) * 1e-9 * (self.factor or 1.0)

    def _due(self) -> float:
        return self._anchor_simulated + (self._monotonic() - self._anchor) * self.factor
