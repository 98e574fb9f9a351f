# SPDX-License-Identifier: Apache-2.0
"""Identifications made up from estimates and effects, without a fit."""

from __future__ import annotations

import numpy as np

from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.result import Identification
from bam_core.identification.search.space import search_space
from bam_core.identification.uncertainty.estimates import ParameterEstimate, Uncertainty
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark
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
        uncertainty=Uncertainty(
            estimates=estimates, correlation=np.eye(count), method=IntervalMethod(logs=3, level=0.95)
        )
        if count
        else None,
    )
    split = Split(train=logs[:1], test=logs[1:], rule="script=lift_and_drop")
    return Identification(servo=fit.servo, fits={"m1": fit}, split=split, seed=0, effects=effects)
