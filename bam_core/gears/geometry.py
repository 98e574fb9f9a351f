# SPDX-License-Identifier: Apache-2.0
"""Leadscrews, worm gears, spur gears: reduction and asymmetry that follow from shape (Kikuuwe 3.2-3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.servo.asymmetry import Asymmetry


@dataclass(frozen=True, kw_only=True)
class Transmission:
    """What is known of a gear by its shape alone.

    Attributes:
        reduction: κ = u/v, input velocity per output velocity; of a leadscrew in rad/m.
        asymmetry: γ_u and γ_v.
    """

    reduction: float
    asymmetry: Asymmetry

    def reflected_inertia(self, inertia: float) -> float:
        """Return m = κ²·m̂ for an inertia m̂ on the input side, kg·m² (of a leadscrew m in kg)."""
        return self.reduction**2 * inertia

    def reflected_torque(self, torque: float) -> float:
        """Return f_u = κ·f̂_u for a torque f̂_u on the input side, N·m (of a leadscrew f_u in N)."""
        return self.reduction * torque


def leadscrew(*, lead_angle: float, radius: float, friction: float) -> Transmission:
    """Return the transmission from a screw's angle to its slider's travel (3.2).

    Args:
        lead_angle: θ, rad, between 0 and π/2.
        radius: r, m.
        friction: μ, dimensionless.

    Raises:
        BamError: a value is out of range.
    """
    _require_angle("leadscrew lead_angle", lead_angle)
    require_positive("leadscrew", radius=radius)
    require_not_negative("leadscrew", friction=friction)
    slope = math.tan(lead_angle)
    return Transmission(
        reduction=1.0 / (radius * slope),
        asymmetry=Asymmetry(input_side=friction * slope, output_side=friction / slope),
    )


def worm_gear(
    *, lead_angle: float, pressure_angle: float, worm_radius: float, gear_radius: float, friction: float
) -> Transmission:
    """Return the transmission from a worm to its gear (17).

    Args:
        lead_angle: λ_l of the worm, rad, between 0 and π/2.
        pressure_angle: φ_n, normal to the tooth, rad, from 0 to below π/2.
        worm_radius: pitch radius ℓ_w, m.
        gear_radius: pitch radius ℓ_g, m.
        friction: μ, dimensionless.

    Raises:
        BamError: a value is out of range.
    """
    _require_angle("worm gear lead_angle", lead_angle)
    _require_angle("worm gear pressure_angle", pressure_angle, zero=True)
    require_positive("worm gear", worm_radius=worm_radius, gear_radius=gear_radius)
    require_not_negative("worm gear", friction=friction)
    slope, steeper = math.tan(lead_angle), friction / math.cos(pressure_angle)
    return Transmission(
        reduction=gear_radius / (worm_radius * slope),
        asymmetry=Asymmetry(input_side=steeper * slope, output_side=steeper / slope),
    )


def spur_gear(
    *,
    input_radius: float,
    output_radius: float,
    pressure_angle: float,
    friction: float,
    contact: float | tuple[float, float],
) -> Transmission:
    """Return the transmission of a pair of spur gears that touch in one point (21), or its mean over a cycle.

    Args:
        input_radius: pitch radius R_u, m.
        output_radius: pitch radius R_v, m.
        pressure_angle: α, rad, from 0 to below π/2.
        friction: μ, dimensionless.
        contact: ξ, m, along the line of action from the pitch point: below zero before the pitch point, above
            zero past it, for a pair that is driven forwards. Or where contact begins and ends, (first, last):
            then the coefficients are their mean over ξ.

    Raises:
        BamError: a value is out of range.
    """
    _require_angle("spur gear pressure_angle", pressure_angle, zero=True)
    require_positive("spur gear", input_radius=input_radius, output_radius=output_radius)
    require_not_negative("spur gear", friction=friction)
    first, last = _ends(contact, max(input_radius, output_radius))
    side, distance = _means(first, last)
    wedge = friction * side * math.tan(pressure_angle)
    lever = friction * distance / math.cos(pressure_angle)
    return Transmission(
        reduction=output_radius / input_radius,
        asymmetry=Asymmetry(
            input_side=lever / output_radius - wedge, output_side=lever / input_radius + wedge
        ),
    )


def _ends(contact: float | tuple[float, float], radius: float) -> tuple[float, float]:
    """Return where contact begins and ends."""
    ends = contact if isinstance(contact, tuple) else (contact, contact)
    numbers = len(ends) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in ends)
    if not (numbers and ends[0] <= ends[1]):
        raise OutOfRange(
            "spur gear contact", contact, "ξ in m, or (first, last) with first <= last", printed=repr(contact)
        )
    if max(abs(ends[0]), abs(ends[1])) > radius:
        raise OutOfRange(
            "spur gear contact",
            contact,
            "near the pitch point",
            printed=f"{contact!r} m, beyond the larger wheel of {radius:g} m",
        )
    return ends


def _means(first: float, last: float) -> tuple[float, float]:
    """Return the means of sgn ξ and of |ξ| over a stretch."""
    length = last - first
    if length == 0.0:
        return (math.copysign(1.0, first) if first != 0.0 else 0.0), abs(first)
    return (abs(last) - abs(first)) / length, 0.5 * (last * abs(last) - first * abs(first)) / length


def _require_angle(what: str, value: float, *, zero: bool = False) -> None:
    number = isinstance(value, Real) and math.isfinite(value)
    if not (number and (value > 0.0 or (zero and value == 0.0)) and value < 0.5 * math.pi):
        low = "0" if zero else "above 0"
        degrees = f" ({value:g}° are {math.radians(value):.3g} rad)" if number and value > 0.0 else ""
        raise OutOfRange(
            what, value, f"{low} to below π/2", printed=f"{value!r} rad", advice=f"correct it{degrees}"
        )
