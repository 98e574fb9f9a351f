# SPDX-License-Identifier: Apache-2.0
"""The choice among models: as simple as selection allows, and no simpler."""

from __future__ import annotations

import pytest

from bam_core.identification.choice.choice import SAME, Contender, choose


def contender(name: str, *errors: float, train: float | None = None) -> Contender:
    return Contender(
        name=name,
        free_parameters=5 + int(name[1:]),
        errors={f"log {i}": error for i, error in enumerate(errors)},
        training_error=train,
    )


def test_the_best_is_chosen_where_it_is_better_on_every_log() -> None:
    choice = choose([contender("m1", 3.0, 5.0, 4.0, train=1.0), contender("m4", 2.0, 4.0, 3.0, train=1.5)])
    assert choice.name == "m4"
    assert "no other model" in choice.reason


GOOD = (("m1", 3.0, 5.0, 2.0), ("m4", 2.0, 4.0, 3.8))  # each is better on some logs and worse on others


def test_of_those_that_selection_cannot_tell_apart_training_errors_take_the_lowest() -> None:
    (simple, rich) = GOOD
    choice = choose([contender(*simple, train=1.1), contender(*rich, train=1.0)])
    assert choice.name == "m4"
    assert [verdict.is_good for verdict in choice.verdicts] == [True, True]
    assert "its training error is higher (1100.00, not 1000.00)" in choice.verdicts[0].words


def test_a_difference_stands_beside_the_errors_that_it_is_of() -> None:
    trained = choose([contender("m1", 0.005, 0.005, train=0.002), contender("m4", 0.003, 0.003, train=0.002)])
    assert trained.verdicts[0].words.startswith("in selection 2.00 mrad worse than m4 (5.00, not 3.00)")
    alone = choose([contender("m1", 0.005, 0.005), contender("m4", 0.003, 0.003)])
    assert alone.verdicts[0].words.startswith("in training 2.00 mrad worse than m4 (5.00, not 3.00)")


def test_and_the_simplest_where_training_errors_are_the_same() -> None:
    (simple, rich) = GOOD
    choice = choose([contender(*simple, train=1.0 + 0.9 * SAME), contender(*rich, train=1.0)])
    assert choice.name == "m1"
    assert "m4 has the lowest" in choice.reason


def test_and_without_selection_in_any_case() -> None:
    assert choose([contender(*each) for each in GOOD]).name == "m1"


def test_a_model_that_selection_rejects_is_not_chosen_however_well_it_was_trained() -> None:
    choice = choose([contender("m4", 2.0, 4.0, 3.0, train=1.5), contender("m6", 3.0, 5.0, 4.0, train=0.5)])
    assert choice.name == "m4"


def test_how_hard_logs_are_does_not_blur_the_difference() -> None:
    # Means are 34 and 35 with standard errors of 33: only log by log the difference is sure.
    choice = choose([contender("m1", 2.0, 3.0, 100.0), contender("m4", 1.0, 2.0, 99.0)])
    assert choice.name == "m4"


def test_one_log_decides_by_more_than_a_trifle_only() -> None:
    trifle, more = 1.0 + 0.9 * SAME, 1.0 + 1.1 * SAME
    assert choose([contender("m1", trifle), contender("m4", 1.0)]).name == "m1"
    (simple, _) = choose([contender("m1", more), contender("m4", 1.0)]).verdicts
    assert "chance" not in simple.words  # one log knows nothing of it
    assert choose([contender("m1", more), contender("m4", 1.0)]).name == "m4"
    assert choose([contender("m5", 1.0)]).name == "m5"


def test_nobody_is_compared_with_models_that_were_not_fitted() -> None:
    alone = choose([contender("m1", 3.0, 5.0)])
    assert alone.reason == "m1 is the only model that was fitted (selection error 4000.00 mrad)"
    assert alone.verdicts[0].words == "the only one"
    simplest = choose([contender("m1", 1.0, 2.0), contender("m4", 3.0, 4.0)])
    assert simplest.reason.endswith("no other model comes within one standard error of it")


def test_every_contender_gets_its_verdict_in_words() -> None:
    choice = choose([contender("m1", 9.0, 9.1), contender("m4", 2.0, 4.0), contender("m6", 2.1, 3.8)])
    words = {verdict.contender.name: verdict.words for verdict in choice.verdicts}
    assert "more than chance" in words["m1"]
    assert words["m4"].startswith("chosen")
    assert words["m6"].endswith("but m4 is simpler")


def test_a_standard_error_needs_two_logs() -> None:
    assert contender("m1", 1.0).standard_error is None
    assert contender("m1", 1.0, 3.0).standard_error == pytest.approx(1.0)


def test_the_reason_names_the_simplest_unless_it_is_the_best() -> None:
    (simple, rich) = GOOD
    assert (
        "log by log, m1 (3333.33 mrad) is the simplest" in choose([contender(*each) for each in GOOD]).reason
    )
    other = choose([contender("m1", *rich[1:]), contender("m4", *simple[1:])])
    assert "log by log, it is the simplest" in other.reason
