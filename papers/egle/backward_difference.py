# SPDX-License-Identifier: Apache-2.0
"""Backward differences, Egle's equation (6.3): his controller used them, an evaluation need not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.whole_body import Scheme


@dataclass(frozen=True)
class BackwardDifference(Scheme):
    """Egle's equation (6.3), applied twice for the second derivative.

    Velocities are half a sample late and accelerations a whole one, against positions and torques.
    Compensated, everything else is made a sample late too; a program that runs beside the robot can still do
    that.

    Attributes:
        compensated: whether.
    """

    compensated: bool = False

    @property
    def before(self) -> int:
        """Two samples."""
        return 2

    @property
    def after(self) -> int:
        """None: it is causal."""
        return 0

    def smooth(self, signal: Array, dt: float) -> Array:
        """Return the signal, a sample late if compensated."""
        return _later(signal, -1) if self.compensated else signal

    def first(self, signal: Array, dt: float) -> Array:
        """Return (y[n] - y[n-1]) / Δt; compensated, its mean with the one before, a sample late."""
        latest = (signal - _later(signal, -1)) / dt
        return 0.5 * (latest + _later(latest, -1)) if self.compensated else latest

    def second(self, signal: Array, dt: float) -> Array:
        """Return (y[n] - 2y[n-1] + y[n-2]) / Δt², a sample late."""
        return (signal - 2.0 * _later(signal, -1) + _later(signal, -2)) / dt**2


def _later(signal: Array, by: int) -> Array:
    """Return y[n + by], the ends repeated."""
    indices = np.clip(np.arange(len(signal)) + by, 0, len(signal) - 1)
    return np.asarray(signal[indices])
