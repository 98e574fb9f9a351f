# SPDX-License-Identifier: Apache-2.0
"""Search and parameters of a fit in words."""

from __future__ import annotations

from dataclasses import replace

from bam_core.text.fit_findings import (
    AtBound,
    NotConverged,
    ParameterList,
    Undetermined,
    Unidentifiable,
    UnobservedBenchErrors,
    WidenRange,
    in_short,
)
from bam_core.text.uncertainty_findings import ParameterRemark, RunAdvice


def test_only_a_search_whose_trials_were_spent_is_to_get_more() -> None:
    spent, left = (NotConverged(models=("m1", "m4"), spent=spent) for spent in (True, False))
    assert spent.sentences[0] == "m1, m4: the search used all its trials before it converged."
    assert "Give more --trials" in spent.sentence
    assert "--trials" not in left.sentence
    assert "with trials left" in left.sentence


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
