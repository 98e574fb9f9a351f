# SPDX-License-Identifier: Apache-2.0
"""Chosen samples of recordings, simulated with many candidates at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.simulation.interpolation import interpolate
from bam_core.simulation.packing import PackedLogs

TraceSimulator = Callable[[Array, Callable[[int, int, Array], None]], None]
"""Simulates candidates and shows the trace of each log to a reader; see `Rollout.traced`."""

ENOUGH = 400
"""Samples of a log that represent its run; more add little and cost time."""


@dataclass(frozen=True, eq=False)
class SampleChoice:
    """Chosen samples of the recordings of a rollout, all in one row: recording after recording.

    Attributes:
        measured: (samples,) rad.
        counts: samples per recording.
        slices: place of each recording in the row.
        by_lane: lane of the kernel -> place in the row, steps of the grid, and weights of an interpolation.
    """

    measured: Array
    counts: NDArray[np.intp]
    slices: Sequence[slice]
    by_lane: Mapping[int, tuple[slice, NDArray[np.intp], Array]]


def choose(recordings: Sequence[Recording], packed: PackedLogs, every: int | Sequence[int]) -> SampleChoice:
    """Choose samples.

    Args:
        recordings: that the samples are of.
        packed: the same for the kernel.
        every: n, for every n-th sample; of all recordings or of each.
    """
    strides = [every] * len(recordings) if isinstance(every, int) else list(every)
    chosen = [recording.position[::n] for recording, n in zip(recordings, strides, strict=True)]
    ends = np.concatenate([[0], np.cumsum([len(positions) for positions in chosen])])
    slices = [slice(low, high) for low, high in itertools.pairwise(ends.tolist())]
    return SampleChoice(
        measured=np.concatenate(chosen),
        counts=np.array([len(positions) for positions in chosen]),
        slices=slices,
        by_lane={
            int(lane): (place, *_hermite(recording.time[::n] - recording.time[0], packed.grid(i)))
            for i, (lane, place, recording, n) in enumerate(
                zip(packed.lanes, slices, recordings, strides, strict=True)
            )
        },
    )


class Samples:
    """A choice, and what simulates it.

    Args:
        choice: of samples.
        simulate: of their rollout, which must not hold this object: garbage collection is rare where little
            but large arrays is made, and they would stay.

    Attributes:
        measured: (samples,) rad.
        counts: samples per recording.
    """

    def __init__(self, choice: SampleChoice, simulate: TraceSimulator) -> None:
        self._choice, self._simulate = choice, simulate
        self.measured, self.counts = choice.measured, choice.counts

    def positions(self, parameters: ArrayLike) -> Array:
        """Return the simulated positions of candidates, (candidates, samples) rad.

        Args:
            parameters: (candidates, PARAMETERS) in SI units; or one candidate, (PARAMETERS,).

        Raises:
            BamError: wrong shape, or a value that is not finite.
        """
        candidates = np.atleast_2d(np.asarray(parameters, dtype=np.float64))
        positions = np.empty((len(candidates), len(self.measured)))

        def read(row: int, lane: int, trace: Array) -> None:
            place, steps, weights = self._choice.by_lane[lane]
            interpolate(trace, steps, weights, positions[row, place])

        self._simulate(candidates, read)
        return positions

    def split(self, row: Array) -> list[Array]:
        """Cut a row of samples into recordings."""
        return [row[place] for place in self._choice.slices]


def _hermite(time: Array, grid: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the grid steps in which times lie, and the weights (times, 4) of x_k, v_k, x_{k+1}, v_{k+1}.

    Position is quadratic in time within a step, which a cubic Hermite spline follows.
    """
    if len(grid) < 2:
        return np.zeros(len(time), dtype=np.intp), np.tile([1.0, 0.0, 0.0, 0.0], (len(time), 1))
    dt = grid[1] - grid[0]
    steps = np.clip((time / dt + 1e-9).astype(np.intp), 0, len(grid) - 2)
    u = time / dt - steps
    weights = [
        (1.0 + 2.0 * u) * (1.0 - u) ** 2,
        u * (1.0 - u) ** 2 * dt,
        u**2 * (3.0 - 2.0 * u),
        u**2 * (u - 1.0) * dt,
    ]
    return steps, np.stack(weights, axis=1)


def strides(recordings: Sequence[Recording]) -> list[int]:
    """Return for every recording which n-th samples to look at so that about ENOUGH are left."""
    return [max(len(recording) // ENOUGH, 1) for recording in recordings]
