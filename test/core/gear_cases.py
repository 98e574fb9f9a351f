# SPDX-License-Identifier: Apache-2.0
"""The law that projections along axes obey, checked by other means than their solver's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]


def check_inclusion(
    v: Array, A: Array, phi: Array, P: Array, y: Array, friction: Array, extra: float = 0.0
) -> None:
    """Check y ∈ A·Φ(sgn(v - y), φ, P) by (55), (59), (67) alone: find s, then its λ, then A·Φ."""
    w = v - y
    count = len(v)
    bound = np.abs(phi + P @ friction) + extra
    s = np.divide(friction, bound, out=np.zeros(count), where=bound > 0.0)
    assert np.all(np.abs(s) <= 1.0 + 1e-9)
    moving = np.abs(w) > 1e-10
    assert s[moving] == pytest.approx(np.sign(w[moving]), abs=1e-6)
    s[moving] = np.sign(w[moving])
    # λ - P·[s]·(|λ| + c) = φ has one solution; its signs, once guessed right, make it linear.
    signs = np.where(phi + P @ friction >= 0.0, 1.0, -1.0)
    internal = np.linalg.solve(np.eye(count) - P * (s * signs), phi + P @ (s * extra))
    assert np.all(internal * signs >= -1e-9 * np.max(np.abs(phi)))
    assert A @ (s * (np.abs(internal) + extra)) == pytest.approx(y, abs=1e-9)
