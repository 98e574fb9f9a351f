# SPDX-License-Identifier: Apache-2.0
"""Projection along axes, the step of many gears that act on each other (Kikuuwe eqs. 67, 71-73).

With f = Φ(s, φ, P) for the friction torques, by (55) λ = φ + P·f whatever s is, and (67) becomes

    w = v - A·f,   |f_i| <= |λ_i| + c_i,   f_i = (|λ_i| + c_i)·sgn(w_i) where w_i != 0,

a piecewise linear equation in f alone; c is load-independent friction. On each piece joints slip this way or
that or stick, and internal forces have their signs: solving it there is a Newton step. When the pieces at
either end of the step are the same, the solution is exact, but for rounding. From the last step's friction
that mostly takes one step or two, independent of the spectrum of A that slows down fixed steps. Where
Newton's steps run in circles, `follow` walks from piece to piece as friction that holds all joints is taken
away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, Unsupported, WrongShape
from bam_core.gears._path import follow
from bam_core.gears._pieces import newton, residual_of

NEWTON_STEPS = 8
"""More than this, and Newton's steps run in circles: few joints change their piece, and nine of ten problems
are solved in three."""

PATH_PIECES = 2000
"""Pieces that the path may cross."""

TOLERANCE = 1e-10
"""Largest residual of a solution, relative to the largest velocity at hand."""


@dataclass(frozen=True, kw_only=True)
class AxisProjection:
    """The solution of (67).

    Attributes:
        projection: y, (n,) rad/s.
        velocity: v - y, (n,) rad/s; exactly zero for joints that stick.
        friction: Φ, (n,) N·m.
        internal_force: λ, (n,) N·m.
        iterations: linear systems solved.
        residual: by how much the friction of any joint is off its law, times its A_ii, rad/s.
    """

    projection: Array
    velocity: Array
    friction: Array
    internal_force: Array
    iterations: int
    residual: float


def axproj(
    velocity: ArrayLike,
    mobility: ArrayLike,
    drive: ArrayLike,
    feedback: ArrayLike,
    *,
    extra: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> AxisProjection:
    """Solve y ∈ A·Φ(sgn(v - y), φ, P) for y.

    Args:
        velocity: v, (n,) rad/s, what the joints would do without friction.
        mobility: A, (n, n), rad/s per N·m of friction: h·([m] + M)⁻¹.
        drive: φ, (n,) N·m, the internal forces that there would be without friction.
        feedback: P, (n, n), what friction adds to internal forces. With σ_max(P) < 1 every friction state has
            one λ (57, lemma 3).
        extra: c, (n,) N·m, zero or more: load-independent friction at hand; default none.
        start: friction torques to start from, (n,) N·m, such as those of the last step.

    Raises:
        BamError: shapes do not match, a value is not finite, or nothing was found that solves (67).
    """
    v = _array("velocity v", velocity)
    count = len(v)
    A, P = _array("mobility A", mobility, (count, count)), _array("feedback P", feedback, (count, count))
    phi = _array("drive φ", drive, (count,))
    c = np.zeros(count) if extra is None else _array("load-independent friction", extra, (count,))
    if c.min(initial=0.0) < 0.0:
        raise OutOfRange("axproj load-independent friction", c.min(), ">= 0", printed=f"{c.min():g}")
    f = np.zeros(count) if start is None else _array("start", start, (count,)).copy()
    w, internal = np.empty(count), np.empty(count)
    problem = v, A, phi, P, c
    tolerance = TOLERANCE * _scale(v, A, phi)
    iterations = newton(problem, (f, w, internal), NEWTON_STEPS)
    residual = residual_of(A, c, f, w, internal)
    if not residual <= 1e-3 * tolerance:
        path_start = np.zeros(count)
        iterations += follow(problem, (path_start, w, internal), PATH_PIECES)
        iterations += newton(problem, (path_start, w, internal), 1)
        by_path = residual_of(A, c, path_start, w, internal)
        if not by_path <= tolerance:
            raise Unsupported(
                "axproj",
                f"no solution of eq. 67 found, off by {by_path:.1e} rad/s",
                expected=f"σ_max(P) < 1, eq. 57; it is {largest_gain(P):.3g}",
                advice="lower γ_u, γ_v or change the inertias",
            )
        f, residual = path_start, by_path
    return AxisProjection(
        projection=v - w,
        velocity=w,
        friction=f,
        internal_force=internal,
        iterations=iterations,
        residual=residual,
    )


def largest_gain(feedback: ArrayLike) -> float:
    """Return σ_max(P); below 1 every friction state has one internal force (57, lemma 3)."""
    return float(np.linalg.norm(np.asarray(feedback, dtype=np.float64), 2))


def _scale(v: Array, A: Array, phi: Array) -> float:
    """Return the largest velocity at hand: v, or what friction alone would bring about."""
    return float(max(np.max(np.abs(v), initial=0.0), np.max(np.diag(A) * np.abs(phi), initial=0.0), 1e-300))


def _array(what: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    array = np.ascontiguousarray(value, dtype=np.float64)
    if (shape is None and array.ndim != 1) or (shape is not None and array.shape != shape):
        expected = "one row" if shape is None else str(shape)
        raise WrongShape(f"axproj {what}, shape", array.shape, f"{expected}, eq. 67")
    if not np.isfinite(array).all():
        raise OutOfRange(f"axproj {what}", array, "finite numbers", printed="not finite everywhere")
    return array
