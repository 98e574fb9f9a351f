# SPDX-License-Identifier: Apache-2.0
"""Which model to use: of those that are as good as the best in selection, one with the lowest training error.

Selection rejects models that are wrong on logs that they were not fitted to. It cannot order the others, for
one stick or slip decides the error of a run. A richer model contains the simpler one, and its extra terms
come out near zero where no log needs them; a model that is too simple fails at gains and loads that no log
has. On an XL330 with each gain held out in turn and three seeds, the models chosen by the rule below miss
that gain by 12.7 mrad on the mean (16.4 at worst); the simplest of the good ones, the rule before, by 16.3
(24.0 at worst).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from bam_core.text.choice_findings import ChoiceReason, ModelVerdict

SAME = 0.02
"""Relative difference of errors in selection below which two models are the same, however sure it is."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One model as selection sees it.

    Attributes:
        name: of the model.
        free_parameters: count.
        errors: mean absolute position error of every log by name, rad, of fits that did without it.
        training_error: mean absolute position error of the fit to all training logs, rad; None where there
            is no selection, and `errors` are those of training.
    """

    name: str
    free_parameters: int
    errors: Mapping[str, float]
    training_error: float | None = None

    @property
    def error(self) -> float:
        """Mean over logs, rad."""
        return fmean(self.errors.values())

    @property
    def standard_error(self) -> float | None:
        """Of that mean, rad; None for a single log."""
        errors = list(self.errors.values())
        return stdev(errors) / math.sqrt(len(errors)) if len(errors) > 1 else None


@dataclass(frozen=True, kw_only=True)
class ContenderResult:
    """What became of a contender.

    Attributes:
        contender: who.
        is_good: it is as good as the best one.
        finding: why it was chosen, or why not.
    """

    contender: Contender
    is_good: bool
    finding: ModelVerdict


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The outcome of a contest.

    Attributes:
        name: of the model to use.
        reason: why that one.
        verdicts: one per contender, in their order.
    """

    name: str
    reason: ChoiceReason
    verdicts: tuple[ContenderResult, ...]


def choose(contenders: Sequence[Contender]) -> Choice:
    """Choose by training errors among the contenders that are as good as the best in selection.

    As good means: worse by no more than one standard error of the difference, log by log, since logs differ
    in difficulty far more than models do on the same log. A single log has no such error; then, and in any
    case, a difference of SAME does not count. Of those, the ones count whose training error is above the
    lowest by no more than SAME, and of these the one with fewest free parameters is chosen. Without
    selection it is the one with fewest free parameters of the good ones: training errors alone would always
    take the richest.

    Args:
        contenders: one at least, evaluated on the same logs.
    """
    best = min(contenders, key=lambda contender: contender.error)
    excesses = [_excess(contender, best) for contender in contenders]
    good = [contender for contender, (mean, error) in zip(contenders, excesses, strict=True) if mean <= error]
    limit = (1.0 + SAME) * min(_training_error(contender) for contender in good)
    closest = [contender for contender in good if _training_error(contender) <= limit]
    chosen = min(closest, key=lambda contender: (contender.free_parameters, contender.error))
    verdicts = tuple(
        ContenderResult(
            contender=contender,
            is_good=mean <= error,
            finding=_finding(contender, chosen, best, mean, error, alone=len(contenders) == 1),
        )
        for contender, (mean, error) in zip(contenders, excesses, strict=True)
    )
    kind = "only" if len(contenders) == 1 else "clearly_best" if len(good) == 1 else "simplest"
    reason = ChoiceReason(
        kind=kind,
        chosen=chosen.name,
        error=chosen.error,
        best=best.name,
        best_error=best.error,
        compared=_compared(chosen),
        training_error=chosen.training_error,
        margin=SAME,
    )
    return Choice(name=chosen.name, reason=reason, verdicts=verdicts)


def excess(errors: Mapping[str, float], best: Mapping[str, float]) -> tuple[float, float]:
    """Return by how much logs are followed worse than by the best, and its standard error, rad.

    Log by log, since logs differ in difficulty far more than models do on the same log. A single log has no
    such error: zero then.
    """
    differences = [errors[log] - error for log, error in best.items()]
    error = stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return fmean(differences), error


def _training_error(contender: Contender) -> float:
    """Return the error that decides among good contenders, rad; all have the same without selection."""
    return 0.0 if contender.training_error is None else contender.training_error


def _excess(contender: Contender, best: Contender) -> tuple[float, float]:
    """Return by how much a contender is worse than the best, and what does not count, rad."""
    mean, error = excess(contender.errors, best.errors)
    return mean, max(error, SAME * best.error)


def _compared(contender: Contender) -> str:
    """Return which errors are compared."""
    return "training" if contender.training_error is None else "selection"


def _finding(
    contender: Contender, chosen: Contender, best: Contender, mean: float, error: float, *, alone: bool
) -> ModelVerdict:
    if alone:
        kind = "only"
    elif mean > error:
        kind = "worse"
    elif contender is chosen:
        kind = "chosen"
    elif contender.free_parameters >= chosen.free_parameters:
        kind = "more_complex"
    else:
        kind = "worse_trained"
    return ModelVerdict(
        kind=kind,
        chosen=chosen.name,
        best=best.name,
        is_best=contender is best,
        compared=_compared(contender),
        error=contender.error,
        best_error=best.error,
        excess=mean,
        tolerance=error,
        is_statistical=len(best.errors) > 1,
        training_error=_training_error(contender),
        chosen_training_error=_training_error(chosen),
    )
