# SPDX-License-Identifier: Apache-2.0
"""One or two units: the typical unit, and how others scatter, with a prior from servos in general.

Two units hardly determine a spread, and where they agree by chance it would be zero. So the variance of each
parameter between units has a scaled inverse chi-square prior (Gelman et al., Bayesian Data Analysis,
3rd edition, section 2.6). The prior counts as `PRIOR_FREEDOM` differences; each unit after the first adds
one. Parameters vary independently, because two units determine no correlation.
"""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.joint_population import JointPopulation, weighted_mean

PRIOR_FREEDOM = 3
"""Differences between units that the prior counts as; with fewer it would have no variance."""

MOTOR_SPREAD = 0.05
"""Relative standard deviation of motor constants and armature between units: supply and magnets leave
strength within a few percent (`spread.PRIOR_MEDIAN`)."""

FRICTION_SPREAD = 0.2
"""Of friction and of what else wears: Coulomb friction of one STS3215 differs by as much from session to
session (kscalelabs/sysid, recordings of 2025-03-17)."""

DIRECTION_SPREAD = FRICTION_SPREAD / float(np.sqrt(2.0))
"""Of `friction_direction`, half the relative difference of both directions, if these vary independently.
It is a standard deviation of the value itself."""


def population_of_few(estimates: Array, covariances: Array, prior_spread: Array) -> JointPopulation:
    """Return the type from one or two units, or more, and a prior of their spread.

    Args:
        estimates: (units, parameters).
        covariances: (units, parameters, parameters) of each unit's estimates, positive definite.
        prior_spread: (parameters,) standard deviation between units, above zero, like the estimates.

    Raises:
        BamError: the shapes differ, no unit, or numbers that are not finite.
    """
    estimates, covariances = np.asarray(estimates, np.float64), np.asarray(covariances, np.float64)
    prior = np.asarray(prior_spread, np.float64)
    units, parameters = estimates.shape
    if covariances.shape != (units, parameters, parameters):
        raise WrongShape("covariances", covariances.shape, f"({units}, {parameters}, {parameters})")
    if prior.shape != (parameters,):
        raise WrongShape("prior_spread", prior.shape, f"({parameters},)")
    if units == 0:
        raise BadData("units", "there are none", expected="one or more", advice="identify one")
    if not all(np.all(np.isfinite(values)) for values in (estimates, covariances, prior)):
        raise BadData("units", "an estimate or its error is not finite", advice="identify that unit again")
    more = units - 1
    scatter = np.sum((estimates - estimates.mean(axis=0)) ** 2, axis=0)
    of_errors = more * np.mean(np.diagonal(covariances, axis1=1, axis2=2), axis=0)
    excess = np.maximum(scatter - of_errors, 0.0)  # what errors of the estimates do not explain
    freedom = PRIOR_FREEDOM + more
    between = np.diag((PRIOR_FREEDOM * prior**2 + excess) / freedom)
    mean, mean_covariance, _ = weighted_mean(estimates, covariances, between)
    return JointPopulation(
        mean=mean, mean_covariance=mean_covariance, between=between, units=units, freedom=freedom
    )
