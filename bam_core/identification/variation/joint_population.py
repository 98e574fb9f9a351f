# SPDX-License-Identifier: Apache-2.0
"""Several parameters over all units, from estimates of some: the typical unit, and how units scatter.

The model: parameters of unit i are estimated as y_i with covariance C_i, and units scatter around a mean with
covariance S (multivariate random effects; Jackson, Riley and White 2011). Variances of S begin at those of
`population`, one parameter at a time. S is where restricted likelihood is largest, by expectation
maximisation (Dempster, Laird and Rubin 1977). Few units do not determine correlations: these are shrunk
towards zero, the more the more parameters there are per unit (Schäfer and Strimmer 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import t

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.population import (
    FEWEST_FOR_SPREAD,
    LEVEL,
    estimate_population,
)

_ROUNDS = 300
_CONVERGED = 1e-5  # relative change of the largest variance, which ends the rounds
_LEAST = 1e-9  # of a variance, in shares of the largest: keeps covariances invertible


@dataclass(frozen=True, kw_only=True)
class JointPopulation:
    """Parameters of one servo type over all units.

    Attributes:
        mean: (parameters,) of the typical unit.
        mean_covariance: (parameters, parameters) of its estimate.
        between: (parameters, parameters) covariance S of units around it.
        units: from which it was estimated.
        freedom: degrees of freedom that the spread is known with, one or more.
    """

    mean: Array
    mean_covariance: Array
    between: Array
    units: int
    freedom: int

    @property
    def unseen(self) -> Array:
        """(parameters, parameters) covariance of a unit that nobody has measured.

        It is so much wider that a normal distribution has the 95 % interval of Student's t, which few units
        call for (`Population.unseen`).
        """
        share = 0.5 + LEVEL / 2.0
        wider = float(t.ppf(share, self.freedom)) / float(ndtri(share))
        return np.asarray(wider**2 * (self.between + self.mean_covariance))


def estimate_joint_population(estimates: Array, covariances: Array) -> JointPopulation:
    """Return what units have in common and how they differ, jointly.

    Args:
        estimates: (units, parameters), three units at least.
        covariances: (units, parameters, parameters) of each unit's estimates, positive definite.

    Raises:
        BamError: the shapes differ, fewer than three units, or numbers that are not finite.
    """
    estimates, covariances = np.asarray(estimates, np.float64), np.asarray(covariances, np.float64)
    units, parameters = estimates.shape
    if covariances.shape != (units, parameters, parameters):
        raise WrongShape("covariances", covariances.shape, f"({units}, {parameters}, {parameters})")
    if units < FEWEST_FOR_SPREAD:
        raise BadData(
            "units",
            f"{units} do not determine how others scatter",
            expected="three or more",
            advice="identify more",
        )
    if not (np.all(np.isfinite(estimates)) and np.all(np.isfinite(covariances))):
        raise BadData("units", "an estimate or its error is not finite", advice="identify that unit again")
    errors = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    spreads = [estimate_population(estimates[:, i], errors[:, i]).spread for i in range(parameters)]
    between = np.diag(np.square(spreads))
    shrink = units / (units + parameters) * np.ones((parameters, parameters))
    np.fill_diagonal(shrink, 1.0)
    for _ in range(_ROUNDS):
        before = between
        between = shrink * _expected(estimates, covariances, _regular(before))
        if np.max(np.abs(np.diag(between - before))) < _CONVERGED * np.max(np.diag(between), initial=1e-30):
            break
    mean, mean_covariance, _ = weighted_mean(estimates, covariances, _regular(between))
    return JointPopulation(
        mean=mean, mean_covariance=mean_covariance, between=between, units=units, freedom=units - 2
    )


def _regular(between: Array) -> Array:
    least = _LEAST * max(float(np.max(np.diag(between))), _LEAST)
    return np.asarray(between + least * np.eye(len(between)))


def weighted_mean(estimates: Array, covariances: Array, between: Array) -> tuple[Array, Array, Array]:
    """Return the mean by generalised least squares, its covariance, and the weights of the units."""
    weights = np.linalg.inv(covariances + between)
    mean_covariance = np.linalg.inv(weights.sum(axis=0))
    mean = mean_covariance @ np.einsum("uij,uj->i", weights, estimates)
    return np.asarray(mean, np.float64), np.asarray(mean_covariance, np.float64), np.asarray(weights)


def _expected(estimates: Array, covariances: Array, between: Array) -> Array:
    """Return the expected mean square of the units' deviations, given their estimates."""
    mean, mean_covariance, weights = weighted_mean(estimates, covariances, between)
    gain = between @ weights
    deviations = np.einsum("uij,uj->ui", gain, estimates - mean)
    left = between - gain @ between + gain @ mean_covariance @ gain.transpose(0, 2, 1)
    total = np.einsum("ui,uj->ij", deviations, deviations) + left.sum(axis=0)
    return np.asarray(0.5 * (total + total.T) / len(estimates))
