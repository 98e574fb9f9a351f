# SPDX-License-Identifier: Apache-2.0
"""How late servos follow, while they do: what `following` finds afterwards, at the price of two sums."""

from __future__ import annotations

import math

from bam_core.arrays import Array

_MEMORY = 2.0  # s; older motion hardly counts
_LEAST = 1e-4  # rad²/s of motion that tells anything


class DelayMeter:
    """The delay d that explains errors best: goal(t) - measured(t) = d·velocity(t), least squares.

    It is the first order of a time shift, and counts all joints together.
    """

    def __init__(self) -> None:
        self._late = self._moved = 0.0

    @property
    def delay(self) -> float:
        """Of the last seconds, s; negative where servos are early, NaN where nothing has moved."""
        return self._late / self._moved if self._moved > _LEAST else math.nan

    def note(self, error: Array, velocity: Array, dt: float) -> None:
        """Count a cycle.

        Args:
            error: goal minus measured position at one moment, (joints,) rad.
            velocity: of the goal at that moment, (joints,) rad/s.
            dt: of the cycle, s.
        """
        kept = math.exp(-dt / _MEMORY)
        self._late = kept * self._late + dt * float(error @ velocity)
        self._moved = kept * self._moved + dt * float(velocity @ velocity)
