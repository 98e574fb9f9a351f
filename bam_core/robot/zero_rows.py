# SPDX-License-Identifier: Apache-2.0
"""Samples in which all joints read 0, between others in which they are elsewhere: nobody measured them.

A second node that publishes joint states may have all joints at 0. Every other sample may be one, so that no
reading is far from those around it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array

_ELSEWHERE = 0.1  # rad
_PUBLISHER = 0.05  # of the samples; fewer are reads that failed, which are far from those around them
_NEAR = 0.5  # s; a robot may have come back from farther away


def zero_rows(time: Array, position: Array) -> NDArray[np.bool_]:
    """Return (n,) which samples are no measurement.

    Args:
        time: (n,) s.
        position: (n, joints) rad; NaN: not recorded.
    """
    zero = np.all(position == 0.0, axis=1)
    others = np.flatnonzero(~zero & np.all(np.isfinite(position), axis=1))
    rows = np.flatnonzero(zero)
    if position.shape[1] < 2 or not len(rows) or not len(others):
        return np.zeros(len(time), dtype=bool)
    path = np.stack([np.interp(time[rows], time[others], column[others]) for column in position.T], axis=1)
    after = np.searchsorted(others, rows)
    distances = [
        np.abs(time[rows] - time[others[np.clip(index, 0, len(others) - 1)]]) for index in (after - 1, after)
    ]
    false = (np.abs(path).max(axis=1) > _ELSEWHERE) & (np.maximum(*distances) < _NEAR)
    mask = np.zeros(len(time), dtype=bool)
    if false.sum() > _PUBLISHER * len(time):
        mask[rows[false]] = True
    return mask
