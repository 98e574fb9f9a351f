# SPDX-License-Identifier: Apache-2.0
"""The covariance of estimates: that of repeated sessions, and that of a bootstrap that draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from bam_core.identification.search.evidence import Evidence, evidence
from bam_core.identification.search.sensitivity import Sensitivity
from bam_core.identification.uncertainty.covariance import covariance
from test.core.uncertainty_cases import toy


def optimum(problem: Sensitivity) -> tuple[Sensitivity, np.ndarray]:
    """Go to the optimum of a linear problem; return it there, and how far from the truth that is."""
    way = np.zeros(problem.jacobian.shape[1])
    for _ in range(30):
        here = replace(problem, residuals=problem.residuals + problem.jacobian @ way)
        way += evidence(here, cautious=True).shift()
    return replace(problem, residuals=problem.residuals + problem.jacobian @ way), way


@pytest.mark.long
@pytest.mark.parametrize(("logs", "dimension"), [(8, 3), (40, 4)])
def test_it_is_that_of_repeated_sessions(logs: int, dimension: int) -> None:
    ends, told, naive = [], [], []
    for seed in range(100):
        problem, way = optimum(toy(logs, dimension, seed))
        found = evidence(problem)
        ends.append(way)
        told.append(np.diag(covariance(found)))
        naive.append(found.scatter * np.diag(np.linalg.inv(found.total)))
    reach = student.ppf(0.975, logs - 1)
    covered = np.mean(np.abs(ends) < reach * np.sqrt(told), axis=0)
    assert np.all((covered > 0.85) & (covered < 0.995)), covered
    # Samples that err together are not independent: who takes them for that is sure far too soon.
    assert np.all(np.mean(np.abs(ends) < reach * np.sqrt(naive), axis=0) < 0.5)


def test_with_many_logs_it_is_that_of_a_bootstrap_that_draws() -> None:
    problem, _ = optimum(toy(300, 2, 1))
    found = evidence(problem)
    random = np.random.default_rng(0)
    draws = []
    for _ in range(2000):
        counts = random.multinomial(300, np.full(300, 1 / 300))
        information = np.tensordot(counts, found.information, 1)
        draws.append(-np.linalg.solve(information, counts @ found.scores))
    np.testing.assert_allclose(np.diag(covariance(found)), np.var(draws, axis=0), rtol=0.25)


def test_what_no_log_tells_is_as_uncertain_as_the_search_is_wide() -> None:
    problem = toy(12, 3, 0)
    blind = replace(problem, jacobian=problem.jacobian * np.array([1.0, 1.0, 0.0]))
    deviations = np.sqrt(np.diag(covariance(evidence(blind))))
    assert deviations[2] >= 1.0
    assert np.all(deviations[:2] < 0.01)


def test_a_parameter_is_told_as_well_beside_one_that_is_told_ten_thousand_times_better() -> None:
    problem = toy(12, 3, 0)
    beside = replace(problem, jacobian=problem.jacobian * np.array([1e4, 1.0, 1.0]))
    deviations, others = (np.sqrt(np.diag(covariance(evidence(each)))) for each in (problem, beside))
    np.testing.assert_allclose(others, deviations / np.array([1e4, 1.0, 1.0]), rtol=0.1)


def test_no_estimate_is_better_than_the_encoder_allows() -> None:
    perfect = replace(toy(12, 2, 0), residuals=np.zeros(600))
    coarse, fine = (np.diag(covariance(evidence(perfect), resolution=each)) for each in (2e-3, 1e-3))
    np.testing.assert_allclose(coarse, 4.0 * fine, rtol=1e-6)
    least = (2e-3) ** 2 / 12.0 * np.diag(np.linalg.inv(perfect.jacobian.T @ perfect.jacobian))
    np.testing.assert_allclose(coarse, least, rtol=0.05)


def of_logs(information: np.ndarray, scores: np.ndarray) -> Evidence:
    """Logs with this information and these scores, (logs, dimension) each; parameters do not trade."""
    return Evidence(
        information=np.array([np.diag(each) for each in information]),
        scores=scores,
        scatter=1e-12,
        grain=np.eye(information.shape[1]),
        normalised=np.full(information.shape[1], 0.5),
    )


def test_of_equal_logs_it_is_that_of_a_mean() -> None:
    optima = np.array([0.3, -0.1, 0.2, -0.4])  # of each log alone
    information = np.full((4, 1), 5.0)
    found = covariance(of_logs(information, information * optima[:, None]))
    assert found[0, 0] == pytest.approx(np.var(optima, ddof=1) / 4, rel=1e-6)


def test_a_log_counts_the_more_the_larger_its_share_of_the_information() -> None:
    information = np.array([[6.0], [3.0], [1.0]])
    scores = np.array([[0.5], [-0.2], [-0.3]])
    leverage = information / information.sum()
    expected = float(np.sum(scores**2 / (1.0 - leverage))) / 10.0**2
    assert covariance(of_logs(information, scores))[0, 0] == pytest.approx(expected, rel=1e-6)


def test_a_log_that_holds_a_parameter_alone_counts_twenty_times_at_most() -> None:
    information = np.array([[4.0, 9.0], [4.0, 0.0], [4.0, 0.0]])
    scores = np.array([[0.0, 0.02], [0.0, -0.01], [0.0, -0.01]])
    alone = 0.02**2 / 0.05 / 9.0  # whitened
    others = 2 * 0.01**2 / 9.0
    part = 2 / (2 + 3)  # of two parameters and three logs that is of the scatter's mean
    expected = ((1.0 - part) * (alone + others) + part * (alone + others) / 2) / 9.0
    assert covariance(of_logs(information, scores))[1, 1] == pytest.approx(expected, rel=1e-6)
