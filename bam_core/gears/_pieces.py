# SPDX-License-Identifier: Apache-2.0
"""The piecewise linear equation behind `axproj` and Newton's steps on it, compiled.

Joint i is on a piece (slip, side): slip is +1 or -1 where it slips, 0 where it sticks; side is the sign of
λ_i. A piece holds as long as f_i + w_i/A_ii is beyond, or within, ±(|λ_i| + c_i).

Functions that Python calls are given plain tuples: Numba takes those at once, and has to ask Python about
NamedTuples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.compilation import compiled

Signs = NDArray[np.int8]


class Problem(NamedTuple):
    """What is known of n joints; see `axproj`.

    Attributes:
        v: (n,) rad/s.
        A: (n, n).
        phi: φ, (n,) N·m.
        P: (n, n).
        c: (n,) N·m.
    """

    v: Array
    A: Array
    phi: Array
    P: Array
    c: Array


class Solution(NamedTuple):
    """What is looked for, filled in by who finds it.

    Attributes:
        f: friction torques, (n,) N·m.
        w: velocities, (n,) rad/s; exactly zero where joints stick.
        internal: λ, (n,) N·m.
    """

    f: Array
    w: Array
    internal: Array


class Pieces(NamedTuple):
    """On which piece each joint is, (n,) each."""

    slip: Signs
    side: Signs


ProblemArrays = tuple[Array, Array, Array, Array, Array]
SolutionArrays = tuple[Array, Array, Array]


@compiled()
def evaluate(p: Problem, s: Solution) -> None:
    """Work out velocities w = v - A·f and internal forces λ = φ + P·f."""
    for i in range(len(p.v)):
        speed, force = p.v[i], p.phi[i]
        for j in range(len(p.v)):
            speed -= p.A[i, j] * s.f[j]
            force += p.P[i, j] * s.f[j]
        s.w[i], s.internal[i] = speed, force


@compiled()
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


@compiled()
def classify(p: Problem, s: Solution, pieces: Pieces) -> bool:
    """Find the pieces; return whether they are what they were."""
    same = True
    for i in range(len(s.f)):
        bound = abs(s.internal[i]) + p.c[i]
        tried = s.f[i] + s.w[i] / p.A[i, i]
        now = 1 if tried > bound else (-1 if tried < -bound else 0)
        sign = 1 if s.internal[i] >= 0.0 else -1
        if now != pieces.slip[i] or (now != 0 and sign != pieces.side[i]):
            same = False
        pieces.slip[i], pieces.side[i] = now, sign
    return same


@compiled()
def assemble(p: Problem, pieces: Pieces, matrix: Array, right: Array) -> None:
    """Write down the linear equation of the pieces, its rows alike in size: matrix·f = right."""
    count = len(p.v)
    for i in range(count):
        slip = pieces.slip[i]
        if slip == 0:
            scale = 1.0 / p.A[i, i]
            for j in range(count):
                matrix[i, j] = p.A[i, j] * scale
            right[i] = p.v[i] * scale
        else:
            sign = float(slip * pieces.side[i])
            for j in range(count):
                matrix[i, j] = -sign * p.P[i, j]
            matrix[i, i] += 1.0
            right[i] = sign * p.phi[i] + slip * p.c[i]


@compiled()
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


@compiled()
def newton(problem: ProblemArrays, solution: SolutionArrays, limit: int) -> int:
    """Solve piece after piece, from the friction torques that the solution holds, until pieces stay the same.

    Args:
        problem: as of `Problem`.
        solution: as of `Solution`; start and result.
        limit: of linear systems.

    Returns:
        Linear systems solved.
    """
    p, s = Problem(*problem), Solution(*solution)
    count = len(p.v)
    pieces = Pieces(np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int8))
    matrix, right = np.empty((count, count)), np.empty(count)
    evaluate(p, s)
    classify(p, s, pieces)
    for done in range(1, limit + 1):
        assemble(p, pieces, matrix, right)
        if not solve(matrix, right):
            return done
        s.f[:] = right
        evaluate(p, s)
        for i in range(count):
            if pieces.slip[i] == 0:
                s.w[i] = 0.0  # what it is but for rounding
        if classify(p, s, pieces):
            return done
    return limit
