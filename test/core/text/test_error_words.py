# SPDX-License-Identifier: Apache-2.0
"""Errors log by log: what is told of them blames nothing that is not known."""

from __future__ import annotations

import pytest

from bam_core.text.error_words import far_from_training, not_converged, outliers

TRAINING = {"a": 0.010, "b": 0.012, "odd": 0.120, "c": 0.011}


def test_a_log_that_is_followed_far_worse_than_the_others_is_told_with_its_share_and_no_cause() -> None:
    line = outliers(TRAINING, TRAINING, explained=False)
    assert line.startswith(
        "odd: followed 10 times worse than the median log, 78% of the training error; watch it"
    )
    assert "its header leads to that, and so does an arm that nearly sticks" in line
    assert outliers(TRAINING, TRAINING, explained=True).endswith("78% of the training error")
    aside = {name: error for name, error in TRAINING.items() if name != "odd"}
    assert outliers(TRAINING, aside, explained=True).endswith("the median log")  # of the test: no share


def test_sound_logs_are_not_told() -> None:
    for errors in ((0.010, 0.030, 0.012), (0.001, 0.009, 0.001)):
        logs = dict(zip("abc", errors, strict=True))
        assert outliers(logs, logs, explained=False) == ""
    assert outliers({}, {}, explained=False) == ""


@pytest.mark.parametrize(
    ("test", "selection", "said"),
    [
        (0.010, 0.1, ""),
        (0.021, 0.01, "test logs are followed 2.1 times worse"),
        (0.0048, 0.01, "test logs are followed 2.1 times better"),
        (float("nan"), 0.021, "logs left out in selection are followed 2.1 times worse"),
        (float("nan"), 0.001, ""),
    ],
)
def test_a_test_far_from_training_is_told_to_either_side(test: float, selection: float, said: str) -> None:
    line = far_from_training(0.010, TRAINING, test, selection)
    assert line.startswith(said)
    assert bool(line) == bool(said)
    assert ("those of odd (78%) and b (8%)" in line) == ("better" in said)
    assert "those of" not in far_from_training(0.010, {}, test, selection)


def test_only_a_search_whose_trials_were_spent_is_to_get_more() -> None:
    assert "give more --trials" in not_converged(spent=True)
    assert "--trials" not in not_converged(spent=False)
    assert "with trials left" in not_converged(spent=False)
