# SPDX-License-Identifier: Apache-2.0
"""How late and how deformed a motion is (Dynaban, section 6): time shift, and the error that remains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape
from bam_core.errors.checks import require_positive

_COARSE = 6  # times the step, in which the neighbourhood is found
_LEAST_SPREAD = 1e-9  # of a signal that moves


@dataclass(frozen=True, kw_only=True)
class Following:
    """How a measured motion follows its goal.

    Attributes:
        delay: by which the measured motion is late, s; negative where it is early.
        deformation: RMS error once shifted back, in the unit of the signals.
        error: RMS error as it is.
    """

    delay: float
    deformation: float
    error: float


def following(
    goal: ArrayLike, measured: ArrayLike, dt: float, *, reach: float = 0.25, step: float = 1e-3
) -> Following:
    """Return how one joint follows: the delay is where measured and goal correlate best.

    Args:
        goal: (n,) at equal times.
        measured: (n,) at the same times.
        dt: between samples, s.
        reach: largest delay looked for, s.
        step: between the delays that are tried, s; between the best and its neighbours a parabola decides.

    Raises:
        BamError: the signals differ in length, are too short, do not move, or are not finite.
    """
    wanted, seen = _signals(goal, measured, dt, reach)
    for name, signal in (("goal", wanted), ("measured", seen)):
        if np.ptp(signal) < _LEAST_SPREAD:
            raise BadData(
                f"following {name}", "does not move", expected="a motion", advice="leave this joint out"
            )
    return _shifted_best(wanted, seen, dt, reach, step, _correlation)


def following_in_space(
    goal: ArrayLike, measured: ArrayLike, dt: float, *, reach: float = 0.25, step: float = 1e-3
) -> Following:
    """Return how a point follows, (n, axes): the delay is where the RMS distance is least, as in the paper.

    Arguments and errors as of `following`.
    """
    wanted, seen = _signals(goal, measured, dt, reach)
    return _shifted_best(wanted, seen, dt, reach, step, lambda a, b: -_rms(a, b))


def _shifted_best(
    wanted: Array, seen: Array, dt: float, reach: float, step: float, merit: Callable[[Array, Array], float]
) -> Following:
    time: Array = np.arange(len(wanted), dtype=np.float64) * np.float64(dt)

    def tried(delays: Array) -> Array:
        return np.array([merit(*_overlap(time, wanted, seen, delay, reach)) for delay in delays])

    coarse = np.linspace(-reach, reach, 2 * round(reach / (_COARSE * step)) + 1)
    around = float(coarse[int(np.argmax(tried(coarse)))])
    delays = np.clip(around + step * np.arange(-_COARSE, _COARSE + 1), -reach, reach)
    merits = tried(delays)
    best = int(np.argmax(merits))
    delay = float(delays[best])
    if 0 < best < len(delays) - 1 and delays[best - 1] < delay < delays[best + 1]:
        before, at, after = merits[best - 1 : best + 2]
        bend = before - 2.0 * at + after
        delay += float(0.5 * step * (before - after) / bend) if bend < 0.0 else 0.0
    return Following(
        delay=delay, deformation=_rms(*_overlap(time, wanted, seen, delay, reach)), error=_rms(wanted, seen)
    )


def _overlap(time: Array, wanted: Array, seen: Array, delay: float, reach: float) -> tuple[Array, Array]:
    """Return the goal, and what is measured `delay` later, where every delay within reach has samples."""
    inside = (time >= reach) & (time <= time[-1] - reach)
    moved = time[inside] + delay
    shifted = np.stack([np.interp(moved, time, column) for column in seen.T], axis=1)
    return wanted[inside], shifted


def _correlation(first: Array, second: Array) -> float:
    first, second = first - first.mean(), second - second.mean()
    size = float(np.sqrt(np.sum(first**2) * np.sum(second**2)))
    return float(np.sum(first * second)) / size if size > 0.0 else -1.0


def _rms(first: Array, second: Array) -> float:
    return float(np.sqrt(np.mean(np.sum((first - second) ** 2, axis=1))))


def _signals(goal: ArrayLike, measured: ArrayLike, dt: float, reach: float) -> tuple[Array, Array]:
    require_positive("following", dt=dt, reach=reach)
    wanted, seen = np.asarray(goal, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    if wanted.shape != seen.shape:
        raise WrongShape("following measured, shape", seen.shape, f"{wanted.shape}, as goal")
    if (len(wanted) - 1) * dt <= 2.0 * reach + 2.0 * dt:
        raise BadData(
            "following",
            f"{len(wanted)} samples last {(len(wanted) - 1) * dt:.3g} s",
            expected=f"more than twice the reach of {reach:g} s",
            advice="record longer",
        )
    if not (np.all(np.isfinite(wanted)) and np.all(np.isfinite(seen))):
        raise BadData(
            "following", "a sample is not finite", expected="numbers", advice="repair the recording"
        )
    if wanted.ndim == 1:
        wanted, seen = wanted[:, None], seen[:, None]
    return wanted, seen
