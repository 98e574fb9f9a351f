# SPDX-License-Identifier: Apache-2.0
"""The internal force λ of a gear and the friction that it causes (Kikuuwe eqs. 31-35)."""

from __future__ import annotations

import math

from bam_core.compilation import compiled


def internal_forces(drive: float, feedback: float) -> tuple[float, ...]:
    """Return every λ with λ - ρ·|λ| = φ: the set-valued function λ (31).

    There is one of them where |ρ| < 1, none or two where |ρ| > 1. With φ = 0 and |ρ| = 1 half a line of them
    solves the equation; as in (31), zero stands for them.

    Args:
        drive: φ, N·m.
        feedback: ρ.
    """
    if drive == 0.0:
        return (0.0,)
    if abs(feedback) < 1.0:
        return (drive / (1.0 - math.copysign(1.0, drive) * feedback),)
    if drive * feedback > 0.0:
        return ()
    if abs(feedback) == 1.0:
        return (drive / 2.0,)
    return (drive / (1.0 - feedback), drive / (1.0 + feedback))


@compiled()
def internal_force(drive: float, feedback: float) -> float:
    """Return λ_s (35): λ where there is one; where it jams, ±inf or the branch that hangs together.

    Args:
        drive: φ, N·m.
        feedback: ρ.
    """
    if drive > 0.0:
        return drive / (1.0 - feedback) if feedback < 1.0 else math.inf
    if drive < 0.0:
        return drive / (1.0 + feedback) if feedback > -1.0 else -math.inf
    return 0.0


@compiled()
def friction_torque(side: float, drive: float, feedback: float) -> float:
    """Return Φ (34), the friction torque of a gear, with λ_s for λ.

    Args:
        side: s, -1..1: direction of motion, or how much of the friction there is counts at rest.
        drive: φ, N·m.
        feedback: ρ.
    """
    if side == 0.0:
        return 0.0
    return side * abs(internal_force(drive, feedback * side))


@compiled()
def friction_range(drive: float, feedback: float, extra: float) -> tuple[float, float]:
    """Return [Φ(-1), Φ(1)], the friction torques at hand at rest, with load-independent friction beside.

    Friction c of the same contact enters the visible dynamics (14a) only, so that λ - ρ·s·|λ| = φ + ρ·s·c
    and Φ = s·(|λ| + c); both grow with s as they do without it.

    Args:
        drive: φ, N·m.
        feedback: ρ.
        extra: c, load-independent friction torque at hand, N·m.
    """
    lowest = -abs(internal_force(drive - feedback * extra, -feedback)) - extra
    highest = abs(internal_force(drive + feedback * extra, feedback)) + extra
    return lowest, highest
