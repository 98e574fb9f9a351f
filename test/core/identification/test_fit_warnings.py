# SPDX-License-Identifier: Apache-2.0
"""Warnings of a fit: searches, bounds, logs that stand out, parameters that are not identifiable."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import pytest

from bam_core.identification.choice.model_fit import MATTERS
from bam_core.identification.result import Identification
from bam_core.identification.search.space import search_space
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.error_findings import ErrorsDiffer, Outliers
from bam_core.text.finding import Finding
from bam_core.text.fit_findings import AtBound, NotConverged, Unidentifiable
from bam_core.text.uncertainty_findings import ParameterRemark
from test.core.identified_cases import effect, estimate, found

T = TypeVar("T", bound=Finding)


def of_kind(result: Identification, kind: type[T]) -> list[T]:
    """Warnings of one class."""
    return [finding for finding in result.warnings if isinstance(finding, kind)]


def test_an_effect_that_is_needed_and_vague_is_called_both() -> None:
    estimates = (
        estimate("viscous", 0.1, 0.0, 9.0, told=False),
        estimate("winding_heating", 1.4, 0.5, 5.0, told=False),
        estimate("zero_offset", 0.1, 0.09, 0.11, told=True),
        estimate("command_delay", 0.001, 0.0, 0.1, told=False),
    )
    effects = (effect("winding_heating", 0.02), effect("zero_offset", 0.02), effect("command_delay", 0.0101))
    findings = of_kind(found(estimates, effects), Unidentifiable)
    assert [(finding.parameter, finding.is_needed) for finding in findings] == [
        ("viscous", False),
        ("winding_heating", True),
        ("command_delay", False),
    ]
    assert {finding.remark for finding in findings} == {ParameterRemark(kind="insensitive")}


def test_a_search_that_did_not_come_to_rest_is_told_by_whether_its_trials_were_spent() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    fits = {
        "m1": replace(fit, spent=True),
        "m2": replace(fit, spent=False),
        "m3": replace(fit, converged=True, spent=True),
        "m4": replace(fit, spent=True),
        "m5": replace(fit, spent=True, spread=0.99 * MATTERS),
    }
    assert of_kind(replace(identification, fits=fits), NotConverged) == [
        NotConverged(models=("m1", "m4"), spent=True),
        NotConverged(models=("m2",), spent=False),
    ]


def test_searches_and_ranges_of_models_that_cannot_be_chosen_are_passed_over() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    parameter = next(axis.name for axis in fit.space.axes)
    open_fit = replace(fit, spent=True, at_bound=(parameter,))
    fits = {
        "m1": replace(open_fit, selection={"a": 0.010}),
        "m2": replace(open_fit, selection={"a": 0.0145}),
        "m3": replace(open_fit, selection={"a": 0.0155}),
    }
    result = replace(identification, fits=fits)
    assert of_kind(result, NotConverged) == [NotConverged(models=("m1", "m2"), spent=True)]
    assert len(of_kind(result, AtBound)) == 2


def test_a_search_with_fewer_trials_than_by_default_is_told_however_close_its_ends_are() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    short = replace(fit, spent=True, limited=True, spread=0.0)
    assert of_kind(replace(identification, fits={"m1": short}), NotConverged) == [
        NotConverged(models=("m1",), spent=True)
    ]


def test_logs_and_tests_that_stand_out_are_told() -> None:
    result = found(())
    (fit,) = result.fits.values()
    assert of_kind(result, ErrorsDiffer) == of_kind(result, Outliers) == []
    easy = replace(fit, test=dict.fromkeys(fit.test, 0.004))
    (apart,) = of_kind(replace(result, fits={"m1": easy}), ErrorsDiffer)
    assert (apart.kind, apart.factor) == ("better_than_training", pytest.approx(2.5))
    outlying = {**dict.fromkeys("abcde", 0.01), "odd": 0.2}
    (finding,) = of_kind(replace(result, fits={"m1": replace(fit, per_log=outlying)}), Outliers)
    assert (finding.logs, finding.is_explained) == (("odd",), False)


def test_nothing_is_said_of_parameters_that_nobody_estimated() -> None:
    assert of_kind(found(()), Unidentifiable) == []


def test_a_parameter_at_the_end_of_its_range_is_told_with_the_range() -> None:
    assert of_kind(found((), at_bound=("resistance",)), AtBound) == [
        AtBound(model="m1", parameter="resistance", value=2.4, low=0.05, high=200.0, unit="Ω")
    ]


def test_so_is_one_of_the_bench() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    space = search_space(FRICTION_MODELS["m1"], identification.split.train, effects=["zero_offset"])
    servo = replace(fit.servo, search=replace(fit.servo.search, effects=("zero_offset",)))
    bench = BenchEffects(zero_offset=0.1)
    stopped = replace(fit, servo=servo, bench_effects=bench, space=space, at_bound=("zero_offset",))
    assert of_kind(replace(identification, fits={"m1": stopped}), AtBound) == [
        AtBound(model="m1", parameter="zero_offset", value=0.1, low=-0.1, high=0.1, unit="rad")
    ]
