# SPDX-License-Identifier: Apache-2.0
"""A gear with inertia on both sides: Kikuuwe's differential-algebraic inclusion (14), its time step (44)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_finite, require_positive
from bam_core.gears.internal_force import friction_range
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.friction import Friction

LOAD_TERMS = (
    "load_motor",
    "load_external",
    "load_motor_stribeck",
    "load_external_stribeck",
    "quadratic_motor",
    "quadratic_external",
)
"""Coefficients of `Friction` that depend on the load."""


@dataclass(frozen=True, kw_only=True)
class GearStep:
    """What a time step led to.

    Attributes:
        velocity: v of the output, rad/s; exactly zero where friction holds.
        friction: torque that opposes the motion, N·m seen at the output.
        internal_force: λ, N·m; its magnitude is the load-dependent friction at hand.
        jammed: the gear is ill-posed, and friction without bound stopped it in this step.
    """

    velocity: float
    friction: float
    internal_force: float
    jammed: bool


@dataclass(frozen=True, kw_only=True)
class Gear:
    """One degree of freedom, all quantities seen at the output.

    Attributes:
        asymmetry: γ_u and γ_v.
        input_inertia: m = κ²·m̂, kg·m², above zero.
        output_inertia: M, kg·m², above zero.
        friction: load-independent friction of the same contact: viscous, Coulomb and Stribeck terms, taken
            at the velocity at which a step begins. The load-dependent terms are the gear's own business.

    Raises:
        BamError: a value is out of range, or the friction has load-dependent terms.
    """

    asymmetry: Asymmetry
    input_inertia: float
    output_inertia: float
    friction: Friction = field(default_factory=Friction)

    def __post_init__(self) -> None:
        require_positive("gear", input_inertia=self.input_inertia, output_inertia=self.output_inertia)
        require_load_independent(self.friction)

    @property
    def inertia(self) -> float:
        """m + M, kg·m²."""
        return self.input_inertia + self.output_inertia

    @property
    def feedback(self) -> float:
        """ρ̂ (29): what a friction torque adds to the internal force, λ = φ + ρ̂·friction."""
        held = self.asymmetry.input_side * self.input_inertia
        return (held - self.asymmetry.output_side * self.output_inertia) / self.inertia

    @property
    def is_well_posed(self) -> bool:
        """Whether |ρ̂| < 1, so that every state has one internal force; else the gear can jam as it moves."""
        return abs(self.feedback) < 1.0

    def drive(self, input_torque: float, output_torque: float) -> float:
        """Return φ (32), the internal force that there would be without friction, N·m."""
        visible = input_torque - output_torque
        sides = self.asymmetry.input_side * input_torque + self.asymmetry.output_side * output_torque
        return sides - self.feedback * visible

    def step(self, velocity: float, input_torque: float, output_torque: float, dt: float) -> GearStep:
        """Advance by one step of implicit Euler (44), with λ_s (35) where the gear is ill-posed.

        Args:
            velocity: v at the start of the step, rad/s.
            input_torque: f_u during the step, N·m.
            output_torque: f_v during the step, N·m, from the gear to its load.
            dt: h, s, above zero.

        Raises:
            BamError: an argument is not finite, or dt is not above zero.
        """
        require_finite("gear step", velocity=velocity, input_torque=input_torque, output_torque=output_torque)
        require_positive("gear step", dt=dt)
        drive = self.drive(input_torque, output_torque)
        extra = float(self.friction.budget(0.0, 0.0, velocity))
        lowest, highest = friction_range(drive, self.feedback, extra)
        momentum_rate = self.inertia / dt * velocity + (input_torque - output_torque)
        friction = min(max(momentum_rate, lowest), highest)
        bound = highest if momentum_rate > 0.0 else lowest
        return GearStep(
            velocity=(momentum_rate - friction) * dt / self.inertia,
            friction=friction,
            internal_force=drive + self.feedback * friction,
            jammed=velocity != 0.0 and math.isinf(bound),
        )


def require_load_independent(friction: Friction) -> None:
    """Raise OutOfRange where a friction law has load-dependent terms, which a gear brings itself."""
    for name in LOAD_TERMS:
        if getattr(friction, name) != 0.0:
            raise OutOfRange(
                f"gear friction {name}",
                getattr(friction, name),
                "0: load-dependent friction is the gear's, eq. 14",
                printed=f"{getattr(friction, name):g}",
                advice="give viscous, coulomb and stribeck terms only",
            )
