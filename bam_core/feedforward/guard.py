# SPDX-License-Identifier: Apache-2.0
"""What keeps servos in PWM mode, which hold nothing by themselves, from running away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors.checks import require_positive
from bam_core.feedforward.buffer import Limits


@dataclass(frozen=True, kw_only=True, eq=False)
class Guard:
    """Limits of the servos as they move, beside those that the trajectory keeps.

    Attributes:
        limits: of the trajectory.
        error: distance from the trajectory at which torque shall go off, rad.
        beyond: how far outside its limits a joint may be pushed further out, rad.
        overspeed: how much faster than its limit a joint may be accelerated further, as a ratio.

    Raises:
        BamError: a value is not above zero.
    """

    limits: Limits
    error: float = 0.5
    beyond: float = 0.05
    overspeed: float = 1.25

    def __post_init__(self) -> None:
        require_positive("guard", error=self.error, beyond=self.beyond, overspeed=self.overspeed)

    def allowed(self, duty: Array, position: Array, velocity: Array) -> Array:
        """Return the duty without what leads further out, or further up in speed; no duty brakes.

        Args:
            duty: (joints,) -1..1.
            position: measured, (joints,) rad.
            velocity: measured, (joints,) rad/s.
        """
        limits = self.limits
        outward = (duty > 0.0) & (position > limits.high + self.beyond)
        outward |= (duty < 0.0) & (position < limits.low - self.beyond)
        racing = (np.abs(velocity) > self.overspeed * limits.speed) & (duty * velocity > 0.0)
        return np.where(outward | racing, 0.0, duty)

    def lost(self, error: Array) -> int | None:
        """Return the joint that is too far from the trajectory, or whose place is not known; None: none."""
        diverges = ~(np.abs(error) <= self.error)
        return int(np.argmax(diverges)) if np.any(diverges) else None
