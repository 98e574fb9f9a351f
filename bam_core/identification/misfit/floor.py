# SPDX-License-Identifier: Apache-2.0
"""What a perfect model would leave over: encoder, timing of samples, and how repeated runs differ."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording

_WINDOW = 7  # samples that a cubic is laid through: motion, not noise
_ORDER = 3
_MEAN_OF_NORMAL = math.sqrt(2.0 / math.pi)  # mean absolute value of a normal error by its deviation
_SAME = 0.02  # rad; goals that differ more are not those of a repeated run


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Mean absolute errors that no model can be below by much, rad.

    Attributes:
        encoder: of rounding to counts.
        noise: of positions about their smooth motion: rounding, noise, timing of the samples.
        repeats: of repeated runs about each other; None where no run was repeated.
        pairs: of repeated runs.
        steps: of the simulation, about what finer ones would lead to.
    """

    encoder: float
    noise: float
    repeats: float | None
    pairs: int
    steps: float = 0.0

    @property
    def value(self) -> float:
        """The highest of them, rad."""
        return max(self.encoder, self.noise, self.steps, self.repeats or 0.0)

    @property
    def words(self) -> str:
        """What it is made of."""
        if self.repeats is not None and self.repeats >= max(self.encoder, self.noise, self.steps):
            pairs = "a pair" if self.pairs == 1 else f"{self.pairs} pairs"
            return f"scatter of {pairs} of repeated runs"
        if self.steps >= max(self.encoder, self.noise):
            return "steps of the simulation"
        return "encoder and timing of the samples"


def floor(recordings: Sequence[Recording], resolution: float) -> Floor:
    """Return what encoder, timing and repeats of these recordings leave over.

    Args:
        recordings: one at least.
        resolution: one encoder count, rad.
    """
    groups: dict[tuple[object, ...], list[Recording]] = defaultdict(list)
    for each in recordings:
        groups[configuration(each)].append(each)
    apart = [
        difference
        for same in groups.values()
        for first, second in itertools.pairwise(same)
        if (difference := _apart(first, second)) is not None
    ]
    # The difference of two runs has the scatter of both: that of one is smaller by √2.
    return Floor(
        encoder=0.25 * resolution,
        noise=_MEAN_OF_NORMAL * fmean(noise(each, resolution) for each in recordings),
        repeats=fmean(apart) / math.sqrt(2.0) if apart else None,
        pairs=len(apart),
    )


def configuration(recording: Recording) -> tuple[object, ...]:
    """Return what two runs have in common that repeat each other."""
    bench = recording.bench
    return (
        recording.script,
        recording.kp,
        recording.supply_voltage,
        bench.mass,
        bench.arm_mass,
        bench.length,
    )


def noise(recording: Recording, resolution: float) -> float:
    """Return the standard deviation of positions about their smooth motion, rad; rounding at least.

    A cubic through a few samples takes the motion; what it takes of the noise as well is known.
    """
    window = _WINDOW
    design = np.vander(np.arange(window) - window // 2, _ORDER + 1).astype(np.float64)
    weights = np.eye(window)[window // 2] - (design @ np.linalg.pinv(design))[window // 2]
    off = np.convolve(recording.position, weights, mode="valid")
    # Samples of an arm that rests tell nothing of noise: all are rounded to the same count.
    moves = np.abs(np.convolve(recording.position, np.r_[1.0, np.zeros(window - 2), -1.0], mode="valid")) > (
        2.0 * resolution
    )
    rounding = resolution / math.sqrt(12.0)
    if np.count_nonzero(moves) < window:
        return rounding
    scale = float(np.median(np.abs(off[moves]))) / 0.6745 / float(np.sqrt(weights @ weights))
    return max(scale, rounding)


def _apart(first: Recording, second: Recording) -> float | None:
    """Return the mean absolute difference of two runs, rad; None where they do not follow the same goal."""
    begin = max(first.time[0], second.time[0])
    end = min(first.time[-1], second.time[-1])
    at: Array = first.time[(first.time >= begin) & (first.time <= end)]
    if not len(at):
        return None
    goals = [np.interp(at, each.time, each.goal_position) for each in (first, second)]
    if float(np.mean(np.abs(goals[0] - goals[1]))) > _SAME:
        return None
    positions = [np.interp(at, each.time, each.position) for each in (first, second)]
    return float(np.mean(np.abs(positions[0] - positions[1])))
