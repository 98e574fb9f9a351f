# SPDX-License-Identifier: Apache-2.0
"""What BAM says in words about errors of models: which is better than which, and which is not.

What decides is the 95 % interval of the ratio of two models' mean errors over runs that neither was fitted
to. Both models have the same runs, so runs are drawn anew in pairs (bootstrap): what makes a run hard for all
models is in both means. How far errors are from each other by chance is told by the runs, not by us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.friction import FRICTION_MODELS
from papers.claim import UNCERTAIN, Claim, Kind

CLEAR = 0.08
"""Relative; an improvement that is less is none that the paper would speak of: the two models are alike.

Half of the smallest mean step from model to model that it does call an improvement: a factor of 2.34 in five
steps (eRob80:100, VI-A), 1.185 a step, 1.089 half a step.
"""

STEP_RULE = f"the {100 * CLEAR:.0f} % rule"
STEP_NOTE = (
    f"*{STEP_RULE[0].upper()}{STEP_RULE[1:]}*: whether a model is better than another one is told by the 95 %"
    " interval of the ratio of their mean errors, from runs drawn anew in pairs. It is better where all of"
    f" the interval is below 1 - {CLEAR:g}, no improvement where all of it is above, else not decided."
    f" {100 * CLEAR:.0f} % is half of the smallest mean step from model to model that the paper calls an"
    " improvement: its factor of 2.34 in the five steps from M1 to M6 of the eRob80:100 (VI-A)"
)
"""What thresholds mean that name STEP_RULE; said once on the page."""

NOT_UNDERSTOOD = "not understood"
TOO_LITTLE = f"is not better by {100 * CLEAR:.0f} %"

_DRAWS = 5000
_TAIL = 0.025
_ALIKE = 0.05  # by which errors had to differ before intervals took its place
_CHANGED = (
    "the paired interval took the place of 'errors within 5 % are alike' when errors had been seen, and by"
    " that it did not hold"
)

Errors = Mapping[str, Array]
"""Model -> mean absolute errors of runs, (runs,) rad, the same runs for all models."""

RepeatedErrors = Mapping[str, Array]
"""Model -> likewise of each repeat of its identification, (repeats, runs) rad."""

Verdict = Literal["holds", "opposite", "alike", "open"]
"""What errors say of a relation; alike: it does not hold, and neither does its opposite."""


def means(errors: Errors) -> dict[str, float]:
    """Return by model the mean over the runs, rad."""
    return {model: float(np.mean(error)) for model, error in errors.items()}


@dataclass(frozen=True, kw_only=True)
class Relation:
    """That one model is better than another one, or that it is not.

    Attributes:
        model: of which it is said.
        than: the other one.
        denied: it is said that `model` is no (clear) improvement.
    """

    model: str
    than: str
    denied: bool = False

    def verdict(self, errors: Errors) -> Verdict:
        """Return what errors say of it."""
        return verdict_of(*self._interval(errors), denied=self.denied)

    def held_by_limit(self, errors: Errors) -> bool:
        """Return whether means that differ by 5 % bear it out, which decided before intervals did."""
        return (self._ratio(errors) < 1.0 - _ALIKE) is not self.denied

    def comparison(self, errors: Errors) -> str:
        """Return what errors say of the two models."""
        change, low, high = (
            100.0 * (ratio - 1.0) for ratio in (self._ratio(errors), *self._interval(errors))
        )
        return f"{self.model.upper()} against {self.than.upper()} {change:+.1f} % ({low:+.1f} to {high:+.1f})"

    def _ratio(self, errors: Errors) -> float:
        return float(np.mean(errors[self.model]) / np.mean(errors[self.than]))

    def _interval(self, errors: Errors) -> tuple[float, float]:
        chosen = {model: errors[model][None] for model in (self.model, self.than)}
        ours, theirs = drawn_means(chosen)
        return _ends(ours / theirs)


def best_factor(errors: RepeatedErrors) -> tuple[float, float]:
    """Return the 95 % interval of M1's mean error over that of the best model, (low, high).

    Runs are drawn anew in pairs, a repeat of each model's identification at random, and the best model is
    found in each draw.
    """
    drawn = drawn_means(errors)
    return _ends(drawn[list(errors).index("m1")] / drawn.min(axis=0))


def drawn_means(errors: RepeatedErrors) -> Array:
    """Return means over runs that are drawn anew, the same for all models, (models, draws) rad."""
    random = np.random.default_rng(1)
    drawn = _drawn(next(iter(errors.values())).shape[1])
    return np.array(
        [(drawn * error[random.integers(len(error), size=_DRAWS)]).sum(axis=1) for error in errors.values()]
    )


@cache
def _drawn(count: int) -> Array:
    """Return how often each of `count` runs is drawn in as many draws, over their number, (draws, count)."""
    random = np.random.default_rng(0)
    return np.asarray(random.multinomial(count, np.full(count, 1.0 / count), size=_DRAWS) / count)


def _ends(ratios: Array) -> tuple[float, float]:
    low, high = np.quantile(ratios, (_TAIL, 1.0 - _TAIL))
    return float(low), float(high)


def verdict_of(low: float, high: float, *, denied: bool) -> Verdict:
    """Return what an interval of the ratio of two errors says, by one limit for all relations.

    Args:
        low, high: ends of the interval of a model's error over that of the other one.
        denied: it is said that the model is no improvement, otherwise that it is better.
    """
    if high < 1.0 - CLEAR:
        return "opposite" if denied else "holds"
    if low <= 1.0 - CLEAR:
        return "open"
    if denied:
        return "holds"
    return "opposite" if low > 1.0 / (1.0 - CLEAR) else "alike"


def steps(models: Sequence[str]) -> tuple[Relation, ...]:
    """Return that each model is better than the one before."""
    return tuple(Relation(model=after, than=before) for before, after in pairwise(models))


def best_of_all(model: str) -> tuple[Relation, ...]:
    """Return that a model is better than each of the others."""
    return tuple(Relation(model=model, than=other) for other in FRICTION_MODELS if other != model)


def statement(
    words: str,
    errors: Errors,
    relations: Iterable[Relation],
    kind: Kind,
    told: str,
    reason: str = "",
    chosen_after: str = "",
    *,
    of_others: bool = False,
) -> Claim:
    """Return a statement of the paper beside the errors of all models.

    Args:
        words: where it stands, and what it says.
        errors: of all models.
        relations: that it consists of.
        kind: of data.
        told: what they are, in words.
        reason: why it fails where it does, as far as it is understood.
        chosen_after: as of `Claim`.
        of_others: the errors are of other real devices than those that the paper speaks of, so that none
            contradicts it.
    """
    relations = tuple(relations)
    by_verdict: dict[Verdict, list[str]] = {"holds": [], "opposite": [], "alike": [], "open": []}
    for relation in relations:
        by_verdict[relation.verdict(errors)].append(relation.comparison(errors))
    opposite, alike, open_ones = (by_verdict[verdict] for verdict in ("opposite", "alike", "open"))
    holds = not (opposite or alike or open_ones)
    reasons = ["; ".join(opposite)]
    if alike:
        reasons.append(f"{TOO_LITTLE}: {'; '.join(alike)}")
    if open_ones:
        reasons.append(f"{UNCERTAIN}: {'; '.join(open_ones)}")
    if opposite or alike:
        reasons.append(reason or NOT_UNDERSTOOD)
    changed = holds and not all(relation.held_by_limit(errors) for relation in relations)
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{1e3 * value:.2f}" for value in means(errors).values()),
        unit="mrad, M1..M6",
        holds=holds,
        kind=kind,
        threshold_reason=f"{told}; by {STEP_RULE}",
        contradicts=bool(opposite) and not of_others,
        undecided=not (holds or opposite or alike),
        chosen_after="; ".join(filter(None, (chosen_after, _CHANGED if changed else ""))),
        reason="; ".join(filter(None, reasons)),
    )
