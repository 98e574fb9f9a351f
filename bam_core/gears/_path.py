# SPDX-License-Identifier: Apache-2.0
"""The path to a solution of `axproj` where Newton's steps run in circles, compiled."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.gears._pieces import assemble, evaluate, solve
from bam_core.gears.internal_force import compiled

Array = NDArray[np.float64]


@compiled
def follow(
    v: Array, A: Array, phi: Array, P: Array, c: Array, f: Array, w: Array, internal: Array, limit: int
) -> int:
    """Walk to a solution from where all joints stick, as friction that holds them is taken away.

    With enough load-independent friction μ beside c every joint sticks, and nothing else is a solution.
    As μ sinks to zero the solution moves on a line in every piece; at a border one joint changes its piece.
    Where the line turns back μ grows for a while. Solutions are bounded for σ_max(P) < 1 and A positive
    definite, and there is only one at the far end, so the line has to come out at μ = 0 (barring the chance
    that two joints meet their borders at once).

    Args:
        v: (n,) rad/s.
        A: (n, n).
        phi: (n,) N·m.
        P: (n, n).
        c: (n,) N·m.
        f: (n,) N·m, result.
        w: (n,) rad/s, result.
        internal: (n,) N·m, result.
        limit: of pieces.

    Returns:
        Linear systems solved.
    """
    count = len(v)
    slip, side = np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int8)
    matrix, change = np.empty((count, count)), np.empty(count)
    speed, rate, nothing = np.empty(count), np.empty(count), np.zeros(count)
    assemble(v, A, phi, P, c, slip, side, matrix, f)
    if not solve(matrix, f):
        return 1
    evaluate(v, A, phi, P, f, w, internal)
    left = 0.0  # μ
    for i in range(count):
        side[i] = 1 if internal[i] >= 0.0 else -1
        left = max(left, 2.0 * abs(f[i]))
    direction, crossed, kind, towards = -1.0, -1, 0, 0.0
    for done in range(2, limit + 1):
        assemble(v, A, nothing, P, nothing, slip, side, matrix, change)
        for i in range(count):
            change[i] = float(slip[i])
        if not solve(matrix, change):
            return done
        evaluate(nothing, A, nothing, P, change, speed, rate)
        if crossed >= 0:
            along = _border_rate(A, change, speed, rate, side, crossed, kind)
            direction = 1.0 if along * towards > 0.0 else -1.0
        longest = left if direction < 0.0 else math.inf
        next_joint, next_kind, next_towards = -1, 0, 0.0
        for i in range(count):
            for border in range(-1, 2):
                if slip[i] * border < 0 or (i == crossed and border == kind):
                    continue
                grows = direction * _border_rate(A, change, speed, rate, side, i, border)
                if grows * _home(slip[i], side[i], border) >= 0.0:
                    continue
                value = _border_value(A, c, left, f, w, internal, side, i, border)
                reach = max(-value / grows, 0.0)
                if reach < longest:
                    longest, next_joint, next_kind, next_towards = reach, i, border, grows
        if longest == math.inf:
            return done
        for i in range(count):
            f[i] += direction * longest * change[i]
        evaluate(v, A, phi, P, f, w, internal)
        if next_joint < 0:
            return done
        left += direction * longest
        crossed, kind, towards = next_joint, next_kind, next_towards
        if kind == 0:
            side[crossed] = -side[crossed]
        else:
            slip[crossed] = kind if slip[crossed] == 0 else 0
    return limit


@compiled
def _home(slip: int, side: int, border: int) -> float:
    """Return the sign that a border's value has on a piece; borders are +1, -1 (of slip) and 0 (of λ)."""
    if border == 0:
        return float(side)
    return 1.0 if slip == border == 1 or (slip != border and border == -1) else -1.0


@compiled
def _border_value(
    A: Array,
    c: Array,
    left: float,
    f: Array,
    w: Array,
    internal: Array,
    side: NDArray[np.int8],
    i: int,
    border: int,
) -> float:
    """Return λ_i, or how far f_i + w_i/A_ii is above the upper or the lower bound."""
    if border == 0:
        return internal[i]
    return f[i] + w[i] / A[i, i] - border * (side[i] * internal[i] + c[i] + left)


@compiled
def _border_rate(
    A: Array, change: Array, speed: Array, rate: Array, side: NDArray[np.int8], i: int, border: int
) -> float:
    """Return the change of `_border_value` with μ."""
    if border == 0:
        return rate[i]
    return change[i] + speed[i] / A[i, i] - border * (side[i] * rate[i] + 1.0)
