# SPDX-License-Identifier: Apache-2.0
"""Score and information matrix of every log, with the weights of a fit.

A fit minimises the cost: the mean over logs of a robust error. Near the optimum, the score of a log is the
gradient of its error, and its information matrix is the curvature. Samples within a log are correlated,
because the errors of a model keep their sign for seconds. So no uncertainty depends on the number of samples:
logs are the independent units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.sensitivity import Sensitivity, vector_at
from bam_core.identification.search.space_prior import SpacePrior
from bam_core.identification.search.time_scale import integral_time_scale

LEAST_RMS = 1e-4
"""Smallest root mean square error for weights, rad: finer than any encoder, so that no run dominates."""

# The cost of a weighted residual is quadratic below the transition, and absolute above it (see `refine`).
_TRANSITION = 0.5  # share of the mean absolute weighted residual
_MIN_TRANSITION = 1e-9
_MIN_WORK = 1e-9
_MIN_SCATTER = 1e-12
_BOUND_MARGIN = 1e-12  # share of the search range; the solver rejects a point on its bound
_MIN_INFORMATION_SHARE = 1e-13  # of the largest trace: keeps the sum of the logs invertible in floating point
_CONVERGED_STEP = 1e-6  # share of the search range; a smaller step ends the iteration
_MAX_STEPS = 30

PRIOR = 1.0
"""Standard deviation of the prior of every parameter, in shares of the search range."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Scores and information of logs at one parameter vector.

    Parameters are in shares of their search ranges.

    Attributes:
        information: (logs, dimension, dimension).
        scores: (logs, dimension) gradients of the cost; they sum to zero at an optimum inside the bounds.
        scatter: variance of one weighted residual, used where samples count as independent.
        grain: (dimension, dimension) covariance of the summed scores for independent position errors of the
            samples with a variance of 1 rad².
        normalised: (dimension,) the point at which this was computed, 0..1 of each search range.
        prior: of the parameters; None: there is none.
        per_nat: cost that equals one unit of minus log-likelihood, see `SampleWeights.per_nat`.
    """

    information: Array
    scores: Array
    scatter: float
    grain: Array
    normalised: Array
    prior: SpacePrior | None = None
    per_nat: float = 0.0

    @property
    def prior_information(self) -> Array:
        """(dimension, dimension) of the prior, on the scale of the cost; zero without one."""
        size = len(self.normalised)
        return np.zeros((size, size)) if self.prior is None else self.per_nat * self.prior.precision

    @property
    def score(self) -> Array:
        """(dimension,) gradient of the cost and of the prior."""
        own = np.asarray(self.scores.sum(axis=0))
        return own if self.prior is None else own + self.per_nat * self.prior.gradient(self.normalised)

    @property
    def bounds(self) -> Array:
        """(dimension, dimension) information from the bounds of the search alone."""
        strongest = float(np.max(np.trace(self.information, axis1=1, axis2=2), initial=0.0))
        least = max(self.scatter / PRIOR**2, _MIN_INFORMATION_SHARE * strongest)
        with np.errstate(invalid="ignore"):  # infinite information: `shift` returns no step
            return np.asarray(np.eye(len(self.normalised)) * least)

    @property
    def total(self) -> Array:
        """(dimension, dimension) information of all logs, the prior and the bounds; always invertible."""
        own = self.information.sum(axis=0) + self.bounds
        return np.asarray(own if self.prior is None else own + self.prior_information)

    def shift(self, damping: float = 0.0, lean: Array | float = 0.0) -> Array:
        """Return the step (dimension,) to the optimum of the linear model inside the bounds.

        The step is zero if numbers overflow, as for an arm that never moves.

        Args:
            damping: Marquardt's, as a share of the information; it shortens the step.
            lean: (dimension,) gradient to add to the sum of the scores.
        """
        from scipy.optimize import lsq_linear  # loading takes 0.25 s

        total = self.total
        low, high = -self.normalised - _BOUND_MARGIN, 1.0 - self.normalised + _BOUND_MARGIN
        try:
            factor = np.linalg.cholesky(total + damping * np.diag(np.diag(total)))
            pull = -np.linalg.solve(factor, self.score + lean)
            step = lsq_linear(factor.T, pull, bounds=(low, high), method="bvls").x
        except np.linalg.LinAlgError:
            return np.zeros_like(self.normalised)
        return np.clip(step, -self.normalised, 1.0 - self.normalised)


class SampleWeights:
    """Weights and cost of samples in a fit, with weights fixed at one point."""

    def __init__(self, sensitivity: Sensitivity) -> None:
        self._prior = sensitivity.space.prior
        counts = sensitivity.counts
        mean_square = np.add.reduceat(sensitivity.residuals**2, sensitivity.starts) / counts
        rms = np.maximum(np.sqrt(mean_square), LEAST_RMS)
        self.per_sample: Array = np.repeat(1.0 / np.sqrt(counts * rms), counts)
        weighted = sensitivity.residuals * self.per_sample
        self._transition = max(_TRANSITION * float(np.mean(np.abs(weighted))), _MIN_TRANSITION)
        self.per_nat = 0.0 if self._prior is None else self._per_nat(sensitivity)

    def _per_nat(self, sensitivity: Sensitivity) -> float:
        """Return the cost that equals one unit of minus log-likelihood.

        For independent samples it is the variance of a weighted residual. Correlated ones count as fewer, by
        twice their integral time scale.
        """
        residuals = sensitivity.residuals
        first, second = self.pull(residuals)
        scatter = max(float(np.mean(first**2) / np.mean(second)), _MIN_SCATTER)
        scales = [integral_time_scale(log) for log in np.split(residuals, sensitivity.starts[1:])]
        known = [scale for scale in scales if scale is not None]
        return scatter * max(2.0 * float(np.mean(known)), 1.0) if known else scatter

    def cost(self, residuals: Array, shares: Array | None = None) -> float:
        """Return the cost that a fit minimises.

        Args:
            residuals: (samples,) rad.
            shares: (dimension,) of the search range, at which a prior counts; None: it does not.
        """
        ratio = (residuals * self.per_sample / self._transition) ** 2
        own = float(self._transition**2 * np.sum(np.sqrt(1.0 + ratio) - 1.0))
        if self._prior is None or shares is None:
            return own
        return own + self.per_nat * self._prior.cost(shares)

    def pull(self, residuals: Array) -> tuple[Array, Array]:
        """Return the first and second derivatives of the cost by the weighted residuals, (samples,) each."""
        weighted = residuals * self.per_sample
        growth = 1.0 + (weighted / self._transition) ** 2
        return weighted / np.sqrt(growth), growth**-1.5

    def curvature(self, residuals: Array, *, cautious: bool = False) -> Array:
        """Return the curvature (samples,) of the cost by the weighted residuals.

        Args:
            residuals: (samples,) rad.
            cautious: return the first derivative over the weighted residual, not the second derivative. It is
                larger for large errors, so that steps do not overshoot.
        """
        _, second = self.pull(residuals)
        return np.cbrt(second) if cautious else second

    def lean(self, sensitivity: Sensitivity, offset: Array, *, cautious: bool = False) -> Array:
        """Return the gradient (dimension,) that an offset (samples,) of the residuals, rad, adds."""
        second = self.curvature(sensitivity.residuals, cautious=cautious)
        return np.asarray(sensitivity.jacobian.T @ (second * self.per_sample**2 * offset))


def evidence(sensitivity: Sensitivity, *, cautious: bool = False) -> Evidence:
    """Return scores and information of the logs, from a linear model of their positions.

    Args:
        sensitivity: the linear model.
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
        information = _corrected_for_weights(information, scores, work)
    return Evidence(
        information=information,
        scores=scores,
        scatter=max(float(np.mean(first**2) / np.mean(second)), _MIN_SCATTER),
        grain=grain.T @ grain,
        normalised=sensitivity.normalised,
        prior=sensitivity.space.prior,
        per_nat=sample_weights.per_nat,
    )


