# SPDX-License-Identifier: Apache-2.0
"""Errors of a fit in training, selection and test, and which of them decide."""

from __future__ import annotations

from typing import Any

import pytest

from bam_core.identification.choice.mean_interval import mean_interval
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.servo.effects import EFFECTS, IDEAL_BENCH
from test.core.identification_cases import mx106

PER_LOG = {"a": 0.010, "b": 0.014, "c": 0.020, "d": 0.030}


def fit(**changes: Any) -> ModelFit:
    fields: dict[str, Any] = {
        "servo": mx106("m1"),
        "bench_effects": IDEAL_BENCH,
        "space": None,
        "train_mae": 0.012,
        "per_log": PER_LOG,
        "selection": {"a": 0.013, "b": 0.017},
        "test": {"c": 0.020, "d": 0.030},
        "at_bound": (),
        "trials": 100,
        "budget": 100,
        "method": "gauss-newton",
        "converged": True,
        "limited": False,
        "seconds": 1.0,
    }
    return ModelFit(**{**fields, **changes})


def test_each_set_of_logs_has_its_mean() -> None:
    found = fit()
    assert found.training == {"a": 0.010, "b": 0.014}
    assert found.selection_mae == pytest.approx(0.015)
    assert found.test_mae == pytest.approx(0.025)
    assert found.test_interval == mean_interval([0.020, 0.030])
    assert (found.model, found.failed, found.ended_early) == ("m1", False, False)
    assert fit(converged=False).ended_early


def test_without_selection_and_test_there_is_no_mean_of_them() -> None:
    found = fit(selection={}, test={})
    assert (found.selection_mae, found.test_mae, found.test_interval) == (None, None, None)
    assert found.training == PER_LOG


def test_selection_decides_where_there_is_one_and_training_otherwise() -> None:
    contender = fit().contender
    assert (contender.errors, contender.training_error) == ({"a": 0.013, "b": 0.017}, 0.012)
    assert contender.free_parameters == len(fit().parameters) == 5
    alone = fit(selection={}).contender
    assert (alone.errors, alone.training_error) == ({"a": 0.010, "b": 0.014}, None)


def test_an_ablation_tells_its_numbers_with_and_without_the_effect() -> None:
    fields: dict[str, Any] = {
        "name": "arm_mass",
        "value": 0.1,
        "train_mae": 0.01,
        "selection_mae": 0.02,
        "train_mae_without": 0.03,
        "selection_mae_without": 0.04,
        "chance": 0.005,
        "kept": True,
        "kind": "needed",
        "compared": "selection",
    }
    ablation = EffectAblation(**fields)
    words = {"reason": ablation.finding.sentence, "sentence": ablation.finding.sentence}
    del fields["compared"]
    assert ablation.summary() == {**fields, **words, "unit": EFFECTS["arm_mass"].unit}
