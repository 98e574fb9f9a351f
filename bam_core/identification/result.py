# SPDX-License-Identifier: Apache-2.0
"""What an identification found."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev
from typing import Any

from bam_core import __version__
from bam_core.friction import FRICTION_MODELS
from bam_core.identification.split import Split
from bam_core.recording import Recording
from bam_core.servo_model import ServoModel

CLOSE_ENOUGH = 0.05
"""A simpler model is preferred while its validation error is within this share of the lowest one."""


@dataclass(frozen=True, kw_only=True)
class ModelFit:
    """One friction model fitted to the training logs.

    Attributes:
        servo: the servo with the parameters found.
        train_mae: mean over training logs of the mean absolute position error, rad.
        validation_mae: the same over held-out logs, rad.
        per_log: mean absolute position error of every log by name, rad.
        at_bound: parameters that the end of their search range has stopped.
        trials: simulations of all training logs that the search spent.
        converged: the search ended because nothing led further down, not because its trials were spent.
        seconds: that it took.
    """

    servo: ServoModel
    train_mae: float
    validation_mae: float
    per_log: Mapping[str, float]
    at_bound: tuple[str, ...]
    trials: int
    converged: bool
    seconds: float

    @property
    def model(self) -> str:
        """Name of the friction model."""
        return self.servo.friction_model


@dataclass(frozen=True, kw_only=True)
class Identification:
    """Fits of one servo, from the simplest friction model asked for to the richest.

    Attributes:
        servo: the servo that was named, before the identification.
        fits: model name -> fit, at least one.
        split: the logs.
        seed: of split and search.
    """

    servo: ServoModel
    fits: Mapping[str, ModelFit]
    split: Split
    seed: int

    @property
    def chosen(self) -> str:
        """Name of the model to use, see `choose`."""
        return choose(list(self.fits.values()))

    @property
    def reason(self) -> str:
        """Why that one, in words."""
        best = min(self.fits.values(), key=lambda fit: fit.validation_mae)
        if self.chosen == best.model:
            return f"{best.model} has the lowest validation error ({1e3 * best.validation_mae:.2f} mrad)"
        chosen = self.fits[self.chosen]
        return (
            f"{chosen.model} ({1e3 * chosen.validation_mae:.2f} mrad) is the simplest model within "
            f"{CLOSE_ENOUGH:.0%} of the lowest validation error "
            f"({best.model}, {1e3 * best.validation_mae:.2f} mrad)"
        )

    def summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``; errors in rad, parameters in SI units."""
        return {
            "models": {
                model: {
                    "train_mae": fit.train_mae,
                    "validation_mae": fit.validation_mae,
                    "validation_standard_error": self._validation_standard_error(fit),
                    "trials": fit.trials,
                    "converged": fit.converged,
                    "seconds": round(fit.seconds, 3),
                    "parameters": fit.servo.parameters,
                    "at_bound": list(fit.at_bound),
                    "per_log": dict(fit.per_log),
                }
                for model, fit in self.fits.items()
            },
            "chosen": self.chosen,
            "reason": self.reason,
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

    def _validation_standard_error(self, fit: ModelFit) -> float | None:
        """Return the standard error of the mean over held-out logs, rad; None for a single log."""
        errors = [fit.per_log[log.name] for log in self.split.validation]
        return stdev(errors) / math.sqrt(len(errors)) if len(errors) > 1 else None

    def save(self, output: str | os.PathLike[str]) -> None:
        """Write one YAML file per model, ``summary.json`` and plots; see `writing.save`.

        Raises:
            BamError: the directory cannot be written; nothing of this identification is left there then.
        """
        from bam_core.identification.writing import save

        save(self, output)


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
    }


def choose(fits: Sequence[ModelFit]) -> str:
    """Return the model to use: the one with fewest parameters whose validation error is close to the lowest.

    "Close" is CLOSE_ENOUGH. A difference below that says more about the choice of held-out logs than about
    friction, and the simpler model carries further.
    """
    lowest = min(fit.validation_mae for fit in fits)
    limit = (1.0 + CLOSE_ENOUGH) * lowest
    good = [fit for fit in fits if fit.validation_mae <= limit or not math.isfinite(limit)]
    return min(good, key=lambda fit: (len(FRICTION_MODELS[fit.model].parameters), fit.validation_mae)).model
