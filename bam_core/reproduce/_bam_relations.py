# SPDX-License-Identifier: Apache-2.0
"""What BAM says in words about errors of models: which is better than which, and which is not.

Two errors within 5 % are alike: that is the standard error of a mean over 25 test logs that differ by a
quarter from each other, as those of a servo do. What is alike decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bam_core.reproduce.claim import Claim, Kind
from bam_core.servo.friction import FRICTION_MODELS

ALIKE = 0.05
"""Relative; see above."""

ALIKE_WORDS = f"two errors within {100 * ALIKE:.0f} % are alike and decide nothing"

NOT_UNDERSTOOD = "not understood"

Errors = Mapping[str, float]
"""Model -> mean absolute error, rad."""


@dataclass(frozen=True, kw_only=True)
class Relation:
    """That one model is better than another one, or that it is not.

    Attributes:
        model: of which it is said.
        than: the other one.
        denied: it is said that `model` is no better.
    """

    model: str
    than: str
    denied: bool = False

    def holds(self, mae: Errors) -> bool:
        """Return whether errors bear it out."""
        return self._is_better(mae) is not self.denied

    def contradicts(self, mae: Errors) -> bool:
        """Return whether errors say the opposite, and are not alike."""
        if self.denied:
            return self._is_better(mae)
        return mae[self.than] < (1.0 - ALIKE) * mae[self.model]

    def found(self, mae: Errors) -> str:
        """Return what errors say of the two models."""
        change = 100.0 * (mae[self.model] / mae[self.than] - 1.0)
        alike = not self._is_better(mae) and mae[self.than] >= (1.0 - ALIKE) * mae[self.model]
        word = "alike" if alike else "better" if change < 0.0 else "worse"
        return f"{self.model.upper()} against {self.than.upper()} {change:+.1f} %, {word}"

    def _is_better(self, mae: Errors) -> bool:
        return mae[self.model] < (1.0 - ALIKE) * mae[self.than]


def steps(models: Sequence[str]) -> tuple[Relation, ...]:
    """Return that each model is better than the one before."""
    return tuple(Relation(model=after, than=before) for before, after in pairwise(models))


def best_of_all(model: str) -> tuple[Relation, ...]:
    """Return that a model is better than each of the others."""
    return tuple(Relation(model=model, than=other) for other in FRICTION_MODELS if other != model)


def statement(
    words: str, mae: Errors, relations: Iterable[Relation], kind: Kind, told: str, reason: str = ""
) -> Claim:
    """Return a statement of the paper beside the errors of all models.

    Args:
        words: where it stands, and what it says.
        mae: of all models.
        relations: that it consists of.
        kind: of data.
        told: what they are, in words.
        reason: why it fails where it does, as far as it is understood.
    """
    relations = tuple(relations)
    opposite = [each.found(mae) for each in relations if each.contradicts(mae)]
    open_ones = [each.found(mae) for each in relations if not each.holds(mae) and not each.contradicts(mae)]
    found = [*(["; ".join(opposite)] if opposite else [])]
    if open_ones:
        found.append(f"the data do not decide: {'; '.join(open_ones)}")
    if opposite:
        found.append(reason or NOT_UNDERSTOOD)
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{1e3 * mae[model]:.2f}" for model in FRICTION_MODELS),
        unit="mrad, M1..M6",
        holds=not opposite and not open_ones,
        kind=kind,
        threshold_reason=f"{told}; {ALIKE_WORDS}",
        contradicts=bool(opposite),
        reason="; ".join(found),
    )
