# SPDX-License-Identifier: Apache-2.0
"""How much to smooth: the filter that is expected to be the least wrong, chosen from the data alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.whole_body.derivatives import SavitzkyGolay, Scheme, ZeroPhaseButterworth, differentiate
from bam_core.whole_body.estimate import FrictionEstimate
from bam_core.whole_body.joint_log import JointLog

SAVITZKY_GOLAY: tuple[Scheme, ...] = (
    SavitzkyGolay(7, order=6),
    *(SavitzkyGolay(window) for window in (5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193)),
)
"""Order 4, from short to long, behind one of order 6 for data without noise."""
_CUTOFFS = (160.0, 113.0, 80.0, 56.6, 40.0, 28.3, 20.0, 14.1, 10.0, 7.1)
_FINER = 2  # places up the list: half the window, twice the cutoff
_NORMAL = 0.6745  # median of the size of what is normal with RMS 1
_THINNING = 5  # samples per one that is looked at: they are alike
_NOISE_FACTOR = 2.0  # times what noise is expected to change: more than that is no noise
_LEAST_SAMPLES = 25  # without which noise cannot be told from motion
_DIFFERENCE = 6  # order of the differences in which noise drowns motion


def butterworths(dt: float) -> tuple[Scheme, ...]:
    """Return order 6, from high to low cutoffs, for a sampling period in s."""
    return tuple(ZeroPhaseButterworth(cutoff, dt=dt) for cutoff in _CUTOFFS if cutoff < 0.4 / dt)


@dataclass(frozen=True, kw_only=True)
class FilterChoice:
    """What was chosen for a joint, and what was expected of the others.

    Attributes:
        scheme: chosen.
        expected: RMS error that noise and distortion are expected to make, rad/s², or N·m of friction.
        noise: of the joint's positions, RMS, rad.
        candidates: each candidate with its expected error.
    """

    scheme: Scheme
    expected: float
    noise: float
    candidates: tuple[tuple[Scheme, float], ...]


def noise_level(signal: Array) -> float:
    """Return the RMS of white noise on an evenly sampled signal, (n,), by its sixth differences' median."""
    middle = float(np.median(np.abs(np.diff(signal, _DIFFERENCE))))
    return middle / (_NORMAL * math.sqrt(math.comb(2 * _DIFFERENCE, _DIFFERENCE)))


def choose_for_acceleration(
    log: JointLog,
    candidates: Sequence[Scheme] = SAVITZKY_GOLAY,
    wanted: NDArray[np.bool_] | None = None,
) -> dict[str, FilterChoice]:
    """Choose the filter of each joint that makes the least error in its own acceleration.

    Args:
        log: of a robot.
        candidates: from the least to the most smoothing.
        wanted: (n,) samples that matter; all when left out.

    Raises:
        BamError: the log is too short for any candidate, or no samples matter.
    """
    samples = np.flatnonzero(np.ones(len(log), dtype=bool) if wanted is None else wanted)
    own = np.broadcast_to(np.eye(len(log.names)), (len(samples), len(log.names), len(log.names)))
    return _choose(log, log.names, own, None, samples, candidates, {})


def choose_for_friction(
    log: JointLog,
    estimate: FrictionEstimate,
    candidates: Sequence[Scheme] = SAVITZKY_GOLAY,
    wanted: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, FilterChoice]:
    """Choose, for each driven joint, the filter of all accelerations with the least error in its friction.

    A joint's friction takes in the accelerations of all joints, through M_mod: those of the leg that stands,
    which moves most of the robot, weigh more in it than its own.

    Args:
        log: of the robot, arranged.
        estimate: from any filter, for its M_mod.
        candidates: from the least to the most smoothing.
        wanted: by joint, (n,) samples that matter; all of the estimate when left out.

    Raises:
        BamError: the log is too short for any candidate, or no samples matter.
    """
    samples = np.flatnonzero(np.isfinite(estimate.inertia[:, 0, 0]))[::_THINNING]
    inertia = np.zeros((len(samples), len(estimate.joints), len(log.names)))
    columns = [log.names.index(name) for name in estimate.joints]
    inertia[:, :, columns] = estimate.inertia[samples]
    return _choose(log, estimate.joints, inertia, columns, samples, candidates, wanted or {})


