# SPDX-License-Identifier: Apache-2.0
"""From recordings to servo models: what `bam identify` and the node `identification` both call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

import numpy as np
from numpy.typing import NDArray

from bam_core import __version__
from bam_core.effects import Rig, resolve_effects
from bam_core.errors import BamError
from bam_core.friction import FRICTION_MODELS, Friction, FrictionModel, friction_model
from bam_core.identification.refine import Refiner
from bam_core.identification.result import Identification, ModelFit
from bam_core.identification.search import MIN_EVALUATIONS, SearchResult, minimise
from bam_core.identification.space import SearchSpace, is_nested, search_space
from bam_core.identification.split import Split, split_recordings
from bam_core.motor import DcMotor
from bam_core.recording import Recording
from bam_core.rollout import PARAMETERS, Rollout
from bam_core.servo_model import (
    MOTOR_EFFECTS,
    MOTOR_PARAMETERS,
    RIG_EFFECTS,
    Provenance,
    ServoModel,
)

Array = NDArray[np.float64]

TRIALS_PER_PARAMETER = 1500
"""Default budget: simulations of all training logs per free parameter of a model."""

INTEGRATOR = "midpoint"
"""What parameters are fitted with, and what fitted servos say of themselves."""

_DRAFT_PERIODS = 2  # step of the draft simulation, in periods of the firmware
_MAX_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where an identification stands.

    Attributes:
        model: being fitted.
        evaluation: simulations of all training logs done for it.
        evaluations: planned for it; it may do with fewer.
        best_mae: lowest training error so far, rad.
        seconds: spent on this model.
    """

    model: str
    evaluation: int
    evaluations: int
    best_mae: float
    seconds: float


