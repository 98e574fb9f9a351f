# SPDX-License-Identifier: Apache-2.0
"""An identification in words: what is needed, what is small and what nobody knows are told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.cli.identification_text import (
    models_table,
    small_parameters,
)
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.result import Identification
from bam_core.identification.search.space import search_space
from bam_core.identification.uncertainty.uncertainty import ParameterEstimate, Uncertainty
from bam_core.servo.effects import IDEAL_BENCH
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


@pytest.mark.parametrize(("logs", "has_interval"), [(3, False), (4, True)])
def test_an_interval_is_given_of_four_test_logs_on(logs: int, has_interval: bool) -> None:
    result = found(())
    test = {f"log {number}": 0.01 * (1 + number) for number in range(logs)}
    (name,) = result.fits
    result = replace(result, fits={name: replace(result.fits[name], test=test)})
    assert (f"{logs} logs: too few" in models_table(result)) is not has_interval
    assert result.test_error.has_interval is has_interval
