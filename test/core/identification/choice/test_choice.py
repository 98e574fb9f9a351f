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
    assert choice.reason.kind == "clearly_best"


GOOD = (("m1", 3.0, 5.0, 2.0), ("m4", 2.0, 4.0, 3.8))  # each is better on some logs and worse on others


def test_of_those_that_selection_cannot_tell_apart_training_errors_take_the_lowest() -> None:
    (simple, rich) = GOOD
    choice = choose([contender(*simple, train=1.1), contender(*rich, train=1.0)])
    assert choice.name == "m4"
    assert [verdict.is_good for verdict in choice.verdicts] == [True, True]
    finding = choice.verdicts[0].finding
    assert finding.kind == "worse_trained"
    assert (finding.training_error, finding.chosen_training_error) == (1.1, 1.0)


def test_a_difference_stands_beside_the_errors_that_it_is_of() -> None:
    trained = choose([contender("m1", 0.005, 0.005, train=0.002), contender("m4", 0.003, 0.003, train=0.002)])
    finding = trained.verdicts[0].finding
    assert (finding.kind, finding.compared, finding.best) == ("worse", "selection", "m4")
    assert (finding.error, finding.best_error) == (0.005, 0.003)
    assert finding.excess == pytest.approx(0.002)
    alone = choose([contender("m1", 0.005, 0.005), contender("m4", 0.003, 0.003)])
    assert alone.verdicts[0].finding.compared == alone.reason.compared == "training"


def test_and_the_simplest_where_training_errors_are_the_same() -> None:
    (simple, rich) = GOOD
    choice = choose([contender(*simple, train=1.0 + 0.9 * SAME), contender(*rich, train=1.0)])
    assert choice.name == "m1"
    assert (choice.reason.kind, choice.reason.best) == ("simplest", "m4")


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
    assert not simple.finding.is_statistical  # one log knows nothing of it
    assert choose([contender("m1", more), contender("m4", 1.0)]).name == "m4"
    assert choose([contender("m5", 1.0)]).name == "m5"


def test_nobody_is_compared_with_models_that_were_not_fitted() -> None:
    alone = choose([contender("m1", 3.0, 5.0)])
    assert (alone.reason.kind, alone.reason.error) == ("only", 4.0)
    assert alone.verdicts[0].finding.kind == "only"
    simplest = choose([contender("m1", 1.0, 2.0), contender("m4", 3.0, 4.0)])
    assert simplest.reason.kind == "clearly_best"


def test_every_contender_gets_its_verdict() -> None:
    choice = choose([contender("m1", 9.0, 9.1), contender("m4", 2.0, 4.0), contender("m6", 2.1, 3.8)])
    findings = {verdict.contender.name: verdict.finding for verdict in choice.verdicts}
    assert findings["m1"].is_statistical
    assert {name: finding.kind for name, finding in findings.items()} == {
        "m1": "worse",
        "m4": "chosen",
        "m6": "more_complex",
    }


def test_a_standard_error_needs_two_logs() -> None:
    assert contender("m1", 1.0).standard_error is None
    assert contender("m1", 1.0, 3.0).standard_error == pytest.approx(1.0)


def test_the_reason_names_the_simplest_unless_it_is_the_best() -> None:
    (simple, rich) = GOOD
    reason = choose([contender(*each) for each in GOOD]).reason
    assert (reason.chosen, reason.best, reason.training_error) == ("m1", "m4", None)
    assert reason.error == pytest.approx(10.0 / 3.0)
    other = choose([contender("m1", *rich[1:]), contender("m4", *simple[1:])])
    assert other.reason.chosen == other.reason.best == "m1"
