# SPDX-License-Identifier: Apache-2.0
"""What a perfect model would leave over: encoder, timing of samples, and how repeated runs differ."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.text.misfit_findings import ErrorFloor

ABOVE_FLOOR = 1.5
"""Factor on the floor; a quarter of an encoder count (`Floor.encoder`) is added. A model with a larger
training error lacks something; models that lack nothing stay below."""

_WINDOW = 7  # samples that a cubic is laid through: motion, not noise
_ORDER = 3
_MEAN_OF_NORMAL = math.sqrt(2.0 / math.pi)  # mean absolute value of a normal error by its deviation
_DAMAGED = 5.0  # times the median pair (of two the nearer): one of two runs farther apart may be damaged
_SAME = 0.02  # rad; goals that differ more are not those of a repeated run


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Mean absolute errors that no model can be below by much, rad.

    Attributes:
        encoder: of rounding to counts.
        noise: of positions about their smooth motion: rounding, noise, timing of the samples.
        repeats: of repeated runs about each other, without pairs that are far apart beside the others; None
            where no run was repeated.
        pairs: of repeated runs.
        steps: of the simulation, about what finer ones would lead to.
        farthest: names of the two runs that are farthest apart of these pairs; empty where there are none.
        typical: repeats are of other runs; not where a fit is far below them, which no fit can be then.
    """

    encoder: float
    noise: float
    repeats: float | None
    pairs: int
    steps: float = 0.0
    farthest: tuple[str, ...] = ()
    typical: bool = True

    @property
    def value(self) -> float:
        """The highest of them, rad."""
        return max(self._others, self.repeats if self.typical and self.repeats is not None else 0.0)

    def report(self, error: float) -> ErrorFloor:
        """Return it beside the mean absolute error of a fit, rad."""
        differs = not self.typical and self.repeats is not None
        if self.repeats is not None and self.typical and self.repeats >= self._others:
            kind = "repeated_runs"
        else:
            finest = self.steps >= max(self.encoder, self.noise)
            kind = "simulation_steps" if finest else "measurement"
        return ErrorFloor(
            kind=kind,
            error=error,
            floor=self.value,
            repeats=self.repeats if differs else None,
            differing=self.farthest if differs else (),
        )

    def beside(self, error: float) -> Floor:
        """Return the floor of a fit with this training error, rad: repeats do not count if they deny it."""
        return replace(self, typical=self.repeats is None or self.repeats <= ABOVE_FLOOR * error)

    @property
    def _others(self) -> float:
        return max(self.encoder, self.noise, self.steps)


def floor(recordings: Sequence[Recording], resolution: float) -> Floor:
    """Return what encoder, timing and repeats of these recordings leave over.

    Args:
        recordings: one at least.
        resolution: one encoder count, rad.
    """
    groups: dict[tuple[object, ...], list[Recording]] = defaultdict(list)
    for recording in recordings:
        groups[configuration(recording)].append(recording)
    pairs = [
        (difference, first.name, second.name)
        for same in groups.values()
        for first, second in itertools.pairwise(same)
        if (difference := _difference_of(first, second)) is not None
    ]
    scatter = [difference for difference, *_ in pairs]
    limit = _DAMAGED * statistics.median_low(scatter) if pairs else 0.0
    # The difference of two runs has the scatter of both: that of one is smaller by √2.
    repeats = (
        fmean(difference for difference in scatter if difference <= limit) / math.sqrt(2.0) if pairs else None
    )
    return Floor(
        encoder=0.25 * resolution,
        noise=_MEAN_OF_NORMAL * fmean(noise(recording, resolution) for recording in recordings),
        repeats=repeats,
        pairs=len(pairs),
        farthest=max(pairs)[1:] if pairs else (),
    )


def configuration(recording: Recording) -> tuple[object, ...]:
    """Return what two runs have in common that repeat each other."""
    bench = recording.bench
    return (
        recording.script,
        recording.kp,
        recording.ki,
        recording.kd,
        recording.supply_voltage,
        bench.mass,
        bench.arm_mass,
        bench.length,
        bench.flywheel,
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


def _difference_of(first: Recording, second: Recording) -> float | None:
    """Return the mean absolute difference of two runs, rad; None where they do not follow the same goal."""
    begin = max(first.time[0], second.time[0])
    end = min(first.time[-1], second.time[-1])
    at: Array = first.time[(first.time >= begin) & (first.time <= end)]
    if not len(at):
        return None
    if first.open_loop or second.open_loop:
        return None  # nothing pulls two runs together; they part as far as they start apart in speed
    goals = [np.interp(at, recording.time, recording.goal_position) for recording in (first, second)]
    if float(np.mean(np.abs(goals[0] - goals[1]))) > _SAME:
        return None
    positions = [np.interp(at, recording.time, recording.position) for recording in (first, second)]
    return float(np.mean(np.abs(positions[0] - positions[1])))
