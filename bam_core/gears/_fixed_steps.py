# SPDX-License-Identifier: Apache-2.0
"""The iteration that the paper mentions for `axproj`, compiled, to be compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.gears._pieces import residual_of
from bam_core.gears.internal_force import compiled

Array = NDArray[np.float64]


@compiled
def fixed_steps(
    v: Array,
    A: Array,
    phi: Array,
    P: Array,
    size: float,
    tolerance: float,
    limit: int,
    f: Array,
    w: Array,
    internal: Array,
) -> int:
    """Iterate s := proj(K, s - c·F(s)) from s = 0, with λ := φ + P·[s]·|λ| within (remark 3).

    Args:
        v: (n,) rad/s.
        A: (n, n).
        phi: (n,) N·m.
        P: (n, n), σ_max(P) < 1.
        size: c, s/rad.
        tolerance: residual that ends it, rad/s.
        limit: of iterations.
        f: (n,) N·m, result.
        w: (n,) rad/s, result.
        internal: (n,) N·m, result.

    Returns:
        Iterations made.
    """
    count = len(v)
    s, none, again = np.zeros(count), np.zeros(count), np.empty(count)
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
