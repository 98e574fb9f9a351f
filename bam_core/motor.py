# SPDX-License-Identifier: Apache-2.0
"""The DC motor behind a gearbox, driven by a drive/brake H-bridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core._checks import require_not_negative, require_positive


@dataclass(frozen=True, kw_only=True)
class DcMotor:
    """Motor constants as seen at the output shaft, so they include the gearbox.

    Attributes:
        torque_constant: k_t, N·m/A (equal to V·s/rad), above zero.
        resistance: R, Ω, above zero.
        armature: J_m, inertia of rotor and gearbox, kg·m², zero or more.

    Raises:
        BamError: a value is out of range.
    """

    torque_constant: float
    resistance: float
    armature: float

    def __post_init__(self) -> None:
        require_positive("motor", torque_constant=self.torque_constant, resistance=self.resistance)
        require_not_negative("motor", armature=self.armature)

    @property
    def back_emf_damping(self) -> float:
        """k_t²/R, N·m·s/rad: braking torque per velocity while torque is on."""
        return self.torque_constant**2 / self.resistance

    def torque(
        self, voltage: ArrayLike, velocity: ArrayLike, enabled: ArrayLike = True
    ) -> NDArray[np.float64]:
        """Return τ_m = k_t/R·U - k_t²/R·θ̇ (BAM eq. 13, drive/brake).

        With torque off the H-bridge is released: no current flows, so neither drive nor back-EMF acts.

        Args:
            voltage: U across the motor, V.
            velocity: of the output shaft, rad/s.
            enabled: False where torque is off, or the share of the time that it was on, 0..1.

        Returns:
            N·m at the output shaft, in the broadcast shape of the arguments.
        """
        gain = self.torque_constant / self.resistance
        torque = gain * (np.asarray(voltage) - self.torque_constant * np.asarray(velocity))
        return np.asarray(torque * np.asarray(enabled, dtype=np.float64))
