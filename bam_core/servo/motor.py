# SPDX-License-Identifier: Apache-2.0
"""The DC motor behind a gearbox, driven by a drive/brake H-bridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors.checks import require_not_negative, require_positive

COPPER_COEFFICIENT = 3.93e-3
"""1/K; growth of copper's resistance per kelvin, relative to that at 20 °C."""

REFERENCE_TEMPERATURE = 25.0
"""°C; the temperature of the winding at which it has the resistance that is stated."""

WINDING_COOLING_TIME = 30.0
"""s; in which a winding gives most of its heat to the motor's case. Runs of 6 s hardly determine it."""


@dataclass(frozen=True, kw_only=True)
class DcMotor:
    """Motor constants as seen at the output shaft, so they include the gearbox.

    Attributes:
        torque_constant: k_t, N·m/A (equal to V·s/rad), above zero.
        resistance: R, Ω, above zero.
        armature: J_m, inertia of rotor and gearbox, kg·m², zero or more.
        torque_saturation: s, 1/A, zero or more: the torque of a current I is k_t·I/(1 + s·|I|).
        winding_heating: K/J, zero or more: what one joule of copper loss warms the winding.

    Raises:
        BamError: a value is out of range.
    """

    torque_constant: float
    resistance: float
    armature: float
    torque_saturation: float = 0.0
    winding_heating: float = 0.0

    def __post_init__(self) -> None:
        require_positive("motor", torque_constant=self.torque_constant, resistance=self.resistance)
        require_not_negative(
            "motor",
            armature=self.armature,
            torque_saturation=self.torque_saturation,
            winding_heating=self.winding_heating,
        )

    def current(
        self,
        voltage: ArrayLike,
        velocity: ArrayLike,
        enabled: ArrayLike = True,
        warming: ArrayLike = 0.0,
    ) -> NDArray[np.float64]:
        """Return I = (U - k_t·θ̇)/R, A, in the broadcast shape of the arguments; those are as of `torque`."""
        driving = np.asarray(voltage) - self.torque_constant * np.asarray(velocity)
        return np.asarray(driving / self._warm(warming) * np.asarray(enabled, dtype=np.float64))

    def torque(
        self,
        voltage: ArrayLike,
        velocity: ArrayLike,
        enabled: ArrayLike = True,
        warming: ArrayLike = 0.0,
    ) -> NDArray[np.float64]:
        """Return τ_m = k_t/R·U - k_t²/R·θ̇ (BAM eq. 13, drive/brake), saturated where the motor does.

        With torque off the H-bridge is released: no current flows, so neither drive nor back-EMF acts.

        Args:
            voltage: U across the motor, V.
            velocity: of the output shaft, rad/s.
            enabled: False where torque is off, or the share of the time that it was on, 0..1.
            warming: of the winding above REFERENCE_TEMPERATURE, K.

        Returns:
            N·m at the output shaft, in the broadcast shape of the arguments.
        """
        current = self.current(voltage, velocity, enabled, warming)
        return np.asarray(self.torque_constant * current / (1.0 + self.torque_saturation * np.abs(current)))

    def damping(
        self,
        voltage: ArrayLike,
        velocity: ArrayLike,
        enabled: ArrayLike = True,
        warming: ArrayLike = 0.0,
    ) -> NDArray[np.float64]:
        """Return -∂τ_m/∂θ̇, N·m·s/rad: k_t²/R unless saturated; arguments as of `torque`."""
        current = self.current(voltage, velocity, enabled, warming)
        share = np.asarray(enabled, dtype=np.float64) / (1.0 + self.torque_saturation * np.abs(current)) ** 2
        return np.asarray(self.torque_constant**2 / self._warm(warming) * share)

    def regulating_voltage(
        self,
        current: ArrayLike,
        velocity: ArrayLike,
        supply: ArrayLike = np.inf,
        warming: ArrayLike = 0.0,
    ) -> NDArray[np.float64]:
        """Return the voltage with which electronics bring about a current as far as the supply allows, V.

        It is R·I + k_t·θ̇, within ± supply. A winding that has warmed needs more of it; its torque is the same
        until the supply falls short.

        Args:
            current: demanded, A.
            velocity: of the output shaft, rad/s.
            supply: V.
            warming: of the winding above REFERENCE_TEMPERATURE, K.
        """
        needed = self._warm(warming) * np.asarray(current) + self.torque_constant * np.asarray(velocity)
        limit = np.asarray(supply)
        return np.asarray(np.clip(needed, -limit, limit))

    def warming_rate(
        self, current: ArrayLike, warming: ArrayLike, case: ArrayLike = 0.0
    ) -> NDArray[np.float64]:
        """Return how fast a winding warms, K/s: copper loss comes, a share of the heat goes to the case.

        Args:
            current: A.
            warming: of the winding by now above REFERENCE_TEMPERATURE, K.
            case: the same of the motor's case.
        """
        by_now = np.asarray(warming)
        loss = self._warm(by_now) * np.asarray(current) ** 2
        return np.asarray(self.winding_heating * loss - (by_now - case) / WINDING_COOLING_TIME)

    def _warm(self, warming: ArrayLike) -> NDArray[np.float64]:
        """Return the resistance of a winding that has warmed by so many kelvin, Ω."""
        return np.asarray(self.resistance * (1.0 + COPPER_COEFFICIENT * np.asarray(warming)))
