# SPDX-License-Identifier: Apache-2.0
"""Statistics of the samples around one."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.left_out import Mask


def running_median(values: Array, reach: int) -> Array:
    """Return the median of every value (n,) and its neighbours, `reach` to either side, (n,)."""
    padded = np.concatenate((values[reach:0:-1], values, values[-2 : -reach - 2 : -1]))
    if len(padded) < len(values) + 2 * reach:  # fewer values than neighbours
        return np.full(len(values), np.median(values))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    return np.asarray(np.median(windows, axis=1))


def spread_over(places: Mask, mask: Mask) -> Mask:
    """Return (n,) with a mask of some places at the true ones of `places`, (n,), in order; else false."""
    spread = np.zeros(len(places), dtype=bool)
    spread[places] = mask
    return spread
