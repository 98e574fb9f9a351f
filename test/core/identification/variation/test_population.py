# SPDX-License-Identifier: Apache-2.0
"""What several units say of all: spreads and unseen units are where they are expected, outliers are found."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.population import estimate_population, holm_adjusted

UNITS, SPREAD = 12, 0.18


def fleets(count: int, spread: float, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Return estimates of units, their errors, and the logarithm of a unit that is not among them."""
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        errors = random.uniform(0.02, 0.08, UNITS)
        true = 0.7 + spread * random.standard_normal(UNITS + 1)
        drawn.append((true[:-1] + errors * random.standard_normal(UNITS), errors, float(true[-1])))
    return drawn


def test_the_spread_of_a_fleet_is_found_and_its_interval_holds_it() -> None:
    found = [estimate_population(estimates, errors) for estimates, errors, _ in fleets(150, SPREAD)]
    assert np.median([population.spread for population in found]) == pytest.approx(SPREAD, rel=0.1)
    held = [low <= SPREAD <= high for low, high in (population.spread_interval for population in found)]
    assert 0.91 <= np.mean(held) <= 0.99


def test_a_unit_that_nobody_has_measured_is_within_its_interval() -> None:
    held = []
    for estimates, errors, unseen in fleets(150, SPREAD, seed=1):
        interval = estimate_population(estimates, errors).unseen
        assert interval is not None
        held.append(interval[0] <= unseen <= interval[1])
    assert 0.91 <= np.mean(held) <= 0.99


def test_equal_units_differ_no_more_often_than_told() -> None:
    chances = [estimate_population(*fleet[:2]).difference for fleet in fleets(150, 0.0, seed=2)]
    assert 0.01 <= np.mean(np.array(chances) < 0.05) <= 0.1


def test_one_odd_unit_is_found_among_others_and_no_other_one() -> None:
    random = np.random.default_rng(3)
    estimates = 0.1 * random.standard_normal(UNITS)
    estimates[4] += 1.0
    chances = holm_adjusted(estimate_population(estimates, np.full(UNITS, 0.05)).outlying)
    assert [unit for unit, chance in enumerate(chances) if chance < 0.05] == [4]


def test_two_units_tell_a_difference_and_no_spread_of_others() -> None:
    population = estimate_population(np.array([0.0, 0.4]), np.array([0.05, 0.05]))
    assert population.difference < 1e-4
    assert population.unseen is None
    assert population.outlying.tolist() == [1.0, 1.0]


def test_holm_raises_probabilities_in_their_order() -> None:
    """Holm 1979: the smallest of n counts n times."""
    assert holm_adjusted(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.06, 0.03, 0.06])


@pytest.mark.parametrize(
    ("logarithm", "error", "expected"),
    [
        ([0.1], [0.1], BadData),
        ([0.1, 0.2], [0.1], WrongShape),
        ([0.1, float("nan")], [0.1, 0.1], BadData),
        ([0.1, 0.2], [0.1, 0.0], BadData),
    ],
)
def test_what_cannot_be_compared_is_refused(
    logarithm: list[float], error: list[float], expected: type[Exception]
) -> None:
    with pytest.raises(expected):
        estimate_population(np.array(logarithm), np.array(error))
