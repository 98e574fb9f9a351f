# SPDX-License-Identifier: Apache-2.0
"""What fits are worth: their errors in training, selection and test, and the servos they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from bam_core.arrays import Array
from bam_core.identification.choice.fit_provenance import Origin
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.choice.selection import Selection
from bam_core.identification.found_servo import found_servo
from bam_core.identification.planned_fit import Fit
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rollout_settings import RolloutSettings


class Evaluator:
    """Evaluates fits in training, in selection and on the test logs."""

    def __init__(
        self, train: Rollout, origin: Origin, servo: ServoModel, selection: Selection | None = None
    ) -> None:
        """Pack the test logs.

        Args:
            train: simulates the training logs.
            origin: the logs, and what the provenance of all fits has.
            servo: before the identification.
            selection: computes the errors that decide; None: those in training do.
        """
        self._servo = servo
        self._origin = origin
        self._split = split = origin.split
        self._train = train
        self._selection = selection
        self._test = (
            Rollout(split.test, servo.firmware, RolloutSettings(integrator=INTEGRATOR))
            if split.test
            else None
        )

    def prepare(self, fits: Sequence[Fit]) -> None:
        """Compute what `evaluate` needs for several fits at once."""
        if self._selection is not None:
            self._selection.prepare(fits)

    def evaluate(self, fit: Fit) -> ModelFit:
        """Return a fit with its errors."""
        train = _by_name(self._split.train, self._train.errors(fit.vector)[0])
        test = {} if self._test is None else _by_name(self._split.test, self._test.errors(fit.vector)[0])
        servo, bench_effects = self._servo_of(fit.model, fit.effects, fit.vector)
        evaluated = ModelFit(
            servo=servo,
            bench_effects=bench_effects,
            space=fit.space,
            train_mae=fmean(train.values()),
            per_log={**train, **test},
            selection={} if self._selection is None else self._selection.errors(fit),
            test=test,
            at_bound=fit.space.at_bound(fit.vector),
            trials=fit.result.evaluations,
            budget=fit.budget,
            method=fit.method,
            converged=fit.result.converged,
            limited=fit.limited,
            spent=fit.spent,
            spread=fit.result.spread,
            seconds=fit.seconds,
        )
        provenance = self._origin.provenance(fit, evaluated)
        return replace(evaluated, servo=replace(servo, provenance=provenance))

    def _servo_of(
        self, model: FrictionModel, effects: Sequence[str], vector: Array
    ) -> tuple[ServoModel, BenchEffects]:
        servo, bench_effects = found_servo(self._servo, model, vector)
        servo = replace(
            servo,
            search=replace(servo.search, effects=tuple(effects)),
            friction=replace(servo.friction, quadratic_rule="paper"),
            integrator=INTEGRATOR,
        )
        return servo, bench_effects


def _by_name(logs: Sequence[Recording], errors: Array) -> dict[str, float]:
    return {log.name: float(error) for log, error in zip(logs, errors, strict=True)}
