# SPDX-License-Identifier: Apache-2.0
"""The type of one or two units: as wide as servos in general, and wider where the two differ by more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.few_units import PRIOR_FREEDOM, population_of_few

PRIOR = np.array([0.05, 0.2])
EXACT = 1e-8 * np.eye(2)


def errors(population) -> np.ndarray:
    return np.sqrt(np.diag(population.unseen))


def test_another_unit_deviates_as_servos_in_general_and_so_does_the_one_that_is_known() -> None:
    own = np.diag([0.01, 0.03]) ** 2
    population = population_of_few(np.array([[0.4, 0.5]]), own[None], PRIOR)
    np.testing.assert_allclose(population.mean, [0.4, 0.5])
    np.testing.assert_allclose(population.between, np.diag(PRIOR**2))
    wider = t.ppf(0.975, PRIOR_FREEDOM) / 1.959964
    both = np.hypot(np.sqrt(2.0) * PRIOR, [0.01, 0.03])
    np.testing.assert_allclose(errors(population), wider * both, rtol=1e-5)


def test_two_units_that_agree_leave_some_spread_and_two_that_differ_widen_it() -> None:
    units = np.array([[0.4, 0.5], [0.4, 1.5]])
    population = population_of_few(units, np.array([EXACT, EXACT]), PRIOR)
    share = PRIOR_FREEDOM / (PRIOR_FREEDOM + 1)
    np.testing.assert_allclose(population.between[0, 0], share * PRIOR[0] ** 2, rtol=1e-3)
    np.testing.assert_allclose(
        population.between[1, 1], share * PRIOR[1] ** 2 + 0.5 / (PRIOR_FREEDOM + 1), rtol=1e-3
    )
    np.testing.assert_allclose(population.mean, [0.4, 1.0])


def test_a_difference_that_errors_explain_does_not_widen() -> None:
    far = population_of_few(np.array([[0.4, 0.5], [0.6, 0.5]]), np.array([np.eye(2)] * 2), PRIOR)
    assert far.between[0, 0] == pytest.approx(PRIOR_FREEDOM / (PRIOR_FREEDOM + 1) * PRIOR[0] ** 2)


@pytest.mark.parametrize("units", [1, 2])
def test_intervals_hold_95_percent_of_other_units_if_servos_scatter_as_the_prior_says(units: int) -> None:
    random = np.random.default_rng(units)
    inside = []
    for _ in range(4000):
        spread = PRIOR * np.sqrt(PRIOR_FREEDOM / random.chisquare(PRIOR_FREEDOM, 2))
        true = spread * random.standard_normal((units + 1, 2))
        population = population_of_few(true[:-1], np.array([EXACT] * units), PRIOR)
        inside.append(np.abs(true[-1] - population.mean) < 1.959964 * errors(population))
    np.testing.assert_allclose(np.mean(inside, axis=0), 0.95, atol=0.02)


def test_what_is_no_population_is_refused() -> None:
    with pytest.raises(BadData):
        population_of_few(np.zeros((0, 2)), np.zeros((0, 2, 2)), PRIOR)
    with pytest.raises(WrongShape):
        population_of_few(np.zeros((1, 2)), np.zeros((1, 3, 3)), PRIOR)
    with pytest.raises(WrongShape):
        population_of_few(np.zeros((1, 2)), EXACT[None], PRIOR[:1])
    with pytest.raises(BadData):
        population_of_few(np.full((1, 2), np.nan), EXACT[None], PRIOR)
