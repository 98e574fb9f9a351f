# SPDX-License-Identifier: Apache-2.0
"""Descents along valleys as a search wants them: within a number of simulations, with the valley they saw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.gauss_newton import descend, slide
from bam_core.identification.search.sensitivity import Sensitivity, triangle
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.rollout import Rollout

_LEAST_SLOPE = 0.02  # at zero itself a root has none


@dataclass(frozen=True, kw_only=True)
class Refined:
    """Where a refinement arrived.

    Attributes:
        vector: (PARAMETERS,) SI.
        error: mean over training logs of the root mean square position error, rad.
        valley: (dimension, dimension): times a standard normal vector, it gives a step along the valley, in
            coordinates of the space: as long as 1 in the direction that the data determine least, shorter in
            the others by as much as they are determined better.
    """

    vector: Array
    error: float
    valley: Array


class Refiner:
    """Descents on the positions of recordings.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
    """

    def __init__(self, rollout: Rollout, space: SearchSpace) -> None:
        self._rollout = rollout
        self._space = space

    def refine(self, vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        """Descend from one parameter vector.

        Args:
            vector: (PARAMETERS,) SI.
            evaluations: simulations of all training logs that it may take, enough for a step (see
                `gauss_newton.evaluations_for`).
            spend: called with the simulations that follow; may raise to end the descent.

        Returns:
            The point arrived at, usually but not always a better one.
        """
        return self._refined(
            descend(self._rollout, self._space, vector, evaluations=evaluations, spend=spend)
        )

    def slide(self, vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        """Do as `refine`, by slopes alone: enough where nothing is rough."""
        return self._refined(slide(self._rollout, self._space, vector, evaluations=evaluations, spend=spend))

    @staticmethod
    def _refined(sensitivity: Sensitivity) -> Refined:
        mean_squares = np.add.reduceat(sensitivity.residuals**2, sensitivity.starts) / sensitivity.counts
        return Refined(
            vector=sensitivity.vector,
            error=float(np.sqrt(mean_squares).mean()),
            valley=_valley(sensitivity),
        )


def _valley(sensitivity: Sensitivity) -> Array:
    """Return the step matrix of `Refined`."""
    weights = np.repeat(1.0 / np.sqrt(sensitivity.counts), sensitivity.counts)
    jacobian = sensitivity.jacobian * weights[:, None] * _shares_per_coordinate(sensitivity)
    _, strengths, directions = np.linalg.svd(triangle(jacobian), full_matrices=False)
    weakest = max(float(strengths[-1]), 1e-6 * float(strengths[0]), 1e-12)
    steps = directions.T * (weakest / np.maximum(strengths, weakest))
    # BLAS rounds products of a transposed array differently: one that a study kept would give other hops.
    return np.ascontiguousarray(steps)


def _shares_per_coordinate(sensitivity: Sensitivity) -> Array:
    """Return the slopes (dimension,) of shares by coordinates, their roots where a parameter may be zero."""
    point = sensitivity.space.point(sensitivity.vector)
    slopes = np.maximum(2.0 * point, _LEAST_SLOPE)
    return np.array(
        [
            slope if axis.low == 0.0 else 1.0
            for axis, slope in zip(sensitivity.space.axes, slopes, strict=True)
        ]
    )