def _choose(
    log: JointLog,
    targets: tuple[str, ...],
    gain: Array,
    loads: list[int] | None,
    samples: NDArray[np.int_],
    candidates: Sequence[Scheme],
    wanted: Mapping[str, NDArray[np.bool_]],
) -> dict[str, FilterChoice]:
    """Choose for gain · accelerations, less the efforts in the columns `loads`.

    Noise that passes follows from a filter's weights; what it distorts is what it changes against one half as
    wide, less what noise makes the two differ by; more smoothing never distorts less. The least sum of both
    squares wins.
    """
    if not len(samples):
        raise BadData("filter choice", "no samples to choose by", advice="record longer")
    longest = max(log.stretches, key=lambda stretch: stretch.stop - stretch.start)
    usable = [
        candidate for candidate in candidates if 2 * candidate.before + 1 < longest.stop - longest.start
    ]
    if not usable or longest.stop - longest.start < _LEAST_SAMPLES:
        raise BadData(
            "filter choice", f"{len(log)} samples are too few for any filter", advice="record longer"
        )
    noise = np.array([noise_level(log.position[longest, column]) for column in range(len(log.names))])
    load_noise = np.array([noise_level(log.effort[longest, column]) for column in loads or []])
    motions = [differentiate(log, scheme) for scheme in usable]
    weights = [(scheme.kernel(2, log.dt), scheme.kernel(0, log.dt)) for scheme in usable]
    certain = np.zeros(len(targets))
    squares = []
    for index in range(len(usable)):
        finer = max(index - _FINER, 0)
        valid = (motions[index].valid & motions[finer].valid)[samples]
        change = motions[index].acceleration[samples] - motions[finer].acceleration[samples]
        moved = np.einsum("nij,nj->ni", gain, change)
        if loads is not None:
            moved -= (motions[index].effort[samples] - motions[finer].effort[samples])[:, loads]
        differences = [_difference(*pair) for pair in zip(weights[index], weights[finer], strict=True)]
        row = np.full(len(targets), np.inf)
        for target, name in enumerate(targets):
            mask = valid & (wanted[name][samples] if name in wanted else True)
            if not mask.any():
                continue
            sources = (
                float(np.mean(gain[mask, target] ** 2 @ noise**2)),
                *load_noise[target : target + 1] ** 2,
            )
            passed = sum(
                square * float(weight @ weight)
                for square, weight in zip(sources, weights[index], strict=False)
            )
            noisy = sum(
                square * float(difference @ difference)
                for square, difference in zip(sources, differences, strict=False)
            )
            changed = float(np.mean(moved[mask, target] ** 2))
            distorted = max(changed - noisy, certain[target])
            certain[target] = max(certain[target], changed - _NOISE_FACTOR * noisy)
            row[target] = passed + distorted
        squares.append(row)
    errors = np.sqrt(squares)
    best = np.argmin(errors, axis=0)
    return {
        name: FilterChoice(
            scheme=usable[best[target]],
            expected=float(errors[best[target], target]),
            noise=float(noise[log.names.index(name)]),
            candidates=tuple(zip(usable, errors[:, target].tolist(), strict=True)),
        )
        for target, name in enumerate(targets)
    }


def _difference(wide: Array, narrow: Array) -> Array:
    size = max(len(wide), len(narrow))
    both = np.zeros((2, size))
    for row, weights in zip(both, (wide, narrow), strict=True):
        start = (size - len(weights)) // 2
        row[start : start + len(weights)] = weights
    return np.asarray(both[0] - both[1])
