# SPDX-License-Identifier: Apache-2.0
"""Intervals of a mean over seeds and robots, both of which another study would have drawn otherwise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array

_RESAMPLES = 4000
_SEED = 0
_ENDS = (0.025, 0.975)


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    def overlaps(self, peer: Interval) -> bool:
        """Return whether two intervals have a value in common."""
        return self.low <= peer.high and peer.low <= self.high

    def text(self, scale: float, digits: int) -> str:
        """Return "value (low to high)" in another unit."""
        value, low, high = (f"{scale * end:.{digits}f}" for end in (self.value, self.low, self.high))
        return f"{value} ({low} to {high})"


def mean_interval(values: Array) -> Interval:
    """Return the mean of (seeds, robots) values; the bootstrap draws seeds and robots anew."""
    return _interval(float(values.mean()), _resampled(values))


def ratio_interval(above: Array, below: Array) -> Interval:
    """Return the ratio of two means of (seeds, robots); both have the same seeds and robots drawn."""
    ratios = _resampled(above) / _resampled(below)
    return _interval(float(above.mean() / below.mean()), ratios)


def _resampled(values: Array) -> Array:
    random = np.random.default_rng(_SEED)
    seeds, robots = values.shape
    rows = random.integers(seeds, size=(_RESAMPLES, seeds, 1))
    columns = random.integers(robots, size=(_RESAMPLES, 1, robots))
    return np.asarray(values[rows, columns].mean(axis=(1, 2)))


def _interval(value: float, resampled: Array) -> Interval:
    low, high = np.quantile(resampled, _ENDS)
    return Interval(value=value, low=float(low), high=float(high))
