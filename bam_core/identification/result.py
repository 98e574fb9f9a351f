# SPDX-License-Identifier: Apache-2.0
"""What an identification found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.choice.choice import Choice, choose
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.fit_warnings import fit_warnings
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.verdict import Verdict, verdict
from bam_core.recordings.excluded import Excluded
from bam_core.recordings.header_corrections import Correction
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout_settings import usual_restart
from bam_core.simulation.short_horizon import LONGER, SHORT
from bam_core.text.choice_findings import ChoiceReason
from bam_core.text.error_findings import ShortErrors, TestError
from bam_core.text.finding import Finding

EFFECT_ABLATION = "effect ablation"
UNCERTAINTY = "uncertainty"
OTHER_SEEDS = "other seeds"
"""What follows on the fits of the models, as `Identification.not_done` names it."""


@dataclass(frozen=True, kw_only=True)
class SeedResult:
    """What a search with one seed led to; errors of the model that it chose, rad.

    Attributes:
        seed: of the search.
        chosen: model.
        train_mae: as `ModelFit` has it.
        selection_mae: likewise.
        test_mae: likewise.
    """

    seed: int
    chosen: str
    train_mae: float
    selection_mae: float | None
    test_mae: float | None


@dataclass(frozen=True, kw_only=True)
class Identification:
    """Fits of one servo, from the simplest friction model asked for to the richest.

    Attributes:
        servo: the servo that was named, before the identification.
        fits: model name -> fit, at least one.
        split: training and test logs.
        folds: by which selection left training logs out in turn; empty where there were too few.
        seed: of split and search.
        effects: what every effect of the chosen model is worth; empty where it has none.
        seeds: what each seed led to, this one's first; empty where there was one only.
        not_done: models and steps that an interruption left out, in their order; empty of a complete one.
        excluded: recordings that were given and cannot be used.
    """

    servo: ServoModel
    fits: Mapping[str, ModelFit]
    split: Split
    seed: int
    folds: tuple[Split, ...] = ()
    effects: tuple[EffectAblation, ...] = ()
    seeds: tuple[SeedResult, ...] = ()
    not_done: tuple[str, ...] = ()
    excluded: tuple[Excluded, ...] = ()

    @property
    def predictions(self) -> dict[str, Prediction]:
        """Predictive distributions: known ones, and what follows from that of the chosen model."""
        known = {
            model: fit.uncertainty.prediction
            for model, fit in self.fits.items()
            if fit.uncertainty is not None and fit.uncertainty.prediction is not None
        }
        predictions = dict(known)
        if self.chosen in known:
            own, error = known[self.chosen], self.fits[self.chosen].train_mae
            predictions = {
                model: known.get(model) or own.without_parameters(fit.train_mae / error)
                for model, fit in self.fits.items()
            }
        return {
            model: replace(prediction, variation=self.fits[model].variation)
            for model, prediction in predictions.items()
        }

    @property
    def choice(self) -> Choice:
        """Which model to use, and why."""
        return choose([fit.contender for fit in self.fits.values()])

    @property
    def chosen(self) -> str:
        """Name of the model to use, see `choice.choose`."""
        return self.choice.name

    @property
    def choice_reason(self) -> ChoiceReason:
        """Why that one."""
        return replace(self.choice.reason, not_done=self.not_done)

    @property
    def reason(self) -> str:
        """Why that one, in words."""
        return self.choice_reason.sentence

    @property
    def seed_result(self) -> SeedResult:
        """What this seed led to."""
        fit = self.fits[self.chosen]
        return SeedResult(
            seed=self.seed,
            chosen=self.chosen,
            train_mae=fit.train_mae,
            selection_mae=fit.selection_mae,
            test_mae=fit.test_mae,
        )

    @property
    def restarted_every(self) -> dict[str, float | None]:
        """Return "train" and "test" -> how often simulations restart, s: see `usual_restart`; None: never."""
        test = usual_restart(self.split.test) if self.split.test else None
        return {"train": usual_restart(self.split.train), "test": test}

    @property
    def test_error(self) -> TestError:
        """How far the chosen model is off on logs that no fit and no choice has seen."""
        fit = self.fits[self.chosen]
        return TestError(
            model=self.chosen,
            error=fit.test_mae,
            logs=len(fit.test),
            interval=fit.test_interval,
            rule=self.split.rule,
            restart=self.restarted_every["train" if fit.test_mae is None else "test"],
            seeds=tuple((seed.chosen, seed.test_mae) for seed in self.seeds if seed.test_mae is not None),
        )

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What to be careful of."""
        return fit_warnings(self.fits, self.chosen, self.effects)

    @property
    def verdict(self) -> Verdict:
        """Whether to use the chosen model, for what, and how far off it will be."""
        return verdict(
            self.fits[self.chosen],
            self.split,
            restart=self.restarted_every["test"],
            complete=not set(self.not_done) - {UNCERTAINTY, OTHER_SEEDS},
        )

    @property
    def short_errors(self) -> ShortErrors | None:
        """How far the chosen model is off where simulations restart; None where that is not known."""
        errors = tuple(
            (period, error)
            for period, error in self.fits[self.chosen].test_short.items()
            if period != self.restarted_every["test"]
        )
        return ShortErrors(errors=errors) if errors else None

    def summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``; errors in rad, parameters in SI units."""
        logs = self.split.logs
        origin = next(iter(self.fits.values())).servo.provenance
        return {
            "models": {
                model: {
                    "train_mae": fit.train_mae,
                    "selection_mae": fit.selection_mae,
                    "selection_standard_error": fit.contender.standard_error if fit.selection else None,
                    "test_mae": fit.test_mae,
                    "test_interval": fit.test_interval,
                    "test_mae_short": fit.test_short.get(SHORT),
                    "test_mae_short_1s": fit.test_short.get(LONGER),
                    "method": fit.method,
                    "trials": fit.trials,
                    "budget": fit.budget,
                    "converged": fit.converged,
                    "limited": fit.limited,
                    "spent": fit.spent,
                    "search_spread": fit.spread if math.isfinite(fit.spread) else None,
                    "spread": fit.variation.spread.summary() if fit.variation else None,
                    "crps": fit.crps,
                    "ended_early": fit.ended_early,
                    "seconds": round(fit.seconds, 3),
                    "parameters": fit.parameters,
                    "at_bound": list(fit.at_bound),
                    "per_log": dict(fit.per_log),
                    "selection": dict(fit.selection),
                    **(fit.diagnosis.summary() if fit.diagnosis else {"misfit": []}),
                    **({"uncertainty": fit.uncertainty.summary()} if fit.uncertainty else {}),
                }
                for model, fit in self.fits.items()
            },
            "restarted_every": self.restarted_every,
            "interrupted": bool(self.not_done),
            "not_done": list(self.not_done),
            "excluded": [excluded.summary() for excluded in self.excluded],
            "chosen": self.chosen,
            "reason": self.reason,
            "choice_reason": self.choice_reason.summary(),
            "verdict": self.verdict.summary(),
            "warnings": [finding.summary() for finding in self.warnings],
            "choice": [
                {
                    "model": verdict.contender.name,
                    "selection_mae": verdict.contender.error,
                    "standard_error": verdict.contender.standard_error,
                    "free_parameters": verdict.contender.free_parameters,
                    "verdict": verdict.finding.sentence,
                    "kind": verdict.finding.kind,
                    "sentence": verdict.finding.sentence,
                }
                for verdict in self.choice.verdicts
            ],
            "effects": [ablation.summary() for ablation in self.effects],
            "servo": self.servo.name,
            "seed": self.seed,
            "seeds": [vars(seed) for seed in self.seeds],
            "split": {
                "rule": self.split.rule,
                "train": [log.name for log in self.split.train],
                "test": [log.name for log in self.split.test],
                "selection": [
                    {"without": fold.rule, "logs": [log.name for log in fold.test]} for fold in self.folds
                ],
            },
            "logs": {log.name: _about(log) for log in logs},
            "left_out": {log.name: [part.phrase for part in log.left_out] for log in logs if log.left_out},
            "corrections": {
                log.name: [_correction(part) for part in log.corrections] for log in logs if log.corrections
            },
            "software": origin.software,
            "packages": dict(origin.packages),
            "tolerances": dict(origin.tolerances),
            "date": origin.date,
        }


def _correction(part: Correction) -> dict[str, Any]:
    """What was set from outside; a value before that is neither text nor a number is left out."""
    shown = isinstance(part.before, str | int) or (
        isinstance(part.before, float) and math.isfinite(part.before)
    )
    return {
        "field": part.field,
        "value": part.value,
        "before": part.before if shown else None,
        "source": part.source,
    }


def _mean(values: Array) -> float | None:
    """Return the mean of what was measured; None: nothing was."""
    known = values[np.isfinite(values)]
    return float(np.mean(known)) if len(known) else None


def _about(log: Recording) -> dict[str, Any]:
    """What distinguishes a log, SI units."""
    return {
        "script": log.script,
        "kp": log.kp,
        "mass": log.bench.mass,
        "arm_mass": log.bench.arm_mass,
        "length": log.bench.length,
        **({"inertia": log.bench.flywheel, "open_loop": True} if log.open_loop else {}),
        "supply_voltage": log.supply_voltage,
        **({"unit": log.unit} if log.unit else {}),
        **({"session": log.session} if log.session else {}),
        "temperature": _mean(log.temperature),
        "sha256": log.sha256,
        "dropped_samples": log.dropped_samples,
        "position_update_period": log.position_update_period,
        "set": {part.field: part.value for part in log.corrections},
    }
