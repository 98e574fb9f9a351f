# SPDX-License-Identifier: Apache-2.0
"""A friction model fitted to recordings, and what each effect of it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bam_core.identification.choice.choice import SAME, Contender
from bam_core.identification.misfit.diagnosis import Diagnosis
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.uncertainty import Uncertainty
from bam_core.servo.effects import EFFECTS, BenchEffects
from bam_core.servo.model import ServoModel, fitted_parameters


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One friction model fitted to the training logs.

    Attributes:
        servo: the servo with the parameters found.
        bench_effects: found of the bench of the recordings.
        space: that was searched.
        train_mae: mean over training logs of the mean absolute position error, rad.
        per_log: mean absolute position error of every log by name, rad.
        held_out: the same of logs that the parameters were not fitted to; where every configuration is left
            out in turn, by the fit that did without it.
        at_bound: parameters that the end of their search range has stopped.
        trials: simulations of all training logs that the search spent.
        converged: the search ended because nothing led further down, not because its trials were spent.
        limited: the search was given fewer trials than it takes by default.
        seconds: that it took.
        diagnosis: what the fit leaves over of the training logs, and what physics it lacks; None where that
            was not looked into.
        uncertainty: of the parameters; None of models that were not chosen, unless it was asked for (argument
            `uncertainty` of `identify`, or `with_uncertainty`).
    """

    servo: ServoModel
    bench_effects: BenchEffects
    space: SearchSpace
    train_mae: float
    per_log: Mapping[str, float]
    held_out: Mapping[str, float]
    at_bound: tuple[str, ...]
    trials: int
    converged: bool
    limited: bool
    seconds: float
    diagnosis: Diagnosis | None = None
    uncertainty: Uncertainty | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """What was fitted, of servo and bench, by name, SI."""
        return fitted_parameters(self.servo, self.bench_effects)

    @property
    def ended_early(self) -> bool:
        """More trials may lead further: beyond the default they change training errors by less than 0.5 %."""
        return self.limited and not self.converged

    @property
    def validation_mae(self) -> float:
        """Mean over held-out logs, rad."""
        return fmean(self.held_out.values())

    @property
    def contender(self) -> Contender:
        """This fit as `choice.choose` takes it."""
        return Contender(name=self.model, free_parameters=len(self.parameters), held_out=self.held_out)

    @property
    def model(self) -> str:
        """Name of the friction model."""
        return self.servo.friction_model


@dataclass(frozen=True, kw_only=True)
class EffectAblation:
    """One effect of the chosen model.

    Attributes:
        name: in EFFECTS.
        value: found with all effects, in its unit.
        train_mae: with all effects, rad.
        validation_mae: likewise, of held-out logs.
        train_mae_without: of all effects but this one, rad.
        validation_mae_without: likewise.
        chance: standard error of the difference of these two, log by log, rad; 0 for a single held-out log.
        kept: it stayed in the model.
        reason: in words.
    """

    name: str
    value: float
    train_mae: float
    validation_mae: float
    train_mae_without: float
    validation_mae_without: float
    chance: float
    kept: bool
    reason: str

    @property
    def is_needed(self) -> bool:
        """Held-out logs are followed worse without it, by more than does not count between models either."""
        worse = self.validation_mae_without - self.validation_mae
        return worse > max(SAME * self.validation_mae, self.chance)

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``."""
        return {
            "name": self.name,
            "unit": EFFECTS[self.name].unit,
            "value": self.value,
            "train_mae": self.train_mae,
            "validation_mae": self.validation_mae,
            "train_mae_without": self.train_mae_without,
            "validation_mae_without": self.validation_mae_without,
            "chance": self.chance,
            "kept": self.kept,
            "reason": self.reason,
        }
