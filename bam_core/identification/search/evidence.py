# SPDX-License-Identifier: Apache-2.0
"""Score and information matrix of every log, in the weights that a fit gives it.

A fit minimises the mean over logs of a robust error. Near its optimum each log contributes the gradient of
its error (score) and the curvature (information matrix). Samples within a log are correlated (what the model
lacks keeps its sign for seconds), so no count of samples enters any statement of uncertainty: logs are the
units of evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.sensitivity import Sensitivity, vector_at

LEAST_RMS = 1e-4
"""rad; finer than any encoder, so that a perfect run does not outweigh all others."""

_BEND = 0.5  # of the mean error: beyond it errors count as absolute ones, below it as squares (see `refine`)
_LEAST_BEND = 1e-9
_LEAST_SCATTER = 1e-12
_WHISKER = 1e-12
_LEAST_SHARE = 1e-13  # of the strongest log's information: what arithmetic needs to invert a sum of them
_NEAR = 1e-6  # steps to an optimum that matter no more, in shares of the search range,
_STEPS = 30  # and how many are made at most

PRIOR = 1.0
"""Standard deviation of what is believed before any recording, in shares of the search range."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Scores and information of logs at one parameter vector, parameters in shares of their search range.

    Attributes:
        information: (logs, dimension, dimension).
        scores: (logs, dimension) gradients of the cost; they sum to zero at an optimum inside the bounds.
        scatter: variance of one weighted residual, used where samples count as independent.
        grain: (dimension, dimension) covariance of the summed scores if every sample had an independent error
            of its position with a variance of 1 rad².
        normalised: (dimension,) the point at which this was computed, 0..1 of each search range.
    """

    information: Array
    scores: Array
    scatter: float
    grain: Array
    normalised: Array

    @property
    def bounds(self) -> Array:
        """(dimension, dimension) information from the bounds of the search alone."""
        strongest = float(np.max(np.trace(self.information, axis1=1, axis2=2), initial=0.0))
        least = max(self.scatter / PRIOR**2, _LEAST_SHARE * strongest)
        with np.errstate(invalid="ignore"):  # it may be infinite: then there is no step, see `shift`
            return np.asarray(np.eye(len(self.normalised)) * least)

    @property
    def total(self) -> Array:
        """(dimension, dimension) information of all logs and of the bounds; always invertible."""
        return np.asarray(self.information.sum(axis=0) + self.bounds)

    def shift(self, damping: float = 0.0, lean: Array | float = 0.0) -> Array:
        """Return the step (dimension,) from here to the optimum of the linear model inside the bounds.

        No step where numbers overflow, as those of an arm that never moves do.

        Args:
            damping: Marquardt's, as a share of the information: shortens the step.
            lean: (dimension,) gradient that is added to the sum of the scores.
        """
        from scipy.optimize import lsq_linear  # a quarter of a second to load

        total = self.total
        # The solver does not take bounds at the point itself.
        low, high = -self.normalised - _WHISKER, 1.0 - self.normalised + _WHISKER
        try:
            factor = np.linalg.cholesky(total + damping * np.diag(np.diag(total)))
            pull = -np.linalg.solve(factor, self.scores.sum(axis=0) + lean)
            step = lsq_linear(factor.T, pull, bounds=(low, high), method="bvls").x
        except np.linalg.LinAlgError:
            return np.zeros_like(self.normalised)
        return np.clip(step, -self.normalised, 1.0 - self.normalised)


class SampleWeights:
    """The weights that a fit gives to samples, fixed at one point."""

    def __init__(self, sensitivity: Sensitivity) -> None:
        counts = sensitivity.counts
        mean_square = np.add.reduceat(sensitivity.residuals**2, sensitivity.starts) / counts
        rms = np.maximum(np.sqrt(mean_square), LEAST_RMS)
        self.per_sample: Array = np.repeat(1.0 / np.sqrt(counts * rms), counts)
        weighted = sensitivity.residuals * self.per_sample
        self._bend = max(_BEND * float(np.mean(np.abs(weighted))), _LEAST_BEND)

    def cost(self, residuals: Array) -> float:
        """Return what a fit minimises, for residuals (samples,) in rad."""
        ratio = (residuals * self.per_sample / self._bend) ** 2
        return float(self._bend**2 * np.sum(np.sqrt(1.0 + ratio) - 1.0))

    def pull(self, residuals: Array) -> tuple[Array, Array]:
        """Return first and second derivative of the cost by the weighted residuals, (samples,) each."""
        weighted = residuals * self.per_sample
        bent = 1.0 + (weighted / self._bend) ** 2
        return weighted / np.sqrt(bent), bent**-1.5

    def curvature(self, residuals: Array, *, cautious: bool = False) -> Array:
        """Return the second derivative (samples,) of the cost; if `cautious`, the first over the residual.

        That one stays clearly above zero for large errors, so that steps do not overshoot.
        """
        _, second = self.pull(residuals)
        return np.cbrt(second) if cautious else second

    def lean(self, sensitivity: Sensitivity, offset: Array, *, cautious: bool = False) -> Array:
        """Return the gradient (dimension,) that an offset (samples,) of the residuals, rad, adds."""
        second = self.curvature(sensitivity.residuals, cautious=cautious)
        return np.asarray(sensitivity.jacobian.T @ (second * self.per_sample**2 * offset))


def evidence(sensitivity: Sensitivity, *, cautious: bool = False) -> Evidence:
    """Return what the logs say about the parameters, from how positions answer to these.

    Args:
        sensitivity: of the positions.
        cautious: see `SampleWeights.curvature`.
    """
    sample_weights = SampleWeights(sensitivity)
    residuals = sensitivity.residuals
    first, _ = sample_weights.pull(residuals)
    second = sample_weights.curvature(residuals, cautious=cautious)
    jacobian = sensitivity.jacobian * sample_weights.per_sample[:, None]
    grain = jacobian * (second * sample_weights.per_sample)[:, None]
    logs = [
        slice(*ends) for ends in zip(sensitivity.starts, sensitivity.starts + sensitivity.counts, strict=True)
    ]
    information = np.array([(jacobian[log] * second[log, None]).T @ jacobian[log] for log in logs])
    scores = np.array([first[log] @ jacobian[log] for log in logs])
    if not cautious:
        work = np.array([first[log] @ (residuals * sample_weights.per_sample)[log] for log in logs])
        information = _without_own_weight(information, scores, work)
    return Evidence(
        information=information,
        scores=scores,
        scatter=max(float(np.mean(first**2) / np.mean(second)), _LEAST_SCATTER),
        grain=grain.T @ grain,
        normalised=sensitivity.normalised,
    )


def set_right(sensitivity: Sensitivity, offset: Array) -> Sensitivity:
    """Return the linear model at the optimum that it has, inside the bounds, once simulations are set right.

    Args:
        sensitivity: the linear model.
        offset: (samples,) right minus simulated positions, rad.
    """
    here, at = sensitivity.normalised, sensitivity
    residuals = sensitivity.residuals + offset
    for _ in range(_STEPS):
        at = replace(
            sensitivity,
            vector=vector_at(sensitivity.space, here),
            residuals=residuals + sensitivity.jacobian @ (here - sensitivity.normalised),
        )
        step = evidence(at, cautious=True).shift()
        if np.max(np.abs(step)) < _NEAR:
            break
        here = here + step
    return at


def _without_own_weight(information: Array, scores: Array, work: Array) -> Array:
    """Return the information of logs, corrected for weights that depend on the logs' own errors.

    The cost of a log grows linearly with its root mean square error, so that it has no curvature along its
    own residual; that part is taken away.

    Args:
        information: (logs, dimension, dimension) at fixed weights.
        scores: (logs, dimension).
        work: (logs,) pull times error, summed over samples.
    """
    own = scores[:, :, None] * scores[:, None, :] / np.maximum(work, _LEAST_BEND)[:, None, None]
    strengths, directions = np.linalg.eigh(information - own)
    return np.asarray((directions * np.maximum(strengths, 0.0)[:, None, :]) @ directions.transpose(0, 2, 1))
