# SPDX-License-Identifier: Apache-2.0
"""The typical unit and the joint scatter of units: recovered from estimates whose errors trade."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.joint_population import estimate_joint_population

BETWEEN = np.array([[0.04, 0.03, 0.0], [0.03, 0.04, 0.0], [0.0, 0.0, 0.0025]])
MEAN = np.array([0.3, 0.5, 0.7])


def fleet(units: int, seed: int, between: np.ndarray = BETWEEN) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return estimates, their covariances, and a further unit; errors of the first two parameters trade."""
    random = np.random.default_rng(seed)
    sizes = random.uniform(0.5, 1.5, units)[:, None, None] * 0.05
    way = np.array([[1.0, -1.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.0, 0.2]])
    factors = sizes * way.T
    true = random.multivariate_normal(MEAN, between, size=units + 1)
    estimates = true[:-1] + np.einsum("uij,uj->ui", factors, random.standard_normal((units, 3)))
    return estimates, factors @ factors.transpose(0, 2, 1) + 1e-9 * np.eye(3), true[-1]


def test_covariance_between_units_is_recovered_beside_that_of_their_errors() -> None:
    found = [estimate_joint_population(*fleet(12, seed)[:2]) for seed in range(40)]
    between = np.mean([population.between for population in found], axis=0)
    np.testing.assert_allclose(np.diag(between), np.diag(BETWEEN), rtol=0.15)
    assert 0.5 * BETWEEN[0, 1] < between[0, 1] < 1.05 * BETWEEN[0, 1]  # shrunk by 12/15
    means = np.array([population.mean for population in found])
    np.testing.assert_allclose(means.mean(axis=0), MEAN, atol=0.03)
    reported = np.mean([np.diag(population.mean_covariance) for population in found], axis=0)
    np.testing.assert_allclose(np.var(means, axis=0), reported, rtol=0.5)


def test_an_unseen_unit_is_within_its_intervals() -> None:
    held = []
    for seed in range(150):
        estimates, covariances, unseen = fleet(12, 1000 + seed)
        population = estimate_joint_population(estimates, covariances)
        held.append(np.abs(unseen - population.mean) < 1.96 * np.sqrt(np.diag(population.unseen)))
    assert 0.91 <= np.mean(held) <= 0.99


def test_errors_of_equal_units_pass_for_no_spread() -> None:
    found = [estimate_joint_population(*fleet(12, seed, 0.0 * BETWEEN)[:2]) for seed in range(20)]
    spread = np.sqrt(np.mean([np.diag(population.between) for population in found], axis=0))
    assert np.all(spread < 0.3 * 0.05)


def test_what_tells_no_spread_is_refused() -> None:
    estimates, covariances, _ = fleet(4, 0)
    with pytest.raises(BadData):
        estimate_joint_population(estimates[:2], covariances[:2])
    with pytest.raises(WrongShape):
        estimate_joint_population(estimates, covariances[:3])
    with pytest.raises(BadData):
        estimate_joint_population(estimates * np.nan, covariances)
