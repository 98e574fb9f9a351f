# SPDX-License-Identifier: Apache-2.0
"""What an identification found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bam_core._version import __version__
from bam_core.identification.choice.choice import Choice, choose
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.data.split import Split
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel

EFFECT_ABLATION = "effect ablation"
UNCERTAINTY = "uncertainty"
"""What follows on the fits of the models, as `Identification.not_done` names it."""


@dataclass(frozen=True, kw_only=True)
class Identification:
    """Fits of one servo, from the simplest friction model asked for to the richest.

    Attributes:
        servo: the servo that was named, before the identification.
        fits: model name -> fit, at least one.
        split: the logs.
        seed: of split and search.
        effects: what every effect of the chosen model is worth; empty where it has none.
        not_done: models and steps that an interruption left out, in their order; empty of a complete one.
    """

    servo: ServoModel
    fits: Mapping[str, ModelFit]
    split: Split
    seed: int
    effects: tuple[EffectAblation, ...] = ()
    not_done: tuple[str, ...] = ()

    @property
    def choice(self) -> Choice:
        """Which model to use, and why."""
        return choose([fit.contender for fit in self.fits.values()])

    @property
    def chosen(self) -> str:
        """Name of the model to use, see `choice.choose`."""
        return self.choice.name

    @property
    def reason(self) -> str:
        """Why that one, in words."""
        left_out = f"; interrupted, not done: {', '.join(self.not_done)}" if self.not_done else ""
        return self.choice.reason + left_out

    def summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``; errors in rad, parameters in SI units."""
        return {
            "models": {
                model: {
                    "train_mae": fit.train_mae,
                    "validation_mae": fit.validation_mae,
                    "validation_standard_error": fit.contender.standard_error,
                    "trials": fit.trials,
                    "converged": fit.converged,
                    "limited": fit.limited,
                    "seconds": round(fit.seconds, 3),
                    "parameters": fit.parameters,
                    "at_bound": list(fit.at_bound),
                    "per_log": dict(fit.per_log),
                    "held_out": dict(fit.held_out),
                    **(fit.diagnosis.summary() if fit.diagnosis else {"misfit": []}),
                    **({"uncertainty": fit.uncertainty.summary()} if fit.uncertainty else {}),
                }
                for model, fit in self.fits.items()
            },
            "interrupted": bool(self.not_done),
            "not_done": list(self.not_done),
            "chosen": self.chosen,
            "reason": self.reason,
            "choice": [
                {
                    "model": verdict.contender.name,
                    "validation_mae": verdict.contender.error,
                    "standard_error": verdict.contender.standard_error,
                    "free_parameters": verdict.contender.free_parameters,
                    "verdict": verdict.words,
                }
                for verdict in self.choice.verdicts
            ],
            "effects": [ablation.summary() for ablation in self.effects],
            "servo": self.servo.name,
            "seed": self.seed,
            "split": {
                "rule": self.split.rule,
                "train": [log.name for log in self.split.train],
                "validation": [log.name for log in self.split.validation],
            },
            "logs": {log.name: _about(log) for log in (*self.split.train, *self.split.validation)},
            "software": f"bam_bench {__version__}",
            "date": next(iter(self.fits.values())).servo.provenance.date,
        }


def _about(log: Recording) -> dict[str, Any]:
    """What tells a log from others, SI units."""
    return {
        "script": log.script,
        "kp": log.kp,
        "mass": log.bench.mass,
        "arm_mass": log.bench.arm_mass,
        "length": log.bench.length,
        "supply_voltage": log.supply_voltage,
        "sha256": log.sha256,
        "dropped_samples": sum(part.samples for part in log.left_out),
        "set": {part.field: part.value for part in log.corrections},
    }
