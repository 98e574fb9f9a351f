# SPDX-License-Identifier: Apache-2.0
"""Whether two recordings are the same run: by what was measured, not by the bytes of their files.

A run that was written in another format, indented otherwise or cut by some samples is still the same run. So
recordings are compared by fingerprints (winnowing: Schleimer, Wilkerson and Aiken 2003): digests of stretches
of successive positions, of which a fixed share is kept, chosen by the digests themselves. Where two share a
stretch, they are laid over each other there, and the positions of the same run are alike sample by sample.
Those of real repetitions are not: they differ by counts of the encoder. Script, gain and load must be alike,
too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bam_core.recordings.recording import Recording

_STRETCH = 24  # samples
_CHANGES = 6  # of the position in a stretch; where an arm rests, all runs are alike
_KEPT = 8  # one digest of so many is kept
_SAME = 0.9  # share of samples that are alike where two recordings overlap
_OVERLAP = 0.5  # of the shorter recording
_FINEST = 1e-6  # rad; formats round below this
_TRIES = 5  # places at which two recordings are laid over each other


class RunIdentities:
    """Recordings by what they measured; finds the first one that is the same run."""

    def __init__(self, recordings: Iterable[Recording] = ()) -> None:
        """Keep recordings."""
        self._recordings: list[Recording] = []
        self._having: dict[int, list[tuple[int, int]]] = {}
        for recording in recordings:
            self.add(recording)

    def add(self, recording: Recording) -> None:
        """Keep another recording."""
        for digest, sample in _fingerprint(recording).items():
            self._having.setdefault(digest, []).append((len(self._recordings), sample))
        self._recordings.append(recording)

    def same_run(self, recording: Recording) -> Recording | None:
        """Return the first kept recording of the same run, None where there is none."""
        places: dict[int, set[int]] = {}
        for digest, sample in _fingerprint(recording).items():
            for index, kept_sample in self._having.get(digest, ()):
                places.setdefault(index, set()).add(kept_sample - sample)
        for index in sorted(places):
            kept = self._recordings[index]
            if any(_alike(recording, kept, offset) for offset in sorted(places[index])[:_TRIES]):
                return kept
        return None


def run_order(recording: Recording) -> tuple[str, bool, tuple[float, ...], float]:
    """Return what sorts runs the same way whatever their files are called and whichever format they are in.

    Runs of one script, gain and load are sorted by their mean position, rad. Formats round it by far less
    than it differs between runs.
    """
    return *_header(recording), float(np.mean(recording.position))


def _alike(first_run: Recording, second_run: Recording, offset: int) -> bool:
    """Return whether positions are alike, the first run begun at sample `offset` of the second."""
    first, second = (
        run[max(shift, 0) :] for run, shift in ((first_run.position, -offset), (second_run.position, offset))
    )
    overlap = min(len(first), len(second))
    if overlap < _OVERLAP * min(len(first_run), len(second_run)) or _header(first_run) != _header(second_run):
        return False
    return float(np.mean(np.abs(first[:overlap] - second[:overlap]) < 2.0 * _FINEST)) >= _SAME


def _header(recording: Recording) -> tuple[str, bool, tuple[float, ...]]:
    bench = recording.bench
    numbers = (recording.kp, bench.mass, bench.arm_mass, bench.length, bench.flywheel)
    return recording.script, recording.open_loop, tuple(float(f"{number:.6g}") for number in numbers)


def _fingerprint(recording: Recording) -> dict[int, int]:
    """Return digests of stretches of a run, each with its first sample."""
    steps = np.round(recording.position / _FINEST).astype(np.int64)
    if len(steps) < _STRETCH:
        return {}
    rows = np.lib.stride_tricks.sliding_window_view(steps, _STRETCH)
    changes = np.sum(np.diff(rows, axis=1) != 0, axis=1)
    digests = _mixed(rows)
    kept = np.flatnonzero((digests % np.uint64(_KEPT) == 0) & (changes >= _CHANGES))
    return {int(digests[sample]): int(sample) for sample in kept[::-1]}


def _mixed(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return a digest of each row, alike in all processes."""
    weights = np.random.default_rng(0).integers(1, 2**63, rows.shape[1], dtype=np.uint64) | np.uint64(1)
    with np.errstate(over="ignore"):
        digests = (rows.astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64)
        digests ^= digests >> np.uint64(29)
        digests *= np.uint64(0xBF58476D1CE4E5B9)
        return np.asarray(digests ^ (digests >> np.uint64(32)))
