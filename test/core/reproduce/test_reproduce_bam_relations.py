# SPDX-License-Identifier: Apache-2.0
"""BAM's statements about models: what holds, what is contradicted, what the data do not decide."""

from __future__ import annotations

import math

import pytest

from bam_core.reproduce._bam_profile import common_factor, deviations, gap, profile_claim
from bam_core.reproduce._bam_relations import Relation, best_of_all, statement, steps
from bam_core.reproduce.claim import Claim
from bam_core.servo.friction import FRICTION_MODELS

AUTHORS = {model: 0.012 - 0.0006 * n for n, model in enumerate(FRICTION_MODELS)}


def mae(**of_model: float) -> dict[str, float]:
    """The same error for all models unless said otherwise, rad."""
    return {**dict.fromkeys(FRICTION_MODELS, 0.02), **of_model}


@pytest.mark.parametrize(
    ("error", "denied", "holds", "contradicts"),
    [
        (0.0188, False, True, False),
        (0.0192, False, False, False),  # alike, which decides nothing
        (0.0208, False, False, False),
        (0.0212, False, False, True),
        (0.0188, True, False, True),
        (0.0192, True, True, False),  # alike: no better
        (0.0212, True, True, False),
    ],
)
def test_a_relation_holds_is_contradicted_or_is_open(
    error: float, denied: bool, holds: bool, contradicts: bool
) -> None:
    relation = Relation(model="m2", than="m1", denied=denied)
    assert relation.holds(mae(m2=error)) is holds
    assert relation.contradicts(mae(m2=error)) is contradicts


def words(relation_mae: dict[str, float]) -> Claim:
    return statement("V", relation_mae, steps(("m1", "m2", "m3")), "real", "each is better", "a cause")


def test_one_opposite_relation_contradicts_a_statement_and_one_open_leaves_it_open() -> None:
    assert words(mae(m2=0.018, m3=0.016)).holds
    undecided = words(mae(m2=0.0199, m3=0.016))
    assert not undecided.holds
    assert not undecided.contradicts
    assert undecided.reason == "the data do not decide: M2 against M1 -0.5 %, alike"
    opposite = words(mae(m2=0.03, m3=0.0299))
    assert opposite.contradicts
    assert opposite.reason == (
        "M2 against M1 +50.0 %, worse; the data do not decide: M3 against M2 -0.3 %, alike; a cause"
    )


def test_the_best_of_all_is_better_than_each_of_the_others() -> None:
    assert statement("V", mae(m4=0.015), best_of_all("m4"), "real", "best").holds
    assert statement("V", mae(m4=0.015, m6=0.01), best_of_all("m4"), "real", "best", "a").contradicts


def profile(**of_model: float) -> Claim:
    ours = {**{model: 0.8 * error for model, error in AUTHORS.items()}, **of_model}
    return profile_claim("a squat", ours, AUTHORS, "a cause")


def test_a_profile_is_free_of_its_level_and_tells_models_apart() -> None:
    assert profile().holds
    assert common_factor({m: 0.8 * e for m, e in AUTHORS.items()}, AUTHORS) == pytest.approx(0.8)
    exchanged = profile(m1=0.8 * AUTHORS["m6"], m6=0.8 * AUTHORS["m1"])
    assert not exchanged.holds
    assert not exchanged.contradicts  # a figure that is missed
    assert exchanged.reason == "a cause"


@pytest.mark.parametrize("level", [0.005, 0.01, 0.03])
def test_models_that_are_all_alike_miss_every_profile(level: float) -> None:
    flat = mae(**dict.fromkeys(FRICTION_MODELS, level))
    assert max(map(abs, deviations(flat, AUTHORS).values())) >= 0.5 * gap(AUTHORS)
    assert gap(AUTHORS) == pytest.approx(math.log(0.012 / 0.009))
    assert not profile_claim("a program", flat, AUTHORS, "a cause").holds
