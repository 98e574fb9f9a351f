# SPDX-License-Identifier: Apache-2.0
"""Where nobody knows what a robot did: gaps between samples, and joints without a sound reading for long.

Behind such a gap a simulation has to begin anew from the measured state. Goals that were sent in a gap were
not recorded, and a servo that did not answer may not have moved to them.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array

SETTLING = 0.5
"""s behind a new start that do not count. Where the set-point inside a servo is on its way to the goal is not
known there; a Feetech STS3215 that begins at its goal is off by up to 0.13 rad, and by 1 mrad after 0.4 s."""

_PERIODS = 5.0  # usual periods without a sample make a gap,
_LONG = 0.1  # s, if they are so long at least
_BLIND = 0.2  # s without a sound reading of a joint
_LEAST = 0.8  # s between two gaps; less is hardly more than what does not count
_FEWEST = 8  # samples, likewise; a velocity is estimated from seven


def sample_gaps(time: Array) -> NDArray[np.intp]:
    """Return the rows before which samples are missing.

    Args:
        time: (n,) s, increasing.
    """
    passed = np.diff(time)
    return np.flatnonzero(passed > max(_PERIODS * float(np.median(passed)), _LONG)) + 1


def restart_rows(time: Array, sound: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first rows behind gaps, from which a simulation begins anew.

    Args:
        time: (n,) s, increasing.
        sound: (n, joints) which readings are.
    """
    rows = set(sample_gaps(time).tolist())
    for column in sound.T:
        edges = np.flatnonzero(np.diff(column, prepend=True, append=True))
        for start, end in edges.reshape(-1, 2):  # the last sound row before is start - 1
            if end < len(time) and time[end] - time[max(start - 1, 0)] > _BLIND:
                rows.add(int(end))
    # All joints need a sound reading there.
    complete = np.append(np.flatnonzero(sound.all(axis=1)), len(time))
    starts = np.unique([int(complete[np.searchsorted(complete, row)]) for row in sorted(rows)])
    return np.asarray(starts[starts < len(time)], dtype=np.intp)


def rows_that_count(time: Array, starts: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return (n,) false just behind new starts, and between two that are too near to each other.

    Args:
        time: (n,) s.
        starts: as of `restart_rows`.
    """
    counted = np.ones(len(time), dtype=bool)
    for start, end in itertools.pairwise([*starts, len(time)]):
        short = end - start < _FEWEST or time[end - 1] - time[start] < _LEAST
        counted[start:end] &= (not short) & (time[start:end] >= time[start] + SETTLING)
    return counted
