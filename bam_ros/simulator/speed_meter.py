# SPDX-License-Identifier: Apache-2.0
"""How fast simulated time really passes."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

SPAN = 2.0
"""Over which the speed is a mean, s of the wall clock."""
_SPACING = 0.05  # s; closer notes tell nothing


class SpeedMeter:
    """Mean of simulated seconds per second over the last `SPAN`. One thread notes, any may read."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._notes: deque[tuple[float, float]] = deque(maxlen=round(SPAN / _SPACING) + 1)

    def note(self, simulated: float) -> None:
        """Note that simulated time, s, has come this far."""
        now = self._monotonic()
        if not self._notes or now - self._notes[-1][0] >= _SPACING:
            self._notes.append((now, simulated))

    @property
    def factor(self) -> float:
        """Measured real-time factor; 0 where the simulation stands still, NaN before it is known."""
        notes = tuple(self._notes)
        recent = [note for note in notes if notes[-1][0] - note[0] <= SPAN]
        if len(recent) < 2:
            return math.nan
        (first, start), (last, end) = recent[0], recent[-1]
        return (end - start) / (last - first)
