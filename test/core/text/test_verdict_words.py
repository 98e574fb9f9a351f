# SPDX-License-Identifier: Apache-2.0
"""The verdict is one sentence of at most 25 words, with the error and what it is good for."""

from __future__ import annotations

import itertools

import pytest

from bam_core.identification.verdict import REASONS
from bam_core.robot.verdict import REASONS as OF_ROBOTS
from bam_core.text.verdict_words import RULE, VERDICTS, headline, reason_words, verdict_words

SCOPES = ((), ("kp",), ("kp", "load", "supply", "script"))
CASES = [
    *itertools.product(["green"], [0.0148], SCOPES, [""]),
    *itertools.product(["yellow"], [0.0148, None], SCOPES, dict.fromkeys((*REASONS[3:], *OF_ROBOTS[1:]))),
    *itertools.product(["red"], [0.0148, None], SCOPES, REASONS[:3]),
]


@pytest.mark.parametrize(("kind", "error", "new", "reason"), CASES)
def test_no_verdict_has_more_than_25_words(
    kind: str, error: float | None, new: tuple[str, ...], reason: str
) -> None:
    words = reason_words(reason, share=0.123, logs=3, count=2, factor=9.0, held=0.76) if reason else ""
    sentence = verdict_words(kind, "m6.yaml", error, 0.038, new, words)
    assert len(sentence.split()) <= 25
    assert len(words.split()) <= 8
    assert "m6.yaml" in sentence
    assert words in sentence
    if kind != "red" and error is not None:
        assert "14.8 mrad" in sentence


def test_a_colour_has_a_word_beside_it() -> None:
    assert [headline(kind) for kind in VERDICTS] == [
        "GREEN, usable",
        "YELLOW, usable with care",
        "RED, not usable",
    ]


def test_the_rule_has_its_thresholds() -> None:
    assert "above 20 % of the motion" in RULE
    assert "at most 5 %" in RULE


def test_too_few_test_logs_are_counted() -> None:
    assert reason_words("few_tests", logs=3) == "the test needs 4 logs, has 3"


@pytest.mark.parametrize(
    ("share", "said"), [(0.0502, "above 5 %"), (0.052, "5.2 %"), (0.13, "13 %"), (0.2, "20 %")]
)
def test_a_share_above_a_limit_does_not_read_as_the_limit(share: float, said: str) -> None:
    assert reason_words("large_error", share=share) == f"that is {said} of the motion"


def test_a_red_share_does_not_read_as_its_limit() -> None:
    assert reason_words("error_above_motion", share=0.2004) == "errors are above 20 % of the motion"
    assert reason_words("error_above_motion", share=1.25) == "errors are 125 % of the motion"


def test_a_green_verdict_says_for_what_and_how_far_off() -> None:
    assert verdict_words("green", "m6.yaml", 0.0018, 0.0038, (), "") == (
        "Use m6.yaml for simulations at recorded gains and loads: "
        "expect position errors of 1.8 mrad, 0.38 % of the motion."
    )
    assert "also at new kp:" in verdict_words("green", "m6.yaml", 0.0018, 0.0038, ("kp",), "")
