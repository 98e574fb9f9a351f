# SPDX-License-Identifier: Apache-2.0
"""Where a fit starts: at the optimum of a model that it contains, but only where that is near."""

from __future__ import annotations

import pytest

from bam_core.errors import UnknownName
from bam_core.identification.fitting import Fitter
from bam_core.identification.search.methods import METHODS
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.search.space import added_terms
from bam_core.servo.friction import FRICTION_MODELS
from test.core.identification_cases import mx106, record
from test.core.refusals import refused

WARM, COLD = DEFAULT_SCHEDULE.trials_per_parameter, DEFAULT_SCHEDULE.cold_trials_per_parameter


@pytest.mark.parametrize(
    ("inner", "outer", "count"),
    [("m1", "m2", 3), ("m1", "m3", 2), ("m2", "m4", 4), ("m3", "m4", 5), ("m4", "m5", 0), ("m5", "m6", 2)],
)
def test_terms_that_a_model_adds_are_counted_as_coefficients(inner: str, outer: str, count: int) -> None:
    assert added_terms(FRICTION_MODELS[inner], FRICTION_MODELS[outer]) == count


@pytest.mark.parametrize(
    ("budget", "took", "spent"),
    [(200, 86, True), (8800, 8000, True), (8800, 6093, False), (30000, 10215, False)],
)
def test_trials_are_spent_where_too_few_are_left_to_go_on(budget: int, took: int, spent: bool) -> None:
    fitter = Fitter(mx106("m4"), [record(mx106("m4"), "sin_sin", 16.0)], seed=0)
    planned = fitter.plan(FRICTION_MODELS["m4"], trials=budget)
    outcome = Outcome(vector=planned.search.space.base, error=0.1, evaluations=took)
    assert planned._finish(outcome, 1.0).spent == spent


@pytest.mark.parametrize(
    ("before", "model", "wide", "per_parameter"),
    [
        ((), "m1", False, COLD),
        ((), "m4", False, COLD),
        (("m1",), "m3", False, WARM),
        (("m1",), "m4", True, WARM + COLD),
        (("m1", "m2", "m3"), "m4", True, WARM + COLD),
        (("m1", "m4"), "m5", False, WARM),
        (("m1", "m4"), "m6", False, WARM),
    ],
)
def test_a_search_from_models_that_are_far_is_made_again_without_them(
    before: tuple[str, ...], model: str, wide: bool, per_parameter: int
) -> None:
    fitter = Fitter(mx106("m4"), [record(mx106("m4"), "sin_sin", 16.0)], seed=0)
    for name in before:
        fitter.plan(FRICTION_MODELS[name], trials=50).make()
    search = fitter.plan(FRICTION_MODELS[model]).search
    assert (search.wide, len(search.starts)) == (wide, len(before))
    assert search.evaluations == per_parameter * search.space.dimension


def test_budgets_are_those_of_the_schedule() -> None:
    schedule = SearchSchedule(trials_per_parameter=7, cold_trials_per_parameter=11, near_terms=99)
    fitter = Fitter(mx106("m4"), [record(mx106("m4"), "sin_sin", 16.0)], seed=0, schedule=schedule)
    cold = fitter.plan(FRICTION_MODELS["m1"]).search
    assert cold.evaluations == 11 * cold.space.dimension
    fitter.plan(FRICTION_MODELS["m1"], trials=50).make()
    warm = fitter.plan(FRICTION_MODELS["m4"]).search
    assert warm.evaluations == 7 * warm.space.dimension
    assert not warm.wide


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_says_which_search_found_it(method: str) -> None:
    fitter = Fitter(mx106("m1"), [record(mx106("m1"), "sin_sin", 16.0)], seed=0, method=method)
    fit = fitter.plan(FRICTION_MODELS["m1"], trials=60).make()
    assert (fit.method, fit.budget) == (method, 60)
    assert 0 < fit.result.evaluations <= 60


def test_a_search_that_does_not_exist_is_refused() -> None:
    with refused(UnknownName):
        Fitter(mx106("m1"), [record(mx106("m1"), "sin_sin", 16.0)], seed=0, method="cmaes")
