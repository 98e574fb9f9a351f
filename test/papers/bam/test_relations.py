# SPDX-License-Identifier: Apache-2.0
"""BAM's statements about models: what holds, what is contradicted, what the data do not decide."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.servo.friction import FRICTION_MODELS
from papers.bam.profile import common_factor, deviations, gap, profile_claim
from papers.bam.relations import (
    CLEAR,
    TOO_LITTLE,
    Relation,
    Verdict,
    best_of_all,
    statement,
    steps,
    verdict_of,
)
from papers.claim import UNCERTAIN, Claim

AUTHORS = {model: 0.012 - 0.0006 * n for n, model in enumerate(FRICTION_MODELS)}


def mae(**of_model: float) -> dict[str, float]:
    """The same error for all models unless said otherwise, rad."""
    return {**dict.fromkeys(FRICTION_MODELS, 0.02), **of_model}


def runs(**of_model: float) -> dict[str, Array]:
    """Errors of 30 runs with these means, which are hard for all models alike, and a little apart."""
    random = np.random.default_rng(3)
    hard = np.exp(random.normal(0.0, 0.5, 30))
    found = {}
    for model, mean in mae(**of_model).items():
        errors = hard * np.exp(random.normal(0.0, 0.03, 30))
        found[model] = mean * errors / errors.mean()
    return found


@pytest.mark.parametrize(
    ("error", "better", "no_better"),
    [
        (0.0170, "holds", "opposite"),  # 15 % better: a clear improvement
        (0.0185, "open", "open"),  # 7.5 %: may be one
        (0.0195, "alike", "holds"),  # 2.5 %: sure, and none that the paper would speak of
        (0.0201, "alike", "holds"),
        (0.0210, "alike", "holds"),  # 5 % worse is as little as 5 % better
        (0.0230, "opposite", "holds"),
    ],
)
def test_a_relation_holds_is_refuted_or_is_open(error: float, better: Verdict, no_better: Verdict) -> None:
    errors = runs(m2=error)
    assert Relation(model="m2", than="m1").verdict(errors) == better
    assert Relation(model="m2", than="m1", denied=True).verdict(errors) == no_better


def test_no_interval_makes_a_model_better_and_no_improvement() -> None:
    ends = np.linspace(0.5, 2.0, 151)
    for low, high in itertools.combinations_with_replacement(ends, 2):
        better, denied = verdict_of(low, high, denied=False), verdict_of(low, high, denied=True)
        assert (better == "holds") == (denied == "opposite")
        assert (better in ("opposite", "alike")) == (denied == "holds")
        assert (better == "open") == (denied == "open")
        other_way = verdict_of(1.0 / high, 1.0 / low, denied=False)
        assert (better == "opposite") == (other_way == "holds")


def test_runs_that_are_not_paired_decide_less() -> None:
    paired = runs(m2=0.0175)
    mixed = paired | {"m2": np.random.default_rng(0).permutation(paired["m2"])}
    relation = Relation(model="m2", than="m1")
    assert relation.verdict(paired) == "holds"
    assert relation.verdict(mixed) == "open"


def test_a_clear_improvement_is_half_of_the_smallest_step_of_the_paper() -> None:
    assert pytest.approx(1.0 - 2.34 ** (-0.5 / 5), abs=0.002) == CLEAR


def words(errors: dict[str, Array]) -> Claim:
    return statement("V", errors, steps(("m1", "m2", "m3")), "real", "each is better", "a cause")


def test_what_the_former_limit_left_open_says_so() -> None:
    denial = (Relation(model="m2", than="m1", denied=True),)
    small = statement("V", runs(m2=0.01885), denial, "real", "no better")
    assert small.holds
    assert "5 %" in small.chosen_after
    assert not statement("V", runs(m2=0.0195), denial, "real", "no better").chosen_after


def test_a_small_improvement_is_none_in_either_statement() -> None:
    """M4 'outperforms' M5 by as little as M5 'does not improve' on M4: the former fails, by no opposite."""
    errors = runs(m4=0.0101, m5=0.0100, m6=0.0100)
    denied = (Relation(model="m5", than="m4", denied=True),)
    best = statement("V", errors, best_of_all("m4"), "synthetic", "best", "a cause")
    assert best.missed
    assert best.reason.startswith(f"{TOO_LITTLE}: M4 against M5 +1.0 %")
    assert statement("V", errors, denied, "synthetic", "no better").holds


def test_what_a_paper_says_of_its_own_devices_is_missed_by_others() -> None:
    worse = (runs(m2=0.03), steps(("m1", "m2")), "real", "each is better")
    assert statement("V", *worse).contradicts
    assert statement("V", *worse, of_others=True).missed


def test_one_opposite_relation_contradicts_a_statement_and_one_open_leaves_it_open() -> None:
    assert words(runs(m2=0.018, m3=0.016)).holds
    open_one = words(runs(m2=0.0184, m3=0.016))
    assert open_one.undecided
    assert open_one.reason.startswith(f"{UNCERTAIN}: M2 against M1 -8.0 % (-")
    opposite = words(runs(m2=0.03, m3=0.0276))
    assert opposite.contradicts
    assert not opposite.undecided
    assert opposite.reason.startswith("M2 against M1 +50.0 % (+")
    assert f"{UNCERTAIN}: M3 against" in opposite.reason
    assert opposite.reason.endswith("a cause")


def test_the_best_of_all_is_better_than_each_of_the_others() -> None:
    assert statement("V", runs(m4=0.015), best_of_all("m4"), "real", "best").holds
    assert statement("V", runs(m4=0.015, m6=0.01), best_of_all("m4"), "real", "best", "a").contradicts


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
