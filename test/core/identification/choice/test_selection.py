# SPDX-License-Identifier: Apache-2.0
"""Errors in selection are of logs that took no part in the fits that they are of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.identification.choice.selection import STEPS, Selection
from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fitter
from bam_core.identification.identify import identify
from bam_core.identification.planned_fit import Fit
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import BENCH, mx106

SERVO = mx106("m1")
M1 = FRICTION_MODELS["m1"]


def logs(*runs: tuple[str, float]) -> list[Recording]:
    return [
        replace(
            synthesize(SERVO, BENCH, script, kp, SynthesisSettings(sample_period=0.02)),
            name=f"{script}_{kp:g}",
            sha256=f"{script}{kp}",
        )
        for script, kp in runs
    ]


def names(recordings: Sequence[Recording]) -> list[str]:
    return [log.name for log in recordings]


def test_an_identification_fits_each_fold_to_its_training_logs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class ReachedError(Exception):
        pass

    def check(folds: Sequence[Split], fitter: Callable[[Split], Fitter]) -> None:
        assert len(folds) == 3
        for fold in folds:
            fitted = names(fitter(fold).data.recordings)
            assert fitted == names(fold.train)
            assert not set(fitted) & set(names(fold.test))
            assert len(fitted) + len(fold.test) == 6
        raise ReachedError

    monkeypatch.setattr("bam_core.identification.stages.Selection", check)
    runs = [(script, kp) for script in ("sin_sin", "lift_and_drop") for kp in (8.0, 16.0, 32.0)]
    with pytest.raises(ReachedError):
        identify(logs(*runs), SERVO, IdentifySettings(models=("m1",), trials=60, test="none"))


class Planned:
    """Leads a fit to the torque constant of its fold."""

    def __init__(self, fit: Fit, torque_constant: float) -> None:
        self._fit, self._torque_constant = fit, torque_constant

    def make(self, _: Any = None) -> Fit:
        vector = self._fit.vector.copy()
        vector[0] = self._torque_constant
        return replace(self._fit, result=replace(self._fit.result, vector=vector))


def test_a_log_has_the_error_of_the_folds_that_leave_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = logs(("sin_sin", 8.0), ("sin_sin", 32.0), ("up_and_down", 16.0))
    folds = [
        Split(train=(three,), test=(one, two), rule="first"),
        Split(train=(two, three), test=(one,), rule="second"),
    ]
    constants = {"first": 2.0, "second": 1.5}
    monkeypatch.setattr(
        "bam_core.identification.choice.selection.fit_all", lambda planned: [each.make() for each in planned]
    )

    class FoldFitter(Fitter):
        def __init__(self, fold: Split) -> None:
            self.servo, self._rule = SERVO, fold.rule

        def plan_descent(self, fit: Fit, steps: int) -> Any:
            assert steps == STEPS
            return Planned(fit, constants[self._rule])

    fit = Fitter(SERVO, [three], seed=0).plan(M1, trials=30, starts=[parameter_vector(SERVO)]).make()
    selection = Selection(folds, FoldFitter)
    errors = selection.errors(fit)
    with monkeypatch.context() as patch:  # the second time nothing is fitted
        patch.setattr(FoldFitter, "plan_descent", None)
        assert selection.errors(fit) == errors

    def error(log: Recording, rule: str) -> float:
        vector = fit.vector.copy()
        vector[0] = constants[rule]
        return float(
            Rollout([log], SERVO.firmware, RolloutSettings(integrator="midpoint")).errors(vector)[0, 0]
        )

    assert list(errors) == sorted(names([one, two]))
    assert errors[two.name] == pytest.approx(error(two, "first"))
    assert errors[one.name] == pytest.approx(np.mean([error(one, "first"), error(one, "second")]))
