# SPDX-License-Identifier: Apache-2.0
"""The parameters of a joint's friction from estimated torques, by least squares (Egle, eq. 6.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, least_squares

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.whole_body.friction_law import (
    JOINT_FRICTION_PARAMETERS,
    JointFriction,
    friction_curve,
    friction_curve_jacobian,
)

_LOW = np.array([0.0, 0.0, 0.0, 0.01, -np.inf, 1.0])
_HIGH = np.array([np.inf, np.inf, 20.0, 3.0, np.inf, 1000.0])
_STARTS = ((0.1, 20.0), (0.1, 100.0), (0.4, 20.0), (0.4, 100.0))  # v_s rad/s, a s/rad
_FOR_STARTS = 500  # samples, to find out which start is the best
_LEAST_SAMPLES = 20
_MAX_RELATIVE_ERROR = 0.5  # relative standard error from which a parameter counts as not determined
_SMALL = 1e-3  # of the torques' spread: parameters below are as good as zero, and need no relative accuracy


@dataclass(frozen=True, kw_only=True)
class FrictionFit:
    """A joint's friction, and how far to trust it.

    Attributes:
        friction: the law.
        standard_errors: of JOINT_FRICTION_PARAMETERS, (6,), as if errors of samples were independent; they
            are not, so they separate parameters rather than measure how wrong one is. inf: not determined at
            all.
        rms: of what is left, N·m.
        speed: highest in the data, rad/s.
        unidentifiable: parameters that the data hardly determine.
    """

    friction: JointFriction
    standard_errors: Array
    rms: float
    speed: float
    unidentifiable: tuple[str, ...]

    def errors(self, target: JointFriction) -> Array:
        """Return how far each parameter is from a target's, as Egle does: a share of it, (6,)."""
        return np.abs(self.friction.values - target.values) / np.abs(target.values)


def fit_friction(
    joint: str,
    velocity: Array,
    torque: Array,
    wanted: NDArray[np.bool_] | None = None,
) -> FrictionFit:
    """Fit the six parameters.

    Args:
        joint: whose friction it is, for messages.
        velocity: (n,) rad/s.
        torque: that acts on the joint, as `FrictionEstimate.torque`, (n,) N·m; NaN are left out.
        wanted: (n,) samples to fit; all when left out.

    Raises:
        BamError: there are too few samples, or the joint does not move both ways.
    """
    known = np.isfinite(velocity) & np.isfinite(torque) & (True if wanted is None else wanted)
    velocity, drag = velocity[known], -torque[known]
    if len(velocity) < _LEAST_SAMPLES:
        raise BadData(
            f"joint '{joint}'",
            f"{len(velocity)} samples of friction",
            expected=f"{_LEAST_SAMPLES} at least",
            advice="record longer",
        )
    if velocity.max() <= 0.0 or velocity.min() >= 0.0:
        raise BadData(
            f"joint '{joint}'",
            f"moves one way only ({velocity.min():.3f} to {velocity.max():.3f} rad/s), so that its friction "
            "and an offset of its torque are inseparable",
            advice="record motion both ways",
        )
    thin = slice(None, None, max(1, len(velocity) // _FOR_STARTS))
    rough = [_solve(velocity[thin], drag[thin], _begin(velocity, drag, *start)) for start in _STARTS]
    best = _solve(velocity, drag, min(rough, key=lambda result: float(result.cost)).x)
    friction = JointFriction.from_values(best.x)
    errors = _standard_errors(best, len(velocity))
    size = np.maximum(np.abs(best.x), _SMALL * np.ptp(drag) * np.array([1, 1, 0, 0, 1, 0]))
    return FrictionFit(
        friction=friction,
        standard_errors=errors,
        rms=float(np.sqrt(np.mean(best.fun**2))),
        speed=float(np.abs(velocity).max()),
        unidentifiable=tuple(
            name
            for name, error, scale in zip(JOINT_FRICTION_PARAMETERS, errors, size, strict=True)
            if not error < _MAX_RELATIVE_ERROR * scale
        ),
    )


def _begin(velocity: Array, drag: Array, stribeck_velocity: float, slope: float) -> Array:
    design = np.column_stack((velocity, np.tanh(slope * velocity), np.ones_like(velocity)))
    viscous, coulomb, offset = np.linalg.lstsq(design, drag, rcond=None)[0]
    return np.array([max(viscous, 1e-3), max(coulomb, 1e-3), 0.1, stribeck_velocity, offset, slope])


def _solve(velocity: Array, drag: Array, start: Array) -> OptimizeResult:
    return least_squares(
        lambda values: friction_curve(values, velocity) - drag,
        np.clip(start, _LOW + 1e-9, _HIGH - 1e-9),
        jac=lambda values: friction_curve_jacobian(values, velocity),
        bounds=(_LOW, _HIGH),
        x_scale=np.array([0.1, 0.1, 0.1, 0.1, 0.1, 20.0]),
        ftol=1e-12,
        xtol=1e-12,
        gtol=1e-12,
        max_nfev=300,
    )


def _standard_errors(result: OptimizeResult, samples: int) -> Array:
    scale = np.linalg.norm(result.jac, axis=0)
    dead = scale == 0.0
    scale = np.where(dead, 1.0, scale)
    variance = float(result.fun @ result.fun) / max(samples - len(result.x), 1)
    covariance = np.linalg.pinv((result.jac / scale).T @ (result.jac / scale), rcond=1e-14, hermitian=True)
    errors = np.sqrt(variance * np.diag(covariance)) / scale
    return np.asarray(np.where(dead, np.inf, errors))
