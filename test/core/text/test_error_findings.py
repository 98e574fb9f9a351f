# SPDX-License-Identifier: Apache-2.0
"""Errors of a fit in words, which blame nothing that is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_core.text.error_findings import ErrorsDiffer, ShortErrors, error_difference, outliers
from test.core.finding_cases import TEST_ERROR

TRAINING = {"a": 0.010, "b": 0.012, "odd": 0.120, "c": 0.011}


def test_a_log_that_is_followed_far_worse_than_the_others_has_its_share_and_no_cause() -> None:
    finding = outliers(TRAINING, TRAINING, explained=False)
    assert finding is not None
    assert (finding.logs, finding.share) == (("odd",), pytest.approx(0.78, abs=0.01))
    assert finding.sentences == (
        "odd: followed 10 times worse than the median log.",
        "That is 78 % of the training error.",
        "Look at the motion with bam view.",
        "A wrong mass, length, kp or supply in its header leads to that.",
        "So does an arm that nearly sticks.",
    )
    assert replace(finding, is_explained=True).sentences == finding.sentences[:2]
    aside = {name: error for name, error in TRAINING.items() if name != "odd"}
    alone = outliers(TRAINING, aside, explained=True)
    assert alone is not None
    assert alone.sentences == finding.sentences[:1]  # of the test: no share


def test_sound_logs_are_no_outliers() -> None:
    for errors in ((0.010, 0.030, 0.012), (0.001, 0.009, 0.001)):
        logs = dict(zip("abc", errors, strict=True))
        assert outliers(logs, logs, explained=False) is None
    assert outliers({}, {}, explained=False) is None


@pytest.mark.parametrize(
    ("test", "selection", "words"),
    [
        (0.010, 0.1, ""),
        (0.021, 0.01, "Test logs are followed 2.1 times worse"),
        (0.0048, 0.01, "Test logs are followed 2.1 times better"),
        (float("nan"), 0.021, "Logs held out in selection are followed 2.1 times worse"),
        (float("nan"), 0.001, ""),
    ],
)
def test_a_test_far_from_training_is_reported_to_either_side(
    test: float, selection: float, words: str
) -> None:
    finding = error_difference(0.010, TRAINING, test, selection)
    assert (finding is not None) == bool(words)
    if isinstance(finding, ErrorsDiffer):
        assert finding.sentence.startswith(words)
        shares = "Largest shares of the training error: odd (78 %) and b (8 %)."
        assert (shares in finding.sentences) == ("better" in words)
        again = error_difference(0.010, {}, test, selection)
        assert again is not None
        assert shares not in again.sentences


def test_a_test_error_has_its_interval_from_four_logs_on() -> None:
    assert TEST_ERROR.sentence == (
        "Test error of m6: 1.20 mrad (kp=800: 7 logs, 95 % interval 1.00 to 1.40 mrad)."
    )
    assert "(kp=800: 3 logs, too few for an interval)" in replace(TEST_ERROR, logs=3).sentence
    assert "(kp=800: one log)" in replace(TEST_ERROR, logs=1, interval=None).sentence
    both = replace(TEST_ERROR, seeds=(("m6", 0.0011), ("m4", 0.0013)), restart=0.25)
    assert both.sentences[1:] == (
        "2 seeds choose m6, m4, with test errors of 1.10 to 1.30 mrad.",
        "Errors are in open loop, restarted from measured states every 0.25 s.",
    )
    assert replace(TEST_ERROR, error=None).sentence.startswith("No test set: ")


def test_short_errors_have_their_periods() -> None:
    assert ShortErrors(errors=((0.25, 0.001), (1.0, 0.002))).sentence == (
        "Restarted from measured states every 0.25 s: 1.00 mrad, every 1 s: 2.00 mrad."
    )
