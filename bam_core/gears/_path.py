# SPDX-License-Identifier: Apache-2.0
"""The path to a solution of `axproj` where Newton's steps run in circles, compiled."""

from __future__ import annotations

import math

import numpy as np

from bam_core.compilation import compiled
from bam_core.gears._pieces import (
    Pieces,
    Problem,
    ProblemArrays,
    Solution,
    SolutionArrays,
    assemble,
    evaluate,
    solve,
)


@compiled()
def follow(problem: ProblemArrays, solution: SolutionArrays, limit: int) -> int:
    """Walk to a solution from where all joints stick, as friction that holds them is taken away.

    With enough load-independent friction μ beside c every joint sticks, and nothing else is a solution.
    As μ sinks to zero the solution moves on a line in every piece; at a border one joint changes its piece.
    Where the line turns back μ grows for a while. Solutions are bounded for σ_max(P) < 1 and A positive
    definite, and there is only one at the far end, so the line has to come out at μ = 0 (barring the chance
    that two joints meet their borders at once).

    Args:
        problem: as of `Problem`.
        solution: as of `Solution`.
        limit: of pieces.

    Returns:
        Linear systems solved.
    """
    p, s = Problem(*problem), Solution(*solution)
    count = len(p.v)
    pieces = Pieces(np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int8))
    slip, side = pieces.slip, pieces.side
    nothing = np.zeros(count)
    along_path = Problem(nothing, p.A, nothing, p.P, nothing)
    change = Solution(np.empty(count), np.empty(count), np.empty(count))  # per μ
    matrix = np.empty((count, count))
    assemble(p, pieces, matrix, s.f)
    if not solve(matrix, s.f):
        return 1
    evaluate(p, s)
    left = 0.0  # μ
    for i in range(count):
        side[i] = 1 if s.internal[i] >= 0.0 else -1
        left = max(left, 2.0 * abs(s.f[i]))
    direction, crossed, kind, towards = -1.0, -1, 0, 0.0
    for done in range(2, limit + 1):
        assemble(along_path, pieces, matrix, change.f)
        for i in range(count):
            change.f[i] = float(slip[i])
        if not solve(matrix, change.f):
            return done
        evaluate(along_path, change)
        if crossed >= 0:
            along = _border_rate(p, change, side[crossed], crossed, kind)
            direction = 1.0 if along * towards > 0.0 else -1.0
        longest = left if direction < 0.0 else math.inf
        next_joint, next_kind, next_towards = -1, 0, 0.0
        for i in range(count):
            for border in range(-1, 2):
                if slip[i] * border < 0 or (i == crossed and border == kind):
                    continue
                grows = direction * _border_rate(p, change, side[i], i, border)
                if grows * _home(slip[i], side[i], border) >= 0.0:
                    continue
                value = _border_value(p, s, left, side[i], i, border)
                reach = max(-value / grows, 0.0)
                if reach < longest:
                    longest, next_joint, next_kind, next_towards = reach, i, border, grows
        if longest == math.inf:
            return done
        for i in range(count):
            s.f[i] += direction * longest * change.f[i]
        evaluate(p, s)
        if next_joint < 0:
            return done
        left += direction * longest
        crossed, kind, towards = next_joint, next_kind, next_towards
        if kind == 0:
            side[crossed] = -side[crossed]
        else:
            slip[crossed] = kind if slip[crossed] == 0 else 0
    return limit


@compiled()
def _home(slip: int, side: int, border: int) -> float:
    """Return the sign that a border's value has on a piece; borders are +1, -1 (of slip) and 0 (of λ)."""
    if border == 0:
        return float(side)
    return 1.0 if slip == border == 1 or (slip != border and border == -1) else -1.0


@compiled()
def _border_value(p: Problem, s: Solution, left: float, side: int, i: int, border: int) -> float:
    """Return λ_i, or how far f_i + w_i/A_ii is above the upper or the lower bound."""
    if border == 0:
        return s.internal[i]
    return s.f[i] + s.w[i] / p.A[i, i] - border * (side * s.internal[i] + p.c[i] + left)


@compiled()
def _border_rate(p: Problem, change: Solution, side: int, i: int, border: int) -> float:
    """Return the change of `_border_value` with μ."""
    if border == 0:
        return change.internal[i]
    return change.f[i] + change.w[i] / p.A[i, i] - border * (side * change.internal[i] + 1.0)
