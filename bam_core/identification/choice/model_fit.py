# SPDX-License-Identifier: Apache-2.0
"""A friction model fitted to recordings, and what each effect of it is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from bam_core.identification.choice.choice import SAME, Contender
from bam_core.identification.choice.mean_interval import mean_interval
from bam_core.identification.misfit.diagnosis import Diagnosis
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.estimates import Uncertainty
from bam_core.identification.variation.variation import Variation
from bam_core.servo.effects import EFFECTS, BenchEffects
from bam_core.servo.model import ServoModel, fitted_parameters
from bam_core.text.choice_findings import AblationVerdict
from bam_core.text.misfit_findings import FAILED

MATTERS = 0.02
"""Largest difference between the two lowest ends of a search with the default budget that is not reported.
With smaller ones, more trials change errors as little as another seed does (docs/explanation/search.md)."""


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One friction model fitted to the training logs.

    Attributes:
        servo: the servo with the parameters found.
        bench_effects: found of the bench of the recordings.
        space: that was searched.
        train_mae: mean over training logs of the mean absolute position error, rad.
        per_log: mean absolute position error of every log by name, rad.
        selection: the same of training logs by fits that did without them (see `selection`): what models and
            effects are chosen by; empty where there are too few training logs for it.
        test: the same of the test logs, which neither the fit nor any choice has seen; empty without such.
        test_short: mean over test logs of simulations that restart from measured states, by the time between
            restarts, s (`short_horizon.HORIZONS`), rad; empty without test logs, and until a model is chosen.
        at_bound: parameters that the end of their search range has stopped.
        trials: simulations of all training logs that the search took; those of a model that has lost an
            effect include the search before.
        budget: simulations of all training logs that it was allowed.
        method: of search, one of `search.methods.METHODS`.
        converged: descents from two drafts came to the same error, and nothing led further down.
        limited: the search was given fewer trials than it takes by default.
        spread: by how much, relatively, its second lowest end is above the lowest; infinite of one end.
        spent: the search took so many of its trials that it could not go on with the rest.
        seconds: that it took.
        diagnosis: what the fit leaves over of the training logs, and what physics it lacks; None where that
            was not looked into.
        variation: how friction and strength vary from run to run; None where that was not worked out.
        crps: continuous ranked probability score of draws on the test logs, mean, rad; None without such, and
            where nothing can be drawn.
        uncertainty: of the parameters; None of models that were not chosen, unless it was asked for (argument
            `uncertainty` of `identify`, or `with_uncertainty`).
    """

    servo: ServoModel
    bench_effects: BenchEffects
    space: SearchSpace
    train_mae: float
    per_log: Mapping[str, float]
    selection: Mapping[str, float]
    test: Mapping[str, float]
    at_bound: tuple[str, ...]
    trials: int
    budget: int
    method: str
    converged: bool
    limited: bool
    seconds: float
    spent: bool = False
    spread: float = math.inf
    test_short: Mapping[float, float] = field(default_factory=dict)
    diagnosis: Diagnosis | None = None
    variation: Variation | None = None
    crps: float | None = None
    uncertainty: Uncertainty | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """What was fitted, of servo and bench, by name, SI."""
        return fitted_parameters(self.servo, self.bench_effects)

    @property
    def ended_early(self) -> bool:
        """The search did not converge, and another seed, or more trials if `spent`, may change the errors.

        Always of a search with fewer trials than by default; else if its ends differ by more than MATTERS.
        """
        return not self.converged and (self.limited or self.spread > MATTERS)

    @property
    def failed(self) -> bool:
        """It is no better than what needs no model."""
        return self.diagnosis is not None and any(
            finding.kind == FAILED for finding in self.diagnosis.findings
        )

    @property
    def training(self) -> dict[str, float]:
        """Mean absolute position error of every training log by name, rad."""
        return {log: error for log, error in self.per_log.items() if log not in self.test}

    @property
    def selection_mae(self) -> float | None:
        """Mean error in selection, rad; None where there was none."""
        return fmean(self.selection.values()) if self.selection else None

    @property
    def test_mae(self) -> float | None:
        """Mean over test logs, rad; None without such."""
        return fmean(self.test.values()) if self.test else None

    @property
    def test_interval(self) -> tuple[float, float] | None:
        """95 % interval of `test_mae` by Student's t over logs, rad; None of fewer than two."""
        return mean_interval(list(self.test.values()))

    @property
    def contender(self) -> Contender:
        """This fit as `choice.choose` takes it; where there is no selection, by training errors."""
        by = self.selection or self.training
        return Contender(
            name=self.model,
            free_parameters=len(self.parameters),
            errors=by,
            training_error=self.train_mae if self.selection else None,
        )

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
        selection_mae: likewise, in selection; of training where there is none.
        train_mae_without: of all effects but this one, rad.
        selection_mae_without: likewise.
        chance: standard error of the difference of these two, log by log, rad; 0 for a single log.
        kept: it stayed in the model.
        kind: why, see `AblationVerdict`.
        compared: set of logs that `selection_mae` is of: "selection" or "training".
    """

    name: str
    value: float
    train_mae: float
    selection_mae: float
    train_mae_without: float
    selection_mae_without: float
    chance: float
    kept: bool
    kind: str
    compared: str

    @property
    def is_needed(self) -> bool:
        """Held-out logs are followed worse without it, by more than does not count between models either."""
        worse = self.selection_mae_without - self.selection_mae
        return worse > max(SAME * self.selection_mae, self.chance)

    @property
    def finding(self) -> AblationVerdict:
        """Why it is kept or not."""
        return AblationVerdict(kind=self.kind, compared=self.compared, chance=self.chance)

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``."""
        return {
            "name": self.name,
            "unit": EFFECTS[self.name].unit,
            "value": self.value,
            "train_mae": self.train_mae,
            "selection_mae": self.selection_mae,
            "train_mae_without": self.train_mae_without,
            "selection_mae_without": self.selection_mae_without,
            "chance": self.chance,
            "kept": self.kept,
            "reason": self.finding.sentence,
            "kind": self.kind,
            "sentence": self.finding.sentence,
        }