def identify(
    recordings: Sequence[Recording],
    servo: ServoModel,
    models: str | Iterable[str],
    *,
    trials: int | None = None,
    seed: int = 0,
    validation: str | Sequence[Recording] | None = None,
    effects: Iterable[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Identification:
    """Find motor constants and friction parameters that make the simulation follow the training logs.

    What is minimised is the mean over training logs of the mean absolute position error in closed loop (BAM
    section V-B). A model that contains a simpler one that is also asked for starts from the simpler one's
    optimum as well, so that its training error is never the higher one. The same arguments give the same
    numbers on the same machine.

    Args:
        recordings: of one servo, two at least.
        servo: which; its firmware and search bounds count, its parameters do not.
        models: "all", or names of friction models.
        trials: simulations of all training logs per model, drafts included; at least MIN_EVALUATIONS.
            Default: TRIALS_PER_PARAMETER per free parameter.
        seed: of the search and of a random split, 0 to 2³² - 1.
        validation: which logs to hold out, see `split.split_recordings`.
        effects: which of `effects.EFFECTS` to fit besides motor and friction; default those that the servo
            names.
        progress: called after every generation.
        cancelled: asked before every generation.

    Raises:
        IdentificationCancelled: `cancelled` said so.
        BamError: a model or effect is unknown, a number out of range, the recordings are of another servo, or
            the split leaves nothing on one side.
    """
    chosen = resolve_models(models)
    if trials is not None and trials < MIN_EVALUATIONS:
        raise BamError(
            f"trials: is {trials} (expected at least {MIN_EVALUATIONS}); leave it out for the default"
        )
    if not 0 <= seed <= _MAX_SEED:
        raise BamError(f"seed: is {seed} (expected 0 to {_MAX_SEED}); correct it")
    split = split_recordings(recordings, validation, seed=seed)
    _require_servo(servo, (*split.train, *split.validation))
    if effects is not None:
        servo = replace(servo, effects=resolve_effects(effects))
    fitter = _Fitter(servo, split, seed, progress, cancelled)
    fits = {model.name: fitter.fit(model, trials) for model in chosen}
    return Identification(servo=servo, fits=fits, split=split, seed=seed)


def resolve_models(models: str | Iterable[str]) -> tuple[FrictionModel, ...]:
    """Return friction models by name, each once, from M1 to M6; "all" stands for all six.

    Raises:
        BamError: a name is unknown, or there is none.
    """
    names = [models] if isinstance(models, str) else list(models)
    if "all" in names:
        return tuple(FRICTION_MODELS.values())
    found = {friction_model(name.strip().lower()).name for name in names}
    if not found:
        raise BamError(f"models: none given (valid: all, {', '.join(FRICTION_MODELS)}); name some")
    return tuple(model for name, model in FRICTION_MODELS.items() if name in found)


def _require_servo(servo: ServoModel, recordings: Sequence[Recording]) -> None:
    others: dict[str, list[str]] = {}
    for recording in recordings:
        if recording.servo.casefold() != servo.name.casefold():
            others.setdefault(recording.servo, []).append(recording.name)
    if others:
        count = sum(map(len, others.values()))
        named = "; ".join(f"{name!r}: {logs[0]}" for name, logs in others.items())
        raise BamError(
            f"servo {servo.name}: {count} of {len(recordings)} logs are of another servo ({named}); "
            f"leave them out, or name their servo"
        )


class _Fitter:
    """Fits models one after the other and remembers their optima."""

    def __init__(
        self,
        servo: ServoModel,
        split: Split,
        seed: int,
        progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._servo = servo
        self._split = split
        self._seed = seed
        self._progress = progress
        self._cancelled = cancelled
        self._train = Rollout(split.train, firmware=servo.firmware, integrator=INTEGRATOR)
        self._validation = Rollout(split.validation, firmware=servo.firmware, integrator=INTEGRATOR)
        # Steps this coarse move the optimum little and cost half.
        self._draft = Rollout(
            split.train,
            firmware=servo.firmware,
            integrator=INTEGRATOR,
            dt=_DRAFT_PERIODS * servo.firmware.period,
        )
        self._optima: dict[str, Array] = {}

    def fit(self, model: FrictionModel, trials: int | None) -> ModelFit:
        start = time.monotonic()
        space = search_space(model, self._split.train, self._servo.search, self._servo.effects)
        budget = trials or TRIALS_PER_PARAMETER * space.dimension

        def report(evaluation: int, best: float) -> None:
            if self._progress is not None:
                self._progress(
                    Progress(
                        model=model.name,
                        evaluation=evaluation,
                        evaluations=budget,
                        best_mae=best,
                        seconds=time.monotonic() - start,
                    )
                )

        result = minimise(
            lambda vectors: np.asarray(self._train.errors(vectors).mean(axis=1)),
            space,
            evaluations=budget,
            seed=self._seed,
            draft=lambda vectors: np.asarray(self._draft.errors(vectors).mean(axis=1)),
            starts=[
                vector for name, vector in self._optima.items() if is_nested(FRICTION_MODELS[name], model)
            ],
            refine=Refiner(self._train, space).refine,
            report=report,
            cancelled=self._cancelled,
        )
        self._optima[model.name] = result.vector
        return self._judge(model, space, result, time.monotonic() - start)

    def _judge(
        self, model: FrictionModel, space: SearchSpace, result: SearchResult, seconds: float
    ) -> ModelFit:
        train = self._train.errors(result.vector)[0]
        validation = self._validation.errors(result.vector)[0]
        logs = (*self._split.train, *self._split.validation)
        errors = {log.name: float(error) for log, error in zip(logs, (*train, *validation), strict=True)}
        fit = ModelFit(
            servo=self._servo_with(model, result.vector),
            train_mae=float(train.mean()),
            validation_mae=float(validation.mean()),
            per_log=errors,
            at_bound=space.at_bound(result.vector),
            trials=result.evaluations,
            converged=result.converged,
            seconds=seconds,
        )
        return replace(fit, servo=replace(fit.servo, provenance=self._provenance(fit)))

    def _servo_with(self, model: FrictionModel, vector: Array) -> ServoModel:
        values = dict(zip(PARAMETERS, vector.tolist(), strict=True))
        motor = DcMotor(**{name: values.pop(name) for name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS)})
        rig = Rig(**{name: values.pop(name) for name in RIG_EFFECTS})
        everything = Friction(**values)
        return replace(
            self._servo,
            motor=motor,
            rig=rig,
            friction_model=model.name,
            friction=model.friction(model.values(everything)),
            integrator=INTEGRATOR,
            uncertainty={},
        )

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
