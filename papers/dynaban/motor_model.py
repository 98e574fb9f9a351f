# SPDX-License-Identifier: Apache-2.0
"""The servo model of Dynaban: a DC motor (3) and Stribeck friction (4) with δ = 1, in seven parameters."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor


@dataclass(frozen=True, kw_only=True)
class DynabanModel:
    """The seven parameters of Dynaban, section 4, as seen at the output shaft.

    Attributes:
        torque_constant: k_e, V·s/rad (equal to N·m/A), above zero.
        resistance: r, Ω, above zero.
        viscous: k_vis, N·m·s/rad, zero or more.
        static: τ_s, friction at rest, N·m, zero or more.
        coulomb: τ_cc, what it tends to, viscous friction apart, N·m, zero or more.
        stribeck_velocity: ω_lin, rad/s, above zero.
        armature: I_0 of rotor and gearbox, kg·m², above zero.

    Raises:
        BamError: a value is out of range.
    """

    torque_constant: float
    resistance: float
    viscous: float
    static: float
    coulomb: float
    stribeck_velocity: float
    armature: float

    def __post_init__(self) -> None:
        require_positive(
            "Dynaban model",
            torque_constant=self.torque_constant,
            resistance=self.resistance,
            stribeck_velocity=self.stribeck_velocity,
            armature=self.armature,
        )
        require_not_negative("Dynaban model", viscous=self.viscous, static=self.static, coulomb=self.coulomb)

    @property
    def motor(self) -> DcMotor:
        """The motor of eq. (3)."""
        return DcMotor(
            torque_constant=self.torque_constant, resistance=self.resistance, armature=self.armature
        )

    @property
    def friction(self) -> Friction:
        """The same law as M2 with α = 1.

        Raises:
            BamError: friction at rest is the smaller one, which M2 cannot say.
        """
        if self.static < self.coulomb:
            raise OutOfRange(
                "Dynaban model static",
                self.static,
                f"at least coulomb, {self.coulomb:g} N·m, where M2 is to hold it",
                printed=f"{self.static:g} N·m",
                advice="use the model itself",
            )
        return Friction(
            viscous=self.viscous,
            coulomb=self.coulomb,
            stribeck_coulomb=self.static - self.coulomb,
            stribeck_velocity=self.stribeck_velocity,
            stribeck_exponent=1.0,
        )

    def budget(self, velocity: ArrayLike) -> Array:
        """Return |τ_f| of eq. (4), N·m, at velocities in rad/s: k_vis·|ω| + β·τ_s + (1 - β)·τ_cc."""
        speed = np.abs(np.asarray(velocity, dtype=np.float64))
        stribeck_factor = np.exp(-speed / self.stribeck_velocity)
        return np.asarray(
            self.viscous * speed + stribeck_factor * self.static + (1.0 - stribeck_factor) * self.coulomb
        )

    @property
    def law(self) -> FeedForwardLaw:
        """The feed-forward law (1) with this friction (4)."""
        fades = self.static - self.coulomb  # below zero too, which `Friction` would refuse
        return FeedForwardLaw(
            self.motor, (self.viscous, self.coulomb, fades, self.stribeck_velocity, 1.0, *(0.0,) * 6)
        )

    def vector(self) -> Array:
        """Return the parameters in the order of DYNABAN_PARAMETERS, (7,)."""
        return np.array(astuple(self))


DYNABAN_PARAMETERS: tuple[str, ...] = tuple(field.name for field in fields(DynabanModel))
"""k_e, r, k_vis, τ_s, τ_cc, ω_lin, I_0."""
