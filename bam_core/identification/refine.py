# SPDX-License-Identifier: Apache-2.0
"""Least squares from a good point: what carries a search the last stretch, along valleys that CMA-ES crawls.

Friction parameters trade with each other, so the error has long curved valleys. The simulated positions are
nearly linear in the parameters along them: a few Gauss-Newton steps go where thousands of samples would.
Squared errors lead along a valley more surely than absolute ones, whose slope is rough with stiction; those
have the last word. Where the arm almost stops, a trifle decides whether it sticks, so that a run or two are
far off even with the true parameters. Squares would let these runs speak for all; so each run is weighed by
how well it is followed, and what counts is the mean over runs of their root mean square errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from bam_core.identification.space import SearchSpace
from bam_core.rollout import Rollout
from bam_core.samples import strides

Array = NDArray[np.float64]

_STEP = 3e-3  # of the finite differences, in coordinates: wide, because stiction makes the error rough
_LEAST_RMS = 1e-4  # rad; finer than any encoder, so that a perfect run does not outweigh all others
_TOLERANCE = 1e-6  # the bottom of a valley hardly slopes
_NUDGE = 0.005  # least distance of the start to the bounds: at zero a square scale has no slope


@dataclass(frozen=True, kw_only=True)
class Refined:
    """Where a refinement arrived.

    Attributes:
        vector: (PARAMETERS,) SI.
        error: mean over training logs of the root mean square position error, rad.
        valley: (dimension, dimension): times a standard normal vector, it gives a step along the valley: as
            long as 1 in the direction that the data tell least about, shorter in the others by as much as
            they tell more.
    """

    vector: Array
    error: float
    valley: Array


class Refiner:
    """Least squares on the positions of recordings.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
    """

    def __init__(self, rollout: Rollout, space: SearchSpace) -> None:
        self._space = space
        self._samples = rollout.samples(strides(rollout.recordings))
        # Every log counts the same, however many samples it has.
        self._counts = self._samples.counts
        self._starts = np.concatenate([[0], np.cumsum(self._counts)[:-1]])
        self._shares = np.repeat(1.0 / np.sqrt(self._counts), self._counts)

    def refine(
        self, vector: Array, evaluations: int, spend: Callable[[int], None], *, robust: bool = False
    ) -> Refined:
        """Descend from one parameter vector.

        Args:
            vector: (PARAMETERS,) SI.
            evaluations: simulations of all training logs that it may take: one per dimension and two, or
                more.
            spend: called with the simulations that follow; may raise to end the descent.
            robust: weigh large errors nearly as absolute ones, not as squares.

        Returns:
            The point arrived at, usually but not always a better one.
        """
        rounds = max((evaluations - 1) // (self._space.dimension + 1), 1)  # each a Jacobian and a residual
        start = np.clip(self._space.point(vector), _NUDGE, 1.0 - _NUDGE)
        first = self._residuals(start[None])[0]
        spend(1)
        weights = np.repeat(1.0 / np.sqrt(np.maximum(self._rms(first), _LEAST_RMS)), self._counts)
        known: tuple[Array, Array] = (start, first * weights)

        def residuals(point: Array) -> Array:
            nonlocal known
            if not np.array_equal(point, known[0]):
                spend(1)
                known = (point.copy(), self._residuals(point[None])[0] * weights)
            return known[1]

        def jacobian(point: Array) -> Array:
            here = residuals(point)
            spend(len(point))
            steps = np.where(point + _STEP < 1.0, _STEP, -_STEP)
            there = self._residuals(point + np.diag(steps))
            return np.asarray((there * weights - here).T / steps)

        found = least_squares(
            residuals,
            start,
            jac=jacobian,
            bounds=(0.0, 1.0),
            method="dogbox",
            x_scale="jac",
            loss="soft_l1" if robust else "linear",
            f_scale=max(0.5 * float(np.mean(np.abs(known[1]))), 1e-6),
            xtol=_TOLERANCE,
            ftol=_TOLERANCE,
            gtol=None,
            max_nfev=rounds,
        )
        return Refined(
            vector=self._space.vectors(found.x[None])[0],
            error=float(self._rms(found.fun / weights).mean()),
            valley=_valley(found.jac),
        )

    def _residuals(self, points: Array) -> Array:
        """Return the weighed deviations of simulated positions, (points, samples)."""
        simulated = self._samples.positions(self._space.vectors(points))
        # A diverged simulation is far off, not without a value.
        return np.nan_to_num(simulated - self._samples.measured, nan=math.tau, posinf=math.tau) * self._shares

    def _rms(self, residuals: Array) -> Array:
        """Return the root mean square error of every log, rad, from what `_residuals` returned."""
        return np.sqrt(np.add.reduceat(residuals**2, self._starts))


def _valley(jacobian: Array) -> Array:
    """Return the step matrix of `Refined` for a Jacobian (samples, dimension)."""
    _, strengths, directions = np.linalg.svd(jacobian, full_matrices=False)
    weakest = max(float(strengths[-1]), 1e-6 * float(strengths[0]), 1e-12)
    return np.asarray(directions.T * (weakest / np.maximum(strengths, weakest)))
