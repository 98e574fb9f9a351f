# SPDX-License-Identifier: Apache-2.0
"""Bands that hold a share of the samples of recordings, from draws of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bam_core.arrays import Array
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.samples import strides

LEVEL = 0.90
"""Share of samples that a band shall hold: from the 5th to the 95th percentile."""

REACH = float(ndtri(0.5 + LEVEL / 2.0))
"""Standard deviations from the middle of a normal distribution to the end of its band."""

_TOGETHER = 64  # recordings whose draws are in memory at a time: 200 draws of 400 samples each take 40 MB


@dataclass(frozen=True, kw_only=True)
class Band:
    """The band of one recording at some of its samples.

    Attributes:
        time: (samples,) s since the first sample.
        low: (samples,) rad, the 5th percentile.
        high: (samples,) rad, the 95th.
        measured: (samples,) rad.
        crps: continuous ranked probability score of the draws, mean over samples, rad; see `crps`.
    """

    time: Array
    low: Array
    high: Array
    measured: Array
    crps: float

    @property
    def coverage(self) -> float:
        """Share of the measured samples inside, 0..1."""
        return float(np.mean((self.low <= self.measured) & (self.measured <= self.high)))

    @property
    def width(self) -> float:
        """Mean over samples, rad."""
        return float(np.mean(self.high - self.low))


def predicted_bands(
    servo: ServoModel,
    recordings: Sequence[Recording],
    prediction: Prediction,
    bench_effects: BenchEffects = IDEAL_BENCH,
    *,
    draws: int,
    seed: int = 0,
    dt: float | None = None,
) -> list[Band]:
    """Return the band of every recording.

    Args:
        servo: the fit, without a gear.
        recordings: one at least.
        prediction: of this fit.
        bench_effects: of the bench that recorded.
        draws: of the parameters, 20 or more, or the percentiles are those of single draws.
        seed: of the draws.
        dt: as of `Rollout.for_servo`.
    """
    vectors = prediction.draw_runs(servo, bench_effects, count=draws, seed=seed)
    residual = prediction.residual_of_runs
    noise = residual * _normal(draws, seed)
    bands: list[Band] = []
    for first in range(0, len(recordings), _TOGETHER):
        part = recordings[first : first + _TOGETHER]
        every = strides(part)
        samples = Rollout.for_servo(part, servo, dt=dt).samples(every)
        ends = np.cumsum(samples.counts)[:-1]
        drawn = np.split(samples.positions(vectors), ends, axis=1)
        for recording, n, positions in zip(part, every, drawn, strict=True):
            outcomes = positions + noise[:, None]
            if prediction.variation is None:
                low, high = widened(percentiles(positions), residual)
            else:  # draws that stick and draws that slip are no normal distribution
                _, low, high = percentiles(outcomes)
            time, measured = recording.time[::n] - recording.time[0], recording.position[::n]
            score = float(np.mean(crps(outcomes, measured)))
            bands.append(Band(time=time, low=low, high=high, measured=measured, crps=score))
    return bands


def crps(draws: Array, measured: Array) -> Array:
    """Return the continuous ranked probability score of an ensemble, in the unit of the draws.

    E|X - y| - E|X - X'|/2 (Gneiting and Raftery 2007, eq. 21), with the estimate of the second part that does
    not depend on the number of draws (Ferro 2014). For a single certain position it is the absolute error.

    Args:
        draws: (draws, samples), two draws at least.
        measured: (samples,).

    Returns:
        (samples,)
    """
    count = len(draws)
    ranks = 2.0 * np.arange(1, count + 1) - count - 1.0
    differences = ranks @ np.sort(draws, axis=0) / (count * (count - 1.0))
    return np.asarray(np.mean(np.abs(draws - measured), axis=0) - differences)


def _normal(count: int, seed: int) -> Array:
    """Return the quantiles (count,) of a standard normal distribution in random order."""
    return np.random.default_rng((seed, 2)).permutation(ndtri((np.arange(count) + 0.5) / count))


def percentiles(positions: Array) -> Array:
    """Return the median of draws (draws, samples) and both ends of their band, (3, samples)."""
    return np.quantile(positions, (0.5, 0.5 - LEVEL / 2.0, 0.5 + LEVEL / 2.0), axis=0)


def widened(band: Array, residual: float) -> tuple[Array, Array]:
    """Return both ends of a band with a residual: distances from the median add in quadrature.

    Args:
        band: as of `percentiles`.
        residual: standard deviation, rad.

    Returns:
        Two arrays (samples,) rad.
    """
    middle, low, high = band
    reach = REACH * residual
    return middle - np.hypot(middle - low, reach), middle + np.hypot(high - middle, reach)
