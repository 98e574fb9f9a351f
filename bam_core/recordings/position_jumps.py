# SPDX-License-Identifier: Apache-2.0
"""Finds positions that no arm can have reached from those around: spikes, and jumps for good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.recordings.left_out import ALWAYS, Mask
from bam_core.recordings.neighbours import running_median

# Of 350 real logs of a Feetech STS3215, 55 hold false positions, 62 in all: encoder count 0, 1.7 rad and more
# from their neighbours. Steps of the sound logs are within 0.08 rad of the pace around them.
_SPIKE = 0.1  # rad per usual period from where neighbours say it is, at least,
_SPIKE_ACCELERATION = 250.0  # rad/s² times the square of that period,
_SPIKE_SCALES = 12.0  # and so many times the usual distance around it
_USUAL = 25  # samples to either side that say what is usual
_PACE = 4  # samples to either side whose median step is the pace of the arm
_RUN = 10  # samples; of a longer run, nobody can tell which side of a jump is true,
_FIRST = 3  # nor of so many at the start
_JUMP = 0.15  # rad beyond the pace around it; what jumps by less may have slipped
_JUMP_PAUSE = 3.0  # periods without a sample, in which an arm may have gone anywhere


def find_spikes(time: Array, position: Array) -> Mask:
    """Find short runs of positions, (n,), that begin with a jump, after which the path goes on as before.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad, finite.
    """
    spikes = _spikes_ahead(time, position) | _spikes_ahead(-time[::-1], position[::-1])[::-1]
    first = int(np.argmin(np.append(spikes, False)))
    if first > _FIRST:
        spikes[:first] = False
    return spikes


def samples_beside(spikes: Mask) -> Mask:
    """Find the samples beside spikes, (n,): a disturbed exchange spoils them less than is observable.

    In the real logs, the sample before each of 62 spikes is the mean of the two before that one: made up.
    """
    padded = np.concatenate(([False], spikes, [False]))
    return (padded[:-2] | padded[2:]) & ~spikes


def first_jump(time: Array, position: Array) -> int | None:
    """Return the sample that no arm can have reached from the one before, None where there is none.

    An encoder that loses its offset reads on as before from there, and which side is true is unobservable.

    Args:
        time: (n,) s, increasing.
        position: (n,) rad, finite.
    """
    jumps = position_jumps(time, position)
    return int(jumps[0]) if len(jumps) else None


def position_jumps(time: Array, position: Array) -> NDArray[np.intp]:
    """Return all samples that no arm can have reached from the one before; see `first_jump`."""
    jumps = _jumps(time, position)
    if len(jumps) > ALWAYS:  # what updates its position seldom goes in jumps
        changed = np.flatnonzero(np.diff(position, prepend=np.nan) != 0.0)
        jumps = changed[_jumps(time[changed], position[changed])]
    return jumps


def _spikes_ahead(time: Array, position: Array) -> Mask:
    """Find those after the first stretch that is long enough to be trusted."""
    result = np.zeros(len(position), dtype=bool)
    if len(position) < 2 * _RUN:
        return result
    steps = _steps(time, position)
    edges = np.flatnonzero(steps.off > steps.limit) + 1
    since_start = np.concatenate(([0.0], np.cumsum(steps.passed)))
    last = None
    for start, end in zip([0, *edges], [*edges, len(position)], strict=True):
        if last is None:
            last = end - 1 if end - start > _RUN else None
            continue
        expected = position[last] + (since_start[start] - since_start[last]) * steps.pace[start - 1]
        if abs(position[start] - expected) > steps.limit[start - 1] and end - start <= _RUN:
            result[start:end] = True
        else:
            last = end - 1
    return result


def _jumps(time: Array, position: Array) -> NDArray[np.intp]:
    if len(position) < 2 * _RUN:
        return np.zeros(0, dtype=np.intp)
    steps = _steps(time, position)
    return np.flatnonzero((steps.off > np.maximum(steps.limit, _JUMP)) & (steps.passed < _JUMP_PAUSE)) + 1


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """Steps between positions, (n - 1,) each.

    Paces are per time: an arm goes farther while nobody looks, and how far is less sure the longer that is.

    Attributes:
        passed: usual periods.
        pace: usual step per period around, rad.
        off: by how much the step differs from the pace, rad.
        limit: up to which that is usual, rad.
    """

    passed: Array
    pace: Array
    off: Array
    limit: Array


def _steps(time: Array, position: Array) -> _Steps:
    period = np.median(np.diff(time))
    passed = np.diff(time) / period
    least = max(_SPIKE, _SPIKE_ACCELERATION * period**2)
    steps = np.diff(position)
    pace = running_median(steps / passed, _PACE)
    off = np.abs(steps - pace * passed)
    limit = np.maximum(least, _SPIKE_SCALES * running_median(off, _USUAL)) * np.maximum(passed, 1.0)
    return _Steps(passed=passed, pace=pace, off=off, limit=limit)
