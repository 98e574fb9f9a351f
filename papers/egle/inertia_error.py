# SPDX-License-Identifier: Apache-2.0
"""What a wrong model of the robot's inertia does to the friction found with it (Egle, figures 7.5, 7.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.estimate import FrictionEstimate, estimate_friction
from bam_core.whole_body.power import power_check
from bam_core.whole_body.robot import WholeBody

KINDS = ("both", "mass", "rotation")
"""What of each body is scaled: everything, its mass alone, its moments of inertia alone."""
_BINS = 12


@dataclass(frozen=True, kw_only=True)
class InertiaError:
    """A joint's friction, found with a model that is wrong by a factor.

    Attributes:
        kind: of KINDS.
        factor: modelled over true.
        velocity: of the joint, (n,) rad/s.
        curve: friction as drawn, -τ_f, (n,) N·m.
        shift: mean distance of the curve from that of the right model, N·m.
        separation: mean distance of the branches of rising and falling velocity at the same velocity, N·m.
        driven: share of the energy that the friction puts in, which it cannot (7.9).
    """

    kind: str
    factor: float
    velocity: Array
    curve: Array
    shift: float
    separation: float
    driven: float


def scaled_inertia(robot: WholeBody, kind: str, factor: float) -> WholeBody:
    """Return a robot whose bodies all have inertia scaled by a factor; `kind` is one of KINDS."""
    return robot.with_inertia(
        factor if kind in ("both", "mass") else 1.0, factor if kind in ("both", "rotation") else 1.0
    )


def study_inertia_error(
    robot: WholeBody,
    motion: Motion,
    joint: str,
    wanted: NDArray[np.bool_],
    kind: str,
    factors: tuple[float, ...],
) -> tuple[InertiaError, ...]:
    """Estimate a joint's friction with models that are wrong by each factor.

    Args:
        robot: as it is.
        motion: of its log.
        joint: to look at.
        wanted: (n,) samples.
        kind: of KINDS.
        factors: modelled over true inertia.
    """
    right = estimate_friction(robot, motion, wanted)
    return tuple(
        _error(
            right,
            estimate_friction(scaled_inertia(robot, kind, factor), motion, wanted),
            motion,
            joint,
            kind,
            factor,
        )
        for factor in factors
    )


def _error(
    right: FrictionEstimate, wrong: FrictionEstimate, motion: Motion, joint: str, kind: str, factor: float
) -> InertiaError:
    column = right.column(joint)
    known = np.isfinite(right.torque[:, column])
    velocity, curve = wrong.velocity[known, column], -wrong.torque[known, column]
    rising = motion.acceleration[known, motion.log.names.index(joint)] > 0.0
    check = next(result for result in power_check(wrong) if result.joint == joint)
    return InertiaError(
        kind=kind,
        factor=factor,
        velocity=velocity,
        curve=curve,
        shift=float(np.mean(curve + right.torque[known, column])),
        separation=_separation(velocity, curve, rising),
        driven=check.driven,
    )


def _separation(velocity: Array, curve: Array, rising: NDArray[np.bool_]) -> float:
    """Mean distance of the means of both branches, over bins of velocity that both visit."""
    edges = np.linspace(velocity.min(), velocity.max(), _BINS + 1)
    bins = np.clip(np.digitize(velocity, edges) - 1, 0, _BINS - 1)
    separations = [
        abs(curve[(bins == index) & rising].mean() - curve[(bins == index) & ~rising].mean())
        for index in range(_BINS)
        if np.any((bins == index) & rising) and np.any((bins == index) & ~rising)
    ]
    return float(np.mean(separations)) if separations else 0.0
