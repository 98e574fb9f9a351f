# SPDX-License-Identifier: Apache-2.0
"""What the verdicts on a servo of a bench and on those of a robot have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from bam_core.text.finding import Finding
from bam_core.text.verdict_findings import ErrorShare
from bam_core.text.verdict_words import RULE, VERDICTS, headline, verdict_words


@dataclass(frozen=True, kw_only=True)
class VerdictForm(ABC):
    """Whether to use servo files, for what, and how far off they will be.

    Attributes:
        model: whose verdict it is.
        test_mae: mean absolute position error of the test, rad; None without one.
        motion: mean absolute distance of the test's positions from their mean, rad; None without one.
        new: conditions of the test that no training has: "kp", "load", "supply", "script".
        reasons: kinds of reservations, the weightiest first; empty of a green verdict.
        worst: largest error of a single run, as a multiple of `test_mae`; 0 without a test.
        beside: what the verdict rests on and does not cover.
    """

    model: str
    test_mae: float | None
    motion: float | None
    new: tuple[str, ...]
    reasons: tuple[str, ...]
    worst: float = 0.0
    beside: tuple[Finding, ...] = ()

    RED: ClassVar[tuple[str, ...]]
    """Kinds of reservations that make a verdict red; the others make it yellow."""

    rule: ClassVar[str] = RULE
    """How the kind follows from the findings."""

    @property
    @abstractmethod
    def file(self) -> str:
        """Name or pattern of the servo files."""

    @abstractmethod
    def words(self, kind: str) -> str:
        """Return a reservation in at most eight words."""

    @property
    def kind(self) -> str:
        """One of `VERDICTS`."""
        if any(reason in self.RED for reason in self.reasons):
            return "red"
        return "yellow" if self.reasons else "green"

    @property
    def share(self) -> float | None:
        """Test error as a share of the motion; None where either is unknown."""
        return None if self.test_mae is None or not self.motion else self.test_mae / self.motion

    @property
    def sentence(self) -> str:
        """The verdict in at most 25 words."""
        reason = self.words(self.reasons[0]) if self.reasons else ""
        return verdict_words(self.kind, self.file, self.test_mae, self.share, self.new, reason)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What stands beside the verdict, the test error as a share of the motion first."""
        if self.test_mae is None or not self.motion:
            return self.beside
        return ErrorShare(error=self.test_mae, motion=self.motion), *self.beside

    @property
    def lines(self) -> tuple[str, ...]:
        """Colour, word and sentence; reservations where there are several; findings; the rule."""
        return (
            f"{headline(self.kind)}: {self.sentence}",
            *self._reservations,
            *(finding.sentence for finding in self.findings),
            f"rule: {self.rule}",
        )

    @property
    def _reservations(self) -> tuple[str, ...]:
        """All of them, in a line."""
        if len(self.reasons) < 2:
            return ()
        return (f"reservations: {'; '.join(map(self.words, self.reasons))}",)

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``; errors in rad."""
        return {
            "kind": self.kind,
            "word": VERDICTS[self.kind],
            "sentence": self.sentence,
            "rule": self.rule,
            "findings": [finding.summary() for finding in self.findings],
            "reasons": [{"kind": kind, "sentence": self.words(kind)} for kind in self.reasons],
            "model": self.model,
            "test_mae": self.test_mae,
            "motion": self.motion,
            "share_of_motion": self.share,
            "new_conditions": list(self.new),
            "worst_run": self.worst,
        }
