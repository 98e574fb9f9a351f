# SPDX-License-Identifier: Apache-2.0
"""Which model to use: the simplest that selection cannot tell from the best, by one standard error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

SAME = 0.02
"""Relative difference of errors in selection below which two models are the same, however sure it is."""


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One model as selection sees it.

    Attributes:
        name: of the model.
        free_parameters: count.
        errors: mean absolute position error of every log by name, rad, of fits that did without it.
    """

    name: str
    free_parameters: int
    errors: Mapping[str, float]

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
class Verdict:
    """What became of a contender.

    Attributes:
        contender: who.
        is_good: it is as good as the best one.
        words: why it was chosen, or why not.
    """

    contender: Contender
    is_good: bool
    words: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The outcome of a contest.

    Attributes:
        name: of the model to use.
        reason: in words.
        verdicts: one per contender, in their order.
    """

    name: str
    reason: str
    verdicts: tuple[Verdict, ...]


def choose(contenders: Sequence[Contender]) -> Choice:
    """Choose the contender with fewest free parameters that is as good as the best in selection.

    As good means: worse by no more than one standard error of the difference, log by log, since logs differ
    in difficulty far more than models do on the same log. A single log has no such error; then, and in any
    case, a difference of SAME does not count.

    Args:
        contenders: one at least, judged by the same logs.
    """
    best = min(contenders, key=lambda each: each.error)
    if len(contenders) == 1:
        reason = f"{best.name} is the only model that was fitted (selection error {_mrad(best.error)})"
        verdict = Verdict(contender=best, is_good=True, words="the only one")
        return Choice(name=best.name, reason=reason, verdicts=(verdict,))
    excesses = [_excess(each, best) for each in contenders]
    good = [each for each, (mean, error) in zip(contenders, excesses, strict=True) if mean <= error]
    chosen = min(good or [best], key=lambda each: (each.free_parameters, each.error))
    verdicts = tuple(
        Verdict(contender=each, is_good=mean <= error, words=_words(each, chosen, best, mean, error))
        for each, (mean, error) in zip(contenders, excesses, strict=True)
    )
    return Choice(name=chosen.name, reason=_reason(chosen, best, contenders), verdicts=verdicts)


def excess(errors: Mapping[str, float], best: Mapping[str, float]) -> tuple[float, float]:
    """Return by how much logs are followed worse than by the best, and its standard error, rad.

    Log by log, since logs differ in difficulty far more than models do on the same log. A single log has no
    such error: zero then.
    """
    differences = [errors[log] - error for log, error in best.items()]
    error = stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return fmean(differences), error


def _excess(contender: Contender, best: Contender) -> tuple[float, float]:
    """Return by how much a contender is worse than the best, and what does not count, rad."""
    mean, error = excess(contender.errors, best.errors)
    return mean, max(error, SAME * best.error)


def _reason(chosen: Contender, best: Contender, contenders: Sequence[Contender]) -> str:
    lowest = f"{best.name} has the lowest selection error ({_mrad(best.error)})"
    if all(best.free_parameters <= each.free_parameters for each in contenders):
        return f"{lowest}, and none that was fitted is simpler"
    if chosen is best:
        return f"{lowest}, and no simpler model comes within one standard error of it"
    return (
        f"{lowest}; {chosen.name} ({_mrad(chosen.error)}) is the simplest model within one standard error "
        f"of it, log by log"
    )


def _words(each: Contender, chosen: Contender, best: Contender, mean: float, error: float) -> str:
    if each is chosen:
        return "chosen: the lowest error" if each is best else "chosen: the simplest of the good ones"
    if each is best:
        return f"the lowest error, but {chosen.name} is as good and simpler"
    apart = f"{_mrad(mean)} worse than {best.name}"
    if mean <= error:
        return f"as good ({apart}, within {_mrad(error)}), but {chosen.name} is simpler"
    chance = "chance" if len(best.errors) > 1 else "what does not count"  # of which one log knows nothing
    return f"{apart}, more than {chance} ({_mrad(error)})"


def _mrad(value: float) -> str:
    return f"{1e3 * value:.2f} mrad"
