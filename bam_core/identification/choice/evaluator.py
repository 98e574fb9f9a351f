# SPDX-License-Identifier: Apache-2.0
"""What fits are worth: their errors on training and held-out logs, and the servos they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from statistics import fmean

from bam_core._version import __version__
from bam_core.arrays import Array
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fit
from bam_core.identification.found_servo import found_servo
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FrictionModel
from bam_core.servo.model import Provenance, ServoModel
from bam_core.simulation.rollout import Rollout


class Evaluator:
    """Evaluates fits on training and held-out logs."""

    def __init__(self, train: Rollout, split: Split, seed: int, servo: ServoModel) -> None:
        """Pack the held-out logs.

        Args:
            train: simulates the training logs.
            split: the logs.
            seed: of the search, for the record.
            servo: before the identification.
        """
        self._servo = servo
        self._split = split
        self._seed = seed
        self._train = train
        self._validation = (
            Rollout(split.validation, firmware=servo.firmware, integrator=INTEGRATOR)
            if split.validation
            else None
        )

    def evaluate(self, fit: Fit, held_out: Mapping[str, float] | None = None) -> ModelFit:
        """Return a fit with its errors; `held_out` where other fits did without the logs in turn."""
        train = _by_name(self._split.train, self._train.errors(fit.vector)[0])
        if held_out is None:
            assert self._validation is not None
            held_out = _by_name(self._split.validation, self._validation.errors(fit.vector)[0])
        servo, bench_effects = self._found(fit.model, fit.effects, fit.vector)
        judged = ModelFit(
            servo=servo,
            bench_effects=bench_effects,
            space=fit.space,
            train_mae=fmean(train.values()),
            per_log={**train, **held_out} if self._split.validation else train,
            held_out=held_out,
            at_bound=fit.space.at_bound(fit.vector),
            trials=fit.result.evaluations,
            converged=fit.result.converged,
            limited=fit.limited,
            seconds=fit.seconds,
        )
        return replace(judged, servo=replace(judged.servo, provenance=self._provenance(judged)))

    def _found(
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

    def _provenance(self, fit: ModelFit) -> Provenance:
        return Provenance(
            source=(
                f"identified from {len(self._split.train)} recordings by CMA-ES "
                f"(seed {self._seed}, validation {self._split.rule})"
            ),
            software=f"bam_bench {__version__}",
            date=datetime.now(timezone.utc).date().isoformat(),
            train_mae=fit.train_mae,
            validation_mae=fit.validation_mae,
            train_data={log.name: log.sha256 for log in self._split.train},
            validation_data={log.name: log.sha256 for log in self._split.validation},
        )


def _by_name(logs: Sequence[Recording], errors: Array) -> dict[str, float]:
    return {log.name: float(error) for log, error in zip(logs, errors, strict=True)}
