# SPDX-License-Identifier: Apache-2.0
"""Where a fit starts: at the optimum of a model that it contains, but only where that is near."""

from __future__ import annotations

import pytest
from identification_cases import mx106, record

from bam_core.identification.fitting import COLD_TRIALS_PER_PARAMETER, TRIALS_PER_PARAMETER, Fitter
from bam_core.identification.search.space import added_terms
from bam_core.servo.friction import FRICTION_MODELS


@pytest.mark.parametrize(
    ("inner", "outer", "count"),
    [("m1", "m2", 3), ("m1", "m3", 2), ("m2", "m4", 4), ("m3", "m4", 5), ("m4", "m5", 0), ("m5", "m6", 2)],
)
def test_terms_that_a_model_adds_are_counted_as_coefficients(inner: str, outer: str, count: int) -> None:
    assert added_terms(FRICTION_MODELS[inner], FRICTION_MODELS[outer]) == count


@pytest.mark.parametrize(
    ("before", "model", "near"),
    [
        ((), "m1", False),
        (("m1",), "m3", True),
        (("m1",), "m4", False),
        (("m1", "m2", "m3"), "m4", False),
        (("m1", "m4"), "m5", True),
        (("m1", "m4"), "m6", True),
    ],
)
def test_a_search_starts_from_models_that_are_near_and_is_wide_where_none_is(
    before: tuple[str, ...], model: str, near: bool
) -> None:
    fitter = Fitter(mx106("m4"), [record(mx106("m4"), "sin_sin", 16.0)], seed=0)
    for name in before:
        fitter.plan(FRICTION_MODELS[name], trials=50).make()
    planned = fitter.plan(FRICTION_MODELS[model])
    assert planned.search.wide is not near
    assert len(planned.search.starts) == len(before)
    per_parameter = TRIALS_PER_PARAMETER if near else COLD_TRIALS_PER_PARAMETER
    assert planned.search.evaluations == per_parameter * planned.search.space.dimension
