# SPDX-License-Identifier: Apache-2.0
"""An identification in words: what is needed, what is small and what nobody knows are told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.cli.identification_text import (
    errors_apart,
    models_table,
    outliers,
    small_parameters,
    stopped_parameters,
    unfinished_searches,
    unidentifiable_parameters,
)
from bam_core.identification.choice.model_fit import MATTERS, EffectAblation, ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.result import Identification
from bam_core.identification.search.space import search_space
from bam_core.identification.uncertainty.uncertainty import ParameterEstimate, Uncertainty
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.uncertainty_findings import ParameterRemark
from test.core.identification_cases import mx106, record


def estimate(name: str, value: float, low: float, high: float, *, told: bool) -> ParameterEstimate:
    remark = None if told else ParameterRemark(kind="insensitive")
    return ParameterEstimate(
        name=name, value=value, standard_error=1.0, low=low, high=high, identifiable=told, finding=remark
    )


def effect(name: str, without: float) -> EffectAblation:
    return EffectAblation(
        name=name,
        value=1.0,
        train_mae=0.01,
        selection_mae=0.01,
        train_mae_without=0.01,
        selection_mae_without=without,
        chance=0.0,
        kept=True,
        kind="needed",
        compared="selection",
    )


def found(
    estimates: tuple[ParameterEstimate, ...],
    effects: tuple[EffectAblation, ...] = (),
    at_bound: tuple[str, ...] = (),
) -> Identification:
    logs = (record(mx106("m1"), "sin_sin", 8.0), record(mx106("m1"), "lift_and_drop", 8.0))
    count = len(estimates)
    fit = ModelFit(
        servo=mx106("m1"),
        bench_effects=IDEAL_BENCH,
        space=search_space(FRICTION_MODELS["m1"], logs),
        train_mae=0.01,
        per_log={log.name: 0.01 for log in logs},
        selection={},
        test={logs[1].name: 0.01},
        at_bound=at_bound,
        trials=100,
        budget=100,
        method="gauss-newton",
        converged=False,
        limited=False,
        seconds=1.0,
        uncertainty=Uncertainty(estimates=estimates, correlation=np.eye(count), method="") if count else None,
    )
    split = Split(train=logs[:1], test=logs[1:], rule="script=lift_and_drop")
    return Identification(servo=fit.servo, fits={"m1": fit}, split=split, seed=0, effects=effects)


def test_an_effect_that_is_needed_and_vague_is_called_both() -> None:
    estimates = (
        estimate("viscous", 0.1, 0.0, 9.0, told=False),
        estimate("winding_heating", 1.4, 0.5, 5.0, told=False),
        estimate("zero_offset", 0.1, 0.09, 0.11, told=True),
        estimate("command_delay", 0.001, 0.0, 0.1, told=False),
    )
    effects = (effect("winding_heating", 0.02), effect("zero_offset", 0.02), effect("command_delay", 0.0101))
    assert unidentifiable_parameters(found(estimates, effects)) == [
        "viscous: not identifiable: these recordings hardly depend on it",
        "winding_heating: needed, but not identifiable: these recordings hardly depend on it",
        "command_delay: not identifiable: these recordings hardly depend on it",
    ]


def test_what_is_wide_beside_its_value_and_yet_identifiable_is_small() -> None:
    estimates = (
        estimate("viscous", 0.004, 0.0, 0.0086, told=True),
        estimate("coulomb", 0.0, 0.0, 0.001, told=True),
        estimate("resistance", 2.0, 1.9, 2.1, told=True),
        estimate("armature", 0.01, 0.0, 1.0, told=False),
        estimate("zero_offset", -0.019, -0.029, -0.009, told=True),  # its sign is known
        estimate("load", 0.01, -0.001, 0.03, told=True),
    )
    assert small_parameters(found(estimates)) == ["viscous", "coulomb", "load"]


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
    spent, left = unfinished_searches(replace(identification, fits=fits))
    assert spent.startswith("m1, m4: trials were spent before the search converged")
    assert "give more --trials" in spent
    assert left.startswith("m2: the search ended with trials left")
    assert "--trials" not in left


def test_a_search_with_fewer_trials_than_by_default_is_told_however_close_its_ends_are() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    short = replace(fit, spent=True, limited=True, spread=0.0)
    (line,) = unfinished_searches(replace(identification, fits={"m1": short}))
    assert "give more --trials" in line


def test_logs_and_tests_that_stand_out_are_told() -> None:
    (fit,) = found(()).fits.values()
    assert errors_apart(fit) == outliers(fit) == ""
    easy = replace(fit, test=dict.fromkeys(fit.test, 0.004))
    assert errors_apart(easy).startswith("test logs are followed 2.5 times better")
    far = {**dict.fromkeys("abcde", 0.01), "odd": 0.2}
    assert "nearly sticks" in outliers(replace(fit, per_log=far))


def test_nothing_is_said_of_parameters_that_nobody_estimated() -> None:
    assert small_parameters(found(())) == unidentifiable_parameters(found(())) == []


def test_a_parameter_at_the_end_of_its_range_is_told_with_the_range() -> None:
    assert stopped_parameters(found((), at_bound=("resistance",))) == [
        "m1, resistance: 2.4 is at the end of its search range, 0.05 to 200 Ω"
    ]


def test_so_is_one_of_the_bench() -> None:
    identification = found(())
    (fit,) = identification.fits.values()
    space = search_space(FRICTION_MODELS["m1"], identification.split.train, effects=["zero_offset"])
    servo = replace(fit.servo, search=replace(fit.servo.search, effects=("zero_offset",)))
    bench = BenchEffects(zero_offset=0.1)
    stopped = replace(fit, servo=servo, bench_effects=bench, space=space, at_bound=("zero_offset",))
    assert stopped_parameters(replace(identification, fits={"m1": stopped})) == [
        "m1, zero_offset: 0.1 is at the end of its search range, -0.1 to 0.1 rad"
    ]


@pytest.mark.parametrize(("logs", "has_interval"), [(3, False), (4, True)])
def test_an_interval_is_given_of_four_test_logs_on(logs: int, has_interval: bool) -> None:
    result = found(())
    test = {f"log {number}": 0.01 * (1 + number) for number in range(logs)}
    (name,) = result.fits
    result = replace(result, fits={name: replace(result.fits[name], test=test)})
    assert (f"{logs} logs: too few" in models_table(result)) is not has_interval
    assert (f"{logs} logs, too few for an interval" in result.error_words) is not has_interval
    assert ("95 % interval" in result.error_words) is has_interval
