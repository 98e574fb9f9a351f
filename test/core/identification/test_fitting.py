# SPDX-License-Identifier: Apache-2.0
"""Where a fit starts: at the optimum of a model that it contains, but only where that is near."""

from __future__ import annotations

import pytest

from bam_core.identification.fitting import COLD_TRIALS_PER_PARAMETER, TRIALS_PER_PARAMETER, Fitter
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.space import added_terms
from bam_core.servo.friction import FRICTION_MODELS
from test.core.identification_cases import mx106, record


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
    assert planned._made(outcome, 1.0).spent == spent


@pytest.mark.parametrize(
    ("before", "model", "wide", "per_parameter"),
    [
        ((), "m1", False, COLD_TRIALS_PER_PARAMETER),
        ((), "m4", False, COLD_TRIALS_PER_PARAMETER),
        (("m1",), "m3", False, TRIALS_PER_PARAMETER),
        (("m1",), "m4", True, TRIALS_PER_PARAMETER + COLD_TRIALS_PER_PARAMETER),
        (("m1", "m2", "m3"), "m4", True, TRIALS_PER_PARAMETER + COLD_TRIALS_PER_PARAMETER),
        (("m1", "m4"), "m5", False, TRIALS_PER_PARAMETER),
        (("m1", "m4"), "m6", False, TRIALS_PER_PARAMETER),
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
