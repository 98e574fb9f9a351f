# SPDX-License-Identifier: Apache-2.0
"""The choice in words: a difference stands beside the errors that it is of."""

from __future__ import annotations

from bam_core.text.choice_findings import AblationVerdict
from test.core.finding_cases import choice_reason, model_verdict


def test_a_worse_model_has_its_difference_and_both_errors() -> None:
    assert model_verdict("worse").sentence == (
        "In selection 1.10 mrad worse than m6 (2.08, not 0.98 mrad). "
        "That is more than its standard error over the logs (0.30 mrad)."
    )
    single = model_verdict("worse", is_statistical=False)
    assert single.sentence.endswith("That is more than what does not count (0.30 mrad).")


def test_a_model_that_is_as_good_says_why_it_was_not_taken() -> None:
    assert model_verdict("more_complex").sentences[0] == "As good as m6, but m4 is simpler."
    assert model_verdict("more_complex", is_best=True).sentence == (
        "Lowest selection error, but m4 is simpler."
    )
    assert "(1.10, not 1.00 mrad)" in model_verdict("worse_trained").sentence
    assert model_verdict("chosen", is_best=True).sentence == "Chosen: lowest selection error."


def test_the_reason_names_the_best_and_the_simplest() -> None:
    assert choice_reason("simplest").sentence == (
        "m6 has the lowest selection error (0.98 mrad). "
        "Models within one standard error of it, log by log, are as good. "
        "Of these, m4 (1.00 mrad) is the simplest whose training error (0.80 mrad) is within 2 % "
        "of the lowest."
    )
    assert (
        "Of these, it is the simplest." in choice_reason("simplest", best="m4", training_error=None).sentence
    )
    assert choice_reason("only").sentence == (
        "m4 is the only model that was fitted (selection error 1.00 mrad)."
    )
    assert "No other model" in choice_reason("clearly_best").sentence


def test_what_a_choice_lacks_comes_last() -> None:
    reason = choice_reason("clearly_best", compared="training", not_done=("m5", "m6"))
    assert reason.sentences[-2:] == (
        "There are too few logs for selection.",
        "Interrupted, not done: m5, m6.",
    )


def test_an_effect_within_chance_has_its_standard_error() -> None:
    verdict = AblationVerdict(kind="within_chance", compared="selection", chance=0.001)
    assert "standard error over the logs (1.00 mrad)" in verdict.sentence
