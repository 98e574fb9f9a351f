# SPDX-License-Identifier: Apache-2.0
"""Shares of causes are of data left out of their fit: noise explains nothing there."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.misfit.ranking import Forms, Regression

GROUPS, PATCHES, WINDOWS = 10, 4, 10
"""Windows of a patch err alike, as those of a run do: rows are no independent samples."""

ROWS = GROUPS * PATCHES * WINDOWS
GROUP = np.repeat(np.arange(GROUPS), PATCHES * WINDOWS)
ALL_FORMS = Forms(
    columns=tuple((column,) for column in range(50)), together=6, range=(-np.inf, np.inf), least=0.0
)


def noise(random: np.random.Generator, columns: int) -> np.ndarray:
    return random.normal(size=(GROUPS * PATCHES, columns)).repeat(WINDOWS, axis=0)


def regression(residual: np.ndarray, parameters: np.ndarray, causes: np.ndarray) -> Regression:
    return Regression(residual, parameters, causes, np.ones(ROWS), GROUP, np.zeros(ROWS))


@pytest.mark.parametrize("seed", range(5))
def test_a_cause_made_of_noise_with_many_forms_explains_nothing_of_what_is_left_out(seed: int) -> None:
    random = np.random.default_rng(seed)
    residual, causes = noise(random, 1)[:, 0], noise(random, 50)
    found = regression(residual, np.zeros((ROWS, 1)), causes)
    score = found.score(ALL_FORMS, found.excess)
    assert score.forms  # in the data that it is fitted to it explains more than by chance
    assert score.share <= 0.0


def test_a_cause_that_is_there_explains_the_data_left_out_with_its_coefficient() -> None:
    random = np.random.default_rng(0)
    causes = noise(random, 50)
    residual = 2.0 * causes[:, 7] + 0.1 * noise(random, 1)[:, 0]
    found = regression(residual, np.zeros((ROWS, 1)), causes)
    score = found.score(ALL_FORMS, found.excess)
    assert score.share == pytest.approx(1.0, abs=0.02)
    assert score.forms[0] == 7
    assert score.coefficients[0] == pytest.approx(2.0, abs=0.1)


def test_what_parameters_leave_is_of_groups_that_they_were_not_fitted_to() -> None:
    random = np.random.default_rng(1)
    residual, parameters = noise(random, 1)[:, 0], 1e3 * noise(random, 10)
    found = regression(residual, parameters, np.zeros((ROWS, 1)))
    assert found.excess > residual @ residual
