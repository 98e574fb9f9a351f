# SPDX-License-Identifier: Apache-2.0
"""The iteration that the paper mentions for `axproj`, to be compared with: remark 3, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.gears._pieces import ProblemArrays, SolutionArrays, residual_of


def fixed_step_axproj(
    velocity: ArrayLike,
    mobility: ArrayLike,
    drive: ArrayLike,
    feedback: ArrayLike,
    *,
    step: float,
    tolerance: float,
    limit: int,
) -> tuple[Array, int]:
    """Solve (67) by the iterations that the paper mentions: s := proj(K, s - c·F(s)), remark 3 within.

    Args:
        velocity: v, (n,) rad/s.
        mobility: A, (n, n).
        drive: φ, (n,) N·m.
        feedback: P, (n, n), with σ_max(P) < 1.
        step: c, relative to 1/(‖A‖·‖φ‖), which has the unit of s per rad/s.
        tolerance: residual at which to stop, rad/s, as of `AxisProjection`.
        limit: of iterations.

    Returns:
        y, (n,) rad/s, and the count of iterations, `limit` where the tolerance was not reached.
    """
    v, A = np.asarray(velocity, dtype=np.float64), np.asarray(mobility, dtype=np.float64)
    phi, P = np.asarray(drive, dtype=np.float64), np.asarray(feedback, dtype=np.float64)
    size = step / max(float(np.linalg.norm(A, 2) * np.linalg.norm(phi)), 1e-300)
    f, w, internal = np.zeros(len(v)), np.empty(len(v)), np.empty(len(v))
    iterations = _fixed_steps((v, A, phi, P, np.zeros(len(v))), (f, w, internal), size, tolerance, limit)
    return v - w, iterations


@compiled()
def _fixed_steps(
    problem: ProblemArrays, solution: SolutionArrays, size: float, tolerance: float, limit: int
) -> int:
    """Iterate s := proj(K, s - c·F(s)) from s = 0, with λ := φ + P·[s]·|λ| within (remark 3).

    Args:
        problem: as of `_pieces.Problem`, without load-independent friction; σ_max(P) < 1.
        solution: as of `_pieces.Solution`.
        size: c, s/rad.
        tolerance: residual that ends it, rad/s.
        limit: of iterations.

    Returns:
        Iterations made.
    """
    v, A, phi, P, none = problem
    f, w, internal = solution
    count = len(v)
    s, again = np.zeros(count), np.empty(count)
    internal[:] = phi
    largest = np.max(np.abs(phi))
    for done in range(1, limit + 1):
        for _ in range(1000):
            change = 0.0
            for i in range(count):
                force = phi[i]
                for j in range(count):
                    force += P[i, j] * s[j] * abs(internal[j])
                again[i] = force
            for i in range(count):
                change = max(change, abs(again[i] - internal[i]))
                internal[i] = again[i]
            if change <= 1e-13 * largest:
                break
        for i in range(count):
            f[i] = s[i] * abs(internal[i])
        for i in range(count):
            speed = v[i]
            for j in range(count):
                speed -= A[i, j] * f[j]
            w[i] = speed
        if residual_of(A, none, f, w, internal) <= tolerance:
            return done
        for i in range(count):
            s[i] = min(max(s[i] + size * w[i], -1.0), 1.0)
    return limit