def set_right(sensitivity: Sensitivity, offset: Array) -> Sensitivity:
    """Return the linear model at its optimum inside the bounds, with corrected simulations.

    Args:
        sensitivity: the linear model; its Jacobian is kept.
        offset: (samples,) corrected minus simulated positions, rad.
    """
    here, at = sensitivity.normalised, sensitivity
    residuals = sensitivity.residuals + offset
    for _ in range(_MAX_STEPS):
        at = replace(
            sensitivity,
            vector=vector_at(sensitivity.space, here),
            residuals=residuals + sensitivity.jacobian @ (here - sensitivity.normalised),
        )
        step = evidence(at, cautious=True).shift()
        if np.max(np.abs(step)) < _CONVERGED_STEP:
            break
        here = here + step
    return at


def _corrected_for_weights(information: Array, scores: Array, work: Array) -> Array:
    """Return the information of logs, corrected for weights that depend on the logs' own errors.

    The cost of a log grows linearly with its root mean square error. So it has no curvature along its own
    residual, and this part is subtracted.

    Args:
        information: (logs, dimension, dimension) at fixed weights.
        scores: (logs, dimension).
        work: (logs,) first derivative times weighted residual, summed over samples.
    """
    own = scores[:, :, None] * scores[:, None, :] / np.maximum(work, _MIN_WORK)[:, None, None]
    strengths, directions = np.linalg.eigh(information - own)
    return np.asarray((directions * np.maximum(strengths, 0.0)[:, None, :]) @ directions.transpose(0, 2, 1))
