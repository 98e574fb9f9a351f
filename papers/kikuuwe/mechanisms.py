# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's figures 1 to 4: the equations of motion of each mechanism, solved as they stand, against (14)."""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.gears import Asymmetry, Gear, leadscrew, spur_gear, worm_gear
from papers.claim import Claim, claim

_ROUNDING = 1e-9


def mechanism_claims(count: int) -> list[Claim]:
    """Compare accelerations of random mechanisms while they slide.

    Args:
        count: of each kind.
    """
    random = np.random.default_rng(1)
    kinds = {
        "fig. 1, (11), carts": _carts,
        "fig. 2, section 3.2, leadscrews": _screws,
        "fig. 3, (15), (17), worm gears": _worms,
        "fig. 4, (18), (21), spur gears": _spurs,
    }
    claims = []
    for name, kind in kinds.items():
        worst = max(kind(random) for _ in range(count))
        claims.append(
            claim(
                "construction",
                f"{name}: largest miss of v̇ by (14), share of its size",
                "0",
                worst,
                worst < _ROUNDING,
                f"the same equations rewritten: below {_ROUNDING:g}, rounding",
            )
        )
    return claims


def _carts(random: np.random.Generator) -> float:
    u, v = random.uniform(0.2, 1.4, 2)
    friction = float(random.uniform(0.0, 0.9)) * min(math.tan(u), math.tan(v))
    sides = Asymmetry(input_side=friction / math.tan(v), output_side=friction / math.tan(u))
    kappa = math.sin(v) / math.sin(u)
    # (11): input and output; factors of λ_t and λ_n.
    rows = (
        (math.cos(u), math.sin(u)),
        (math.cos(v), -math.sin(v)),
    )
    return _difference(random, kappa, friction, sides, rows)


def _screws(random: np.random.Generator) -> float:
    angle, radius = random.uniform(0.05, 1.2), random.uniform(0.002, 0.02)
    friction = random.uniform(0.0, 0.9 * min(math.tan(angle), 1.0 / math.tan(angle)))
    gear = leadscrew(lead_angle=angle, radius=radius, friction=friction)
    # The carts of fig. 1 with r·u for u and π/2 - θ for θ_v.
    rows = (
        (radius * math.cos(angle), radius * math.sin(angle)),
        (math.sin(angle), -math.cos(angle)),
    )
    return _difference(random, gear.reduction, friction, gear.asymmetry, rows)


def _worms(random: np.random.Generator) -> float:
    lead, pressure = random.uniform(0.05, 0.78), random.uniform(0.1, 0.6)
    worm, wheel = random.uniform(0.005, 0.03), random.uniform(0.01, 0.1)
    friction = random.uniform(0.0, 0.9 * math.tan(lead) * math.cos(pressure))
    gear = worm_gear(
        lead_angle=lead, pressure_angle=pressure, worm_radius=worm, gear_radius=wheel, friction=friction
    )
    # (15) with λ_n from the worm to the gear in the direction of motion, and W_f = μ·|λ_n| against it.
    normal = math.cos(pressure)
    rows = (
        (worm * math.cos(lead), worm * normal * math.sin(lead)),
        (wheel * math.sin(lead), -wheel * normal * math.cos(lead)),
    )
    return _difference(random, gear.reduction, friction, gear.asymmetry, rows)


def _spurs(random: np.random.Generator) -> float:
    small, large, angle = random.uniform(0.005, 0.02), random.uniform(0.02, 0.1), random.uniform(0.2, 0.5)
    place = float(random.choice([-1.0, 1.0]) * random.uniform(0.05, 0.3) * small)
    friction = random.uniform(0.0, 0.3)
    gear = spur_gear(
        input_radius=small, output_radius=large, pressure_angle=angle, friction=friction, contact=place
    )
    side = math.copysign(1.0, place)
    # (18): arms of the normal and tangential force about either shaft, in a frame along the line of contact;
    # the teeth slide the other way before the pitch point (22), so that the sign of ξ goes with μ.
    rows = (
        (side * (place + small * math.sin(angle)), small * math.cos(angle)),
        (side * (place - large * math.sin(angle)), -large * math.cos(angle)),
    )
    return _difference(random, gear.reduction, friction, gear.asymmetry, rows)


def _difference(
    random: np.random.Generator,
    kappa: float,
    friction: float,
    sides: Asymmetry,
    rows: tuple[tuple[float, float], tuple[float, float]],
) -> float:
    """Solve m̂·κ·v̇ = f̂_u - a·λ_t - b·λ_n and M·v̇ = -f_v - c·λ_t - d·λ_n with λ_t = μ·|λ_n|·s, and compare.

    Args:
        random: for inertias, torques and the direction of sliding s.
        kappa: κ.
        friction: μ.
        sides: γ_u and γ_v that the paper gives.
        rows: (a, b), (c, d).
    """
    inertia, load_inertia = np.exp(random.normal(size=2))
    inertia /= kappa**2
    drive, load = random.normal(0.0, 10.0, 2)
    drive /= kappa
    direction = float(random.choice([-1.0, 1.0]))
    gear = Gear(asymmetry=sides, input_inertia=kappa**2 * inertia, output_inertia=load_inertia)
    phi = gear.drive(kappa * drive, load)
    size = abs(phi / (1.0 - math.copysign(1.0, phi) * gear.feedback * direction))
    ours = (kappa * drive - load - direction * size) / gear.inertia
    for sign in (1.0, -1.0):  # of λ_n
        (a, b), (c, d) = rows
        slip = friction * sign * direction
        matrix: Array = np.array([[inertia * kappa, b + a * slip], [load_inertia, d + c * slip]])
        acceleration, normal = np.linalg.solve(matrix, np.array([drive, -load]))
        if normal * sign >= 0.0:
            return float(abs(acceleration - ours) / max(abs(ours), 1.0))
    return float("inf")
