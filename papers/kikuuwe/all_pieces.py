# SPDX-License-Identifier: Apache-2.0
"""Every solution of Kikuuwe's (67), by trying all combinations of slip and stick (remark 5)."""

from __future__ import annotations

import itertools

import numpy as np

from bam_core.arrays import Array

_TOLERANCE = 1e-9  # of the largest number at hand: rounding of one linear system


def all_solutions(velocity: Array, mobility: Array, drive: Array, feedback: Array) -> list[Array]:
    """Return all velocities w with w = v - A·f, |f_i| <= |λ_i|, f_i = |λ_i|·sgn(w_i), λ = φ + P·f.

    Each joint sticks, or slips one way or the other with an internal force of one sign or the other: 5ⁿ
    linear systems, so that this is for few joints only. It is here to be compared with `axproj`.

    Args:
        velocity: v, (n,) rad/s.
        mobility: A, (n, n).
        drive: φ, (n,) N·m.
        feedback: P, (n, n).
    """
    count = len(velocity)
    scale_w = float(np.max(np.abs(velocity), initial=0.0) + np.max(np.abs(mobility @ drive), initial=0.0))
    scale_f = float(np.max(np.abs(drive)))
    solutions: list[Array] = []
    for pieces in itertools.product((0, 1, -1, 2, -2), repeat=count):
        # 0: sticks; 1, -1: slips forwards with λ > 0, λ < 0; 2, -2: slips backwards with λ > 0, λ < 0.
        system, right = np.empty((count, count)), np.empty(count)
        for i, piece in enumerate(pieces):
            if piece == 0:
                system[i], right[i] = mobility[i], velocity[i]
            else:
                side = _direction(piece) * np.sign(piece)  # f_i = side·λ_i
                system[i], right[i] = -side * feedback[i], side * drive[i]
                system[i, i] += 1.0
        try:
            f = np.linalg.solve(system, right)
        except np.linalg.LinAlgError:
            continue
        internal, w = drive + feedback @ f, velocity - mobility @ f
        if all(
            abs(f[i]) <= abs(internal[i]) + _TOLERANCE * scale_f
            if piece == 0
            else internal[i] * np.sign(piece) >= 0.0 and w[i] * _direction(piece) > _TOLERANCE * scale_w
            for i, piece in enumerate(pieces)
        ):
            w[np.array(pieces) == 0] = 0.0
            if all(np.max(np.abs(w - other)) > 1e-6 * scale_w for other in solutions):
                solutions.append(w)
    return solutions


def _direction(piece: int) -> int:
    """Return the sign of the joint's velocity."""
    return 1 if abs(piece) == 1 else -1
