# SPDX-License-Identifier: Apache-2.0
"""Finds readings that are older ones again: of a buffer that was read twice, or of packets out of order.

A stretch that repeats an earlier one number for number, while the goals differ, was not measured then. Nor
was a single reading that is off its neighbours, and is one of the last second.
"""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.left_out import Mask
from bam_core.recordings.neighbours import running_median

_LONGEST_AGO = 1500  # samples; buffers hold fewer
_LEAST = 10  # samples of a stretch,
_VALUES = 6  # of which so many differ; a joint at rest repeats a few at any time
_OTHER_GOAL = 0.05  # rad between the goals of both; the same motion made again may read the same
_RECENT = 1.0  # s in which a single reading has been there before
_REACH = 5  # samples to either side
_COUNTS = 4.0  # of the encoder, and
_FEWEST = 5  # single readings, and
_SHARE = 0.005  # of all; reversals of a real arm look so in up to 0.0018
_OFF = 6.0  # times what nine of ten readings are off their neighbours


def older_readings(time: Array, goal: Array, position: Array) -> Mask:
    """Return (n,) which readings repeat older ones.

    Args:
        time: (n,) s, increasing.
        goal: (n,) rad; NaN: not known.
        position: (n,) rad, finite.
    """
    return _stretches(goal, position) | _single(time, position)


def _stretches(goal: Array, position: Array) -> Mask:
    stretches = []
    for ago in range(2, min(len(position) - _LEAST, _LONGEST_AGO)):
        same = (position[ago:] == position[:-ago]) & (np.abs(goal[ago:] - goal[:-ago]) > _OTHER_GOAL)
        if np.count_nonzero(same) < _LEAST:
            continue
        edges = np.flatnonzero(np.diff(same, prepend=False, append=False)).reshape(-1, 2)
        for start, end in edges[np.diff(edges)[:, 0] >= _LEAST] + ago:
            if len(np.unique(position[start:end])) >= _VALUES:
                stretches.append((int(start), int(end), ago))
    repeats = np.zeros(len(position), dtype=bool)
    for start, end, ago in sorted(stretches):
        if not repeats[start - ago : end - ago].any():  # else these are true, and those repeat
            repeats[start:end] = True
    return repeats


def _single(time: Array, position: Array) -> Mask:
    repeats = np.zeros(len(position), dtype=bool)
    steps = np.abs(np.diff(position))
    if len(position) < 4 * _REACH or not steps.any():
        return repeats
    off = np.abs(position - running_median(position, _REACH))
    count = float(np.min(steps[steps > 0.0]))
    for row in np.flatnonzero(off > max(_COUNTS * count, _OFF * float(np.quantile(off, 0.9)))):
        first = int(np.searchsorted(time, time[row] - _RECENT))
        repeats[row] = bool(np.any(position[first : max(row - 1, 0)] == position[row]))
    return repeats & (np.count_nonzero(repeats) >= max(_FEWEST, _SHARE * len(position)))
