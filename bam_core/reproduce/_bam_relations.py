# SPDX-License-Identifier: Apache-2.0
"""What BAM says in words about errors of models: which is better than which, and which is not.

What decides is the 95 % interval of the ratio of two models' mean errors over runs that neither was fitted
to. Both models have the same runs, so runs are drawn anew in pairs (bootstrap): what makes a run hard for all
models is in both means. How far errors are from each other by chance is told by the runs, not by us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bam_core.arrays import Array
from bam_core.reproduce.claim import Claim, Kind
from bam_core.servo.friction import FRICTION_MODELS

CLEAR = 0.08
"""Relative; an improvement that is less is none that the paper would speak of.

Half of the smallest mean step from model to model that it does call an improvement: a factor of 2.34 in five
steps (eRob80:100, VI-A), 1.185 a step, 1.089 half a step.
"""

INTERVAL_WORDS = (
    "by the 95 % interval of the ratio of mean errors, from runs drawn anew in pairs: better where it is"
    f" below 1, no (clear) improvement where it is above 1 - {CLEAR:g}, half of the smallest step that the"
    " paper calls one; else not decided"
)

NOT_UNDERSTOOD = "not understood"

_DRAWS = 5000
_TAIL = 0.025
_ALIKE = 0.05  # by which errors had to differ before intervals took its place
_CHANGED = (
    "the paired interval took the place of 'errors within 5 % are alike' when errors had been seen, and by"
    " that it did not hold"
)

Errors = Mapping[str, Array]
"""Model -> mean absolute errors of runs, (runs,) rad, the same runs for all models."""


def means(errors: Errors) -> dict[str, float]:
    """Return by model the mean over the runs, rad."""
    return {model: float(np.mean(each)) for model, each in errors.items()}


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

    def holds(self, errors: Errors) -> bool:
        """Return whether errors bear it out."""
        low, high = self._interval(errors)
        return low > 1.0 - CLEAR if self.denied else high < 1.0

    def contradicts(self, errors: Errors) -> bool:
        """Return whether errors say the opposite."""
        low, high = self._interval(errors)
        return high < 1.0 - CLEAR if self.denied else low > 1.0

    def held_by_limit(self, errors: Errors) -> bool:
        """Return whether means that differ by 5 % bear it out, which decided before intervals did."""
        return (self._ratio(errors) < 1.0 - _ALIKE) is not self.denied

    def found(self, errors: Errors) -> str:
        """Return what errors say of the two models."""
        change, low, high = (100.0 * (each - 1.0) for each in (self._ratio(errors), *self._interval(errors)))
        return f"{self.model.upper()} against {self.than.upper()} {change:+.1f} % ({low:+.1f} to {high:+.1f})"

    def _ratio(self, errors: Errors) -> float:
        return float(np.mean(errors[self.model]) / np.mean(errors[self.than]))

    def _interval(self, errors: Errors) -> tuple[float, float]:
        ours, theirs = errors[self.model], errors[self.than]
        drawn = np.random.default_rng(0).integers(len(ours), size=(_DRAWS, len(ours)))
        low, high = np.quantile(ours[drawn].mean(axis=1) / theirs[drawn].mean(axis=1), (_TAIL, 1.0 - _TAIL))
        return float(low), float(high)


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
    """
    relations = tuple(relations)
    opposite = [each for each in relations if each.contradicts(errors)]
    open_ones = [each for each in relations if not each.holds(errors) and each not in opposite]
    holds = not opposite and not open_ones
    found = ["; ".join(each.found(errors) for each in opposite)]
    if open_ones:
        found.append(f"the data do not decide: {'; '.join(each.found(errors) for each in open_ones)}")
    if opposite:
        found.append(reason or NOT_UNDERSTOOD)
    changed = holds and not all(each.held_by_limit(errors) for each in relations)
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{1e3 * value:.2f}" for value in means(errors).values()),
        unit="mrad, M1..M6",
        holds=holds,
        kind=kind,
        threshold_reason=f"{told}; {INTERVAL_WORDS}",
        contradicts=bool(opposite),
        undecided=bool(open_ones) and not opposite,
        chosen_after="; ".join(filter(None, (chosen_after, _CHANGED if changed else ""))),
        reason="; ".join(filter(None, found)),
    )
