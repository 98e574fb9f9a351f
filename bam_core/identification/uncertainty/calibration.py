# SPDX-License-Identifier: Apache-2.0
"""Finds how far predictions scatter, from training logs alone: every condition in turn takes no part.

A fit does not show its error elsewhere: it follows the logs that it was fitted to, and wrong parameters
compensate for what the model lacks. So every gain, load and script of the training logs is left out in turn.
The linear model of the fit leads to the optimum of the other logs, and how far the left-out logs are off from
there is how far a new condition is off. Inflations of the parameters' covariance are tried, each with the
residual that lets the bands hold `bands.LEVEL` of these samples. The one with the lowest interval score is
taken (Gneiting and Raftery 2007, section 6.2): narrow where the fit is right, wide where it is not.

A covariance of estimates from n logs is that of a mean over n logs. With the square root of n as inflation,
draws scatter as the optima of single logs do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.search.gauss_newton import follow
from bam_core.identification.search.problem import INTEGRATOR, TrainingData
from bam_core.identification.search.sensitivity import Sensitivity, normalised, vectors_at
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.bands import LEVEL, REACH, percentiles, widened
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout

_CONDITIONS: Mapping[str, Callable[[Recording], object]] = {
    "kp": lambda recording: recording.kp,
    "mass": lambda recording: recording.bench.mass,
    "length": lambda recording: recording.bench.length,
    "inertia": lambda recording: recording.bench.flywheel,
    "script": lambda recording: recording.script,
}
# The first is none: then the residual is alone.
_SHARES = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)  # inflations that are tried, of the square root of the logs
_DRAWS = 48  # per inflation: ends of the bands are known to a tenth of their width
_SAMPLES = 100  # of a log; they are correlated over longer than what lies between
_MOST_LOGS = 48  # more tell the two numbers no better, and cost time
_SEED = 0


@dataclass(frozen=True, kw_only=True)
class _Miss:
    """A log that took no part, and draws around the optimum of the others.

    Attributes:
        measured: (samples,) rad.
        bands: for every inflation the median and both ends of the band without residual, (3, samples) rad.
    """

    measured: Array
    bands: tuple[Array, ...]


def calibrated(
    servo: ServoModel, recordings: Sequence[Recording], optimum: Sensitivity, covariance: Array
) -> Prediction:
    """Return the predictive distribution of a fit.

    Args:
        servo: the fit; its firmware and laws count.
        recordings: that it was fitted to, two at least.
        optimum: the linear model at the fit.
        covariance: (n, n) of the estimates, in squared shares of the search range.
    """
    scales = [share * math.sqrt(len(recordings)) for share in _SHARES]
    factor = _factor(covariance)
    misses = _misses(servo, *_some(recordings, optimum), [scale * factor for scale in scales])
    residuals = [_residual(misses, i) for i in range(len(scales))]
    best = min(range(len(scales)), key=lambda i: _score(misses, i, residuals[i]))
    counts = servo.firmware.resolution / math.sqrt(12.0)  # what the encoder alone leaves
    return Prediction(
        ranges={axis.name: (axis.low, axis.high) for axis in optimum.space.axes},
        factor=factor,
        inflation=scales[best],
        residual=max(residuals[best], counts),
        residual_alone=max(residuals[0], counts),
    )


def _factor(covariance: Array) -> Array:
    """Return the symmetric root of a covariance: it has one also where a direction has no variance."""
    variances, directions = np.linalg.eigh(covariance)
    return np.asarray(directions * np.sqrt(np.maximum(variances, 0.0)) @ directions.T)


def _some(recordings: Sequence[Recording], optimum: Sensitivity) -> tuple[list[Recording], Sensitivity]:
    """Return _MOST_LOGS of the recordings at most, and their linear model."""
    count = len(recordings)
    kept = np.ones(count, dtype=bool)
    if count > _MOST_LOGS:
        kept[:] = False
        kept[np.random.default_rng(_SEED).choice(count, _MOST_LOGS, replace=False)] = True
    return [log for log, keep in zip(recordings, kept, strict=True) if keep], part(optimum, kept)


def part(optimum: Sensitivity, kept: NDArray[np.bool_]) -> Sensitivity:
    """Return the linear model of some of its logs, those where `kept` (logs,) is true."""
    rows = np.repeat(kept, optimum.counts)
    return replace(
        optimum,
        jacobian=optimum.jacobian[rows],
        residuals=optimum.residuals[rows],
        counts=optimum.counts[kept],
    )


def _conditions(recordings: Sequence[Recording]) -> Iterator[NDArray[np.bool_]]:
    """Yield which logs share a condition that others do not; every log by itself where all are alike."""
    varies = False
    for condition in _CONDITIONS.values():
        values = [condition(log) for log in recordings]
        distinct = sorted(set(values), key=str)
        if len(distinct) > 1:
            varies = True
            yield from (np.array([value == left_out for value in values]) for left_out in distinct)
    if not varies:
        yield from np.eye(len(recordings), dtype=bool)


def _misses(
    servo: ServoModel, recordings: Sequence[Recording], optimum: Sensitivity, factors: Sequence[Array]
) -> list[_Miss]:
    random = np.random.default_rng(_SEED).standard_normal((_DRAWS, optimum.space.dimension))
    misses = []
    for out in _conditions(recordings):
        others = [log for log, is_out in zip(recordings, out, strict=True) if not is_out]
        left_out = [log for log, is_out in zip(recordings, out, strict=True) if is_out]
        there = follow(simulation(servo, others, optimum.space), part(optimum, ~out))
        centre = normalised(there.space, there.vector)
        samples = simulation(servo, left_out, optimum.space).samples(
            [max(len(log) // _SAMPLES, 1) for log in left_out]
        )
        ends = np.cumsum(samples.counts)[:-1]
        bands = [
            np.split(
                percentiles(samples.positions(vectors_at(there.space, centre + random @ factor.T))), ends, 1
            )
            for factor in factors
        ]
        misses += [
            _Miss(measured=measured, bands=tuple(band[i] for band in bands))
            for i, measured in enumerate(np.split(samples.measured, ends))
        ]
    return misses


def simulation(servo: ServoModel, recordings: Sequence[Recording], space: SearchSpace) -> Rollout:
    """Simulate as a search does: bands are tens of times wider than what its long steps leave."""
    if servo.integrator != INTEGRATOR or servo.friction.quadratic_rule != "paper":
        return Rollout.for_servo(recordings, servo)
    return TrainingData(recordings, servo.firmware).fast(space)


def _residual(misses: Sequence[_Miss], inflation: int) -> float:
    """Return the residual with which LEVEL of the samples are inside, rad; every log counts alike."""
    needed, weights = [], []
    for miss in misses:
        middle, low, high = miss.bands[inflation]
        off = miss.measured - middle
        end = np.where(off > 0.0, high - middle, low - middle)
        needed.append(np.sqrt(np.maximum(off**2 - end**2, 0.0)) / REACH)
        weights.append(np.full(len(off), 1.0 / len(off)))
    values, shares = np.concatenate(needed), np.concatenate(weights)
    order = np.argsort(values)
    place = np.searchsorted(np.cumsum(shares[order]), LEVEL * shares.sum())
    return float(values[order[min(place, len(values) - 1)]])


def _score(misses: Sequence[_Miss], inflation: int, residual: float) -> float:
    """Return the mean interval score, rad: width, and 2/α times what samples are beyond it."""
    scores = []
    for miss in misses:
        low, high = widened(miss.bands[inflation], residual)
        beyond = np.maximum(low - miss.measured, 0.0) + np.maximum(miss.measured - high, 0.0)
        scores.append(float(np.mean(high - low + 2.0 / (1.0 - LEVEL) * beyond)))
    return float(np.mean(scores))
