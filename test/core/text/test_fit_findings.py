# SPDX-License-Identifier: Apache-2.0
"""Errors and parameters of a fit in words, which blame nothing that is not known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_core.text.fit_findings import (
    AtBound,
    ErrorsDiffer,
    NotConverged,
    ParameterList,
    ShortErrors,
    Undetermined,
    Unidentifiable,
    UnobservedBenchErrors,
    WidenRange,
    error_difference,
    in_short,
    outliers,
)
from bam_core.text.uncertainty_findings import ParameterRemark, RunAdvice
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


def test_only_a_search_whose_trials_were_spent_is_to_get_more() -> None:
    spent, left = (NotConverged(models=("m1", "m4"), spent=spent) for spent in (True, False))
    assert spent.sentences[0] == "m1, m4: the search used all its trials before it converged."
    assert "Give more --trials" in spent.sentence
    assert "--trials" not in left.sentence
    assert "with trials left" in left.sentence


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


def test_bounds_have_their_range_and_the_way_to_widen_it() -> None:
    bound = AtBound(model="m1", parameter="resistance", value=2.4, low=0.05, high=200.0, unit="Ω")
    assert bound.sentence == "m1, resistance: 2.4 is at the end of its search range, 0.05 to 200 Ω."
    assert "bam servos xl330 >" in WidenRange(servo="xl330").sentence
    own = WidenRange(servo="my.yaml").sentence
    assert "in my.yaml" in own
    assert ">" not in own  # a shell would empty the file before it is read
    listed = ParameterList(kind="at_bounds", parameters=("viscous", "load"))
    assert listed.sentence == "Stopped by the end of the search range: viscous, load."


def test_many_undetermined_parameters_are_one_line_with_the_run_that_helps_most() -> None:
    run = RunAdvice(kind="record", run="sin_sin with 0.5 kg", factor=2.0)
    reasons = [
        ParameterRemark(kind="insensitive", advice=advice)
        for advice in (run, None, run, replace(run, run=""))
    ]
    many = [
        Unidentifiable(model="m4", parameter=name, is_needed=name == "b", remark=reason)
        for name, reason in zip("abcd", reasons, strict=True)
    ]
    widen = WidenRange(servo="my.yaml")
    assert in_short([widen, *many[:3]]) == (widen, *many[:3])
    short = Undetermined(
        model="m4", parameters=tuple("abcd"), needed=("b",), run="sin_sin with 0.5 kg", helps=2
    )
    assert in_short([*many, widen]) == (widen, short)
    assert "Record" not in replace(short, run="", helps=0).sentence


def test_what_logs_do_not_determine_is_named() -> None:
    plain = Unidentifiable(model="m4", parameter="load", is_needed=False, remark=None)
    assert plain.sentence == "m4, load: not identifiable."
    assert replace(plain, is_needed=True).sentence == "m4, load: needed, but not identifiable."
    assert UnobservedBenchErrors(names=("mass", "zero")).sentences[0] == (
        "No log reveals an error of mass, zero."
    )
