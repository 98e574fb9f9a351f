# SPDX-License-Identifier: Apache-2.0
"""The piecewise linear equation behind `axproj` and Newton's steps on it, compiled.

Joint i is on a piece (slip, side): slip is +1 or -1 where it slips, 0 where it sticks; side is the sign of
λ_i. A piece holds as long as f_i + w_i/A_ii is beyond, or within, ±(|λ_i| + c_i).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.gears.internal_force import compiled

Array = NDArray[np.float64]


@compiled
def evaluate(v: Array, A: Array, phi: Array, P: Array, f: Array, w: Array, internal: Array) -> None:
    """Work out velocities w = v - A·f and internal forces λ = φ + P·f."""
    for i in range(len(v)):
        speed, force = v[i], phi[i]
        for j in range(len(v)):
            speed -= A[i, j] * f[j]
            force += P[i, j] * f[j]
        w[i], internal[i] = speed, force


@compiled
def residual_of(A: Array, c: Array, f: Array, w: Array, internal: Array) -> float:
    """Return by how much friction is off its law, rad/s; see `axproj.AxisProjection`."""
    worst = 0.0
    for i in range(len(f)):
        bound = abs(internal[i]) + c[i]
        wanted = min(max(f[i] + w[i] / A[i, i], -bound), bound)
        off = A[i, i] * abs(f[i] - wanted)
        if not off <= worst:  # also where it is not a number
            worst = off
    return worst


@compiled
def classify(
    A: Array, c: Array, f: Array, w: Array, internal: Array, slip: NDArray[np.int8], side: NDArray[np.int8]
) -> bool:
    """Find the pieces; return whether they are what they were."""
    same = True
    for i in range(len(f)):
        bound = abs(internal[i]) + c[i]
        tried = f[i] + w[i] / A[i, i]
        now = 1 if tried > bound else (-1 if tried < -bound else 0)
        sign = 1 if internal[i] >= 0.0 else -1
        if now != slip[i] or (now != 0 and sign != side[i]):
            same = False
        slip[i], side[i] = now, sign
    return same


@compiled
def assemble(
    v: Array,
    A: Array,
    phi: Array,
    P: Array,
    c: Array,
    slip: NDArray[np.int8],
    side: NDArray[np.int8],
    matrix: Array,
    right: Array,
) -> None:
    """Write down the linear equation of the pieces, its rows alike in size: matrix·f = right."""
    count = len(v)
    for i in range(count):
        if slip[i] == 0:
            scale = 1.0 / A[i, i]
            for j in range(count):
                matrix[i, j] = A[i, j] * scale
            right[i] = v[i] * scale
        else:
            sign = float(slip[i] * side[i])
            for j in range(count):
                matrix[i, j] = -sign * P[i, j]
            matrix[i, i] += 1.0
            right[i] = sign * phi[i] + slip[i] * c[i]


@compiled
def solve(matrix: Array, right: Array) -> bool:
    """Solve matrix·x = right in place, by elimination with row pivots; False where it is singular."""
    count = len(right)
    for k in range(count):
        pivot = k
        for i in range(k + 1, count):
            if abs(matrix[i, k]) > abs(matrix[pivot, k]):
                pivot = i
        if not abs(matrix[pivot, k]) > 1e-300:
            return False
        if pivot != k:
            for j in range(k, count):
                matrix[k, j], matrix[pivot, j] = matrix[pivot, j], matrix[k, j]
            right[k], right[pivot] = right[pivot], right[k]
        for i in range(k + 1, count):
            factor = matrix[i, k] / matrix[k, k]
            if factor != 0.0:
                for j in range(k + 1, count):
                    matrix[i, j] -= factor * matrix[k, j]
                right[i] -= factor * right[k]
    for i in range(count - 1, -1, -1):
        total = right[i]
        for j in range(i + 1, count):
            total -= matrix[i, j] * right[j]
        right[i] = total / matrix[i, i]
    return True


@compiled
def newton(
    v: Array, A: Array, phi: Array, P: Array, c: Array, f: Array, w: Array, internal: Array, limit: int
) -> int:
    """Solve piece after piece, from friction torques f, until the pieces stay the same.

    Args:
        v: (n,) rad/s.
        A: (n, n).
        phi: (n,) N·m.
        P: (n, n).
        c: (n,) N·m.
        f: (n,) N·m, start and result.
        w: (n,) rad/s, result; exactly zero where joints stick.
        internal: (n,) N·m, result.
        limit: of linear systems.

    Returns:
        Linear systems solved.
    """
    count = len(v)
    slip, side = np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int8)
    matrix, right = np.empty((count, count)), np.empty(count)
    evaluate(v, A, phi, P, f, w, internal)
    classify(A, c, f, w, internal, slip, side)
    for done in range(1, limit + 1):
        assemble(v, A, phi, P, c, slip, side, matrix, right)
        if not solve(matrix, right):
            return done
        f[:] = right
        evaluate(v, A, phi, P, f, w, internal)
        for i in range(count):
            if slip[i] == 0:
                w[i] = 0.0  # what it is but for rounding
        if classify(A, c, f, w, internal, slip, side):
            return done
    return limit
