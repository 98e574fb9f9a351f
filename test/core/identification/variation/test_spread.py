# SPDX-License-Identifier: Apache-2.0
"""Spreads are found from runs of known spread: ranks of the truth in the posterior are uniform."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal

from bam_core.identification.variation.factors import GROUPS
from bam_core.identification.variation.spread import (
    PRIOR_MEDIAN,
    PRIOR_SCALE,
    Spread,
    estimate_spread,
    log_likelihood,
)

MEDIANS = np.array([PRIOR_MEDIAN[group] for group in GROUPS])


def runs_of(
    random: np.random.Generator, deviations: dict[str, np.ndarray], sessions: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return pull and information of runs whose log factors scatter around 0.1."""
    count, size = len(sessions), len(GROUPS)
    factors = 0.1 + deviations["run"] * random.standard_normal((count, size))
    if "session" in deviations:
        own = deviations["session"] * random.standard_normal((max(sessions) + 1, size))
        factors += own[sessions]
    roots = 20.0 * random.standard_normal((count, size, size))
    information = roots @ roots.transpose(0, 2, 1) + np.diag([200.0, 200.0, 500.0])
    noise = np.linalg.cholesky(np.linalg.inv(information)) @ random.standard_normal((count, size, 1))
    return np.einsum("rij,rj->ri", information, factors + noise[..., 0]), information


def ranks(repeats: int, levels: tuple[str, ...], runs: int = 24) -> dict[str, np.ndarray]:
    """Return the place (repeats, GROUPS) of true spreads, drawn from the prior, in the posterior, 0..1."""
    random = np.random.default_rng(1)
    sessions = [i % 6 for i in range(runs)]
    places: dict[str, list[np.ndarray]] = {level: [] for level in levels}
    for _ in range(repeats):
        truth = {level: MEDIANS * np.exp(PRIOR_SCALE * random.standard_normal(3)) for level in levels}
        labels = {"session": sessions} if "session" in levels else None
        found = estimate_spread(*runs_of(random, truth, sessions), labels)
        for level in levels:
            places[level].append(np.mean(found.draws[level] < truth[level], axis=0))
    return {level: np.array(rows) for level, rows in places.items()}


def test_ranks_of_the_run_level_are_uniform() -> None:
    """Simulation-based calibration (Talts et al. 2018), a small one: all factors in one test."""
    places = ranks(3, ("run",), runs=8)["run"].ravel()
    assert kstest(places, "uniform").pvalue > 0.01


@pytest.mark.long
def test_ranks_are_uniform_for_every_factor_and_level_and_intervals_hold_their_share() -> None:
    for level, places in ranks(100, ("run", "session")).items():
        for group, column in zip(GROUPS, places.T, strict=True):
            assert kstest(column, "uniform").pvalue > 0.05 / 6, (level, group)  # six of them
        assert 0.92 < np.mean((places > 0.025) & (places < 0.975)) < 0.985, level


def test_many_runs_tell_their_spread() -> None:
    truth = {"run": np.array([0.2, 0.05, 0.02])}
    found = estimate_spread(*runs_of(np.random.default_rng(3), truth, [0] * 150))
    for group, value in zip(GROUPS, truth["run"], strict=True):
        level = found.level(group, "run")
        assert level is not None
        assert level.source == "data"
        assert level.value == pytest.approx(value, rel=0.35), group
        assert level.interval[0] < level.value < level.interval[1]


def test_one_run_leaves_the_prior_and_says_so() -> None:
    pull, information = runs_of(np.random.default_rng(0), {"run": MEDIANS}, [0])
    found = estimate_spread(pull, information)
    for group in GROUPS:
        level = found.level(group, "run")
        assert level is not None
        assert level.source == "prior"
        assert level.value == pytest.approx(PRIOR_MEDIAN[group], rel=0.25)
        assert level.interval[0] < 0.5 * PRIOR_MEDIAN[group] < 2.0 * PRIOR_MEDIAN[group] < level.interval[1]


def test_levels_that_the_runs_do_not_have_are_null() -> None:
    pull, information = runs_of(np.random.default_rng(0), {"run": MEDIANS}, [0] * 4)
    told = estimate_spread(pull, information, {"session": ["a"] * 4, "unit": [1] * 4}).summary()
    assert set(told) == set(GROUPS)
    for group in GROUPS:
        assert told[group]["session"] is None
        assert told[group]["unit"] is None
        assert set(told[group]["run"]) == {"value", "interval", "source"}


def test_units_and_sessions_are_told_apart() -> None:
    random = np.random.default_rng(5)
    units = [i // 8 for i in range(64)]
    sessions = [i // 4 % 2 for i in range(64)]
    of_unit = 0.3 * random.standard_normal((8, 3))
    pull, information = runs_of(random, {"run": np.full(3, 0.02)}, [0] * 64)
    pull = pull + np.einsum("rij,rj->ri", information, of_unit[units])
    found = estimate_spread(pull, information, {"unit": units, "session": sessions})
    for group in GROUPS:
        unit, session, run = (found.level(group, level) for level in ("unit", "session", "run"))
        assert unit is not None
        assert session is not None
        assert run is not None
        assert unit.value == pytest.approx(0.3, rel=0.5)
        assert session.value < 0.5 * unit.value
        assert run.value < 0.2 * unit.value


def test_the_likelihood_is_that_of_the_dense_normal_distribution() -> None:
    """Two units with two sessions of two runs each, against one covariance matrix of all runs."""
    random = np.random.default_rng(7)
    pull, information = runs_of(random, {"run": MEDIANS}, [0] * 8)
    of_run = np.linalg.solve(information, pull[..., None])[..., 0]
    parents = [np.arange(8) // 2, np.arange(4) // 2, np.zeros(2, dtype=np.intp)]

    def dense(deviations: np.ndarray) -> float:
        covariance = np.zeros((24, 24))
        for i in range(8):
            for j in range(8):
                shared = [i == j, i // 2 == j // 2, i // 4 == j // 4]
                block = sum(same * np.diag(own**2) for same, own in zip(shared, deviations, strict=True)) + (
                    i == j
                ) * np.linalg.inv(information[i])
                covariance[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
        # A mean with a wide prior stands for one without.
        covariance += 1e4 * np.kron(np.ones((8, 8)), np.eye(3))
        return float(multivariate_normal(np.zeros(24), covariance).logpdf(of_run.ravel()))

    points = 0.1 * np.exp(0.5 * random.standard_normal((3, 3, 3)))
    ours = log_likelihood(points, information, pull, parents)
    theirs = np.array([dense(point) for point in points])
    assert ours - ours[0] == pytest.approx(theirs - theirs[0], abs=1e-3)


def test_a_spread_at_a_level_is_of_its_own_draws() -> None:
    draws = np.tile([0.1, 0.2, 0.3], (50, 1))
    level = Spread(draws={"run": draws}).level("load", "run")
    assert level is not None
    assert (level.value, level.interval) == (0.2, (0.2, 0.2))
