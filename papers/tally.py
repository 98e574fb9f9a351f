# SPDX-License-Identifier: Apache-2.0
"""How many claims hold, by kind and outcome, and how much of a paper is redone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from papers.claim import KINDS, Claim

Extent = Literal["yes", "in part", "no"]
_EXTENT_WORDS: Mapping[Extent, str] = {"yes": "redone", "in part": "in part", "no": "not redone"}
_KIND_WORDS = {"construction": "by construction", "synthetic": "on synthetic data", "real": "on real data"}


@dataclass(frozen=True, kw_only=True)
class ClaimCount:
    """Claims that hold.

    Attributes:
        total: number of claims.
        held: number of those that hold.
        late: number of those that hold by choices made after results were seen; not among `held`.
        of_one_table: most of those that hold that are of one table.
    """

    total: int
    held: int
    late: int = 0
    of_one_table: int = 0

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> ClaimCount:
        """Count claims."""
        tables = Counter(claim.table for claim in claims if claim.counts and claim.table)
        return cls(
            total=len(claims),
            held=sum(claim.counts for claim in claims),
            late=sum(claim.holds and not claim.counts for claim in claims),
            of_one_table=max(tables.values(), default=0),
        )

    def __str__(self) -> str:
        same = f", {self.of_one_table} of them of one table" if self.of_one_table > 1 else ""
        more = f", {self.late} more by choices made after results were seen" if self.late else ""
        return f"{self.held} hold{same}{more}"


@dataclass(frozen=True, kw_only=True)
class ExtentCount:
    """How many figures and tables are redone, in part, or not."""

    redone: int
    in_part: int
    not_redone: int

    @classmethod
    def of(cls, extents: Sequence[Extent]) -> ExtentCount:
        """Count extents."""
        return cls(
            redone=extents.count("yes"), in_part=extents.count("in part"), not_redone=extents.count("no")
        )

    def __str__(self) -> str:
        numbers = (self.redone, self.in_part, self.not_redone)
        parts = (f"{number} {word}" for number, word in zip(numbers, _EXTENT_WORDS.values(), strict=True))
        return f"{', '.join(parts)} of {sum(numbers)}"


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The counts of a paper; its text is one line.

    Attributes:
        kinds: kind of claim -> its claims.
        contradicted: number of claims.
        missed: likewise.
        undecided: likewise.
        numbered: figures and tables of the paper.
        beside: what was added to them.
        checks: that are no statement of the paper; None: there are none.
    """

    kinds: Mapping[str, ClaimCount]
    contradicted: int
    missed: int
    undecided: int
    numbered: ExtentCount
    beside: ExtentCount
    checks: ClaimCount | None = None

    @classmethod
    def of(
        cls,
        claims: Sequence[Claim],
        numbered: Sequence[Extent],
        beside: Sequence[Extent],
        checks: Sequence[Claim] = (),
    ) -> Tally:
        """Count claims, extents and checks."""
        return cls(
            kinds={kind: ClaimCount.of([claim for claim in claims if claim.kind == kind]) for kind in KINDS},
            contradicted=sum(claim.contradicts for claim in claims),
            missed=sum(claim.missed for claim in claims),
            undecided=sum(claim.undecided for claim in claims),
            numbered=ExtentCount.of(numbered),
            beside=ExtentCount.of(beside),
            checks=ClaimCount.of(checks) if checks else None,
        )

    def __str__(self) -> str:
        parts = [f"{count.total} {_KIND_WORDS[kind]} ({count})" for kind, count in self.kinds.items()]
        parts += [
            f"{self.contradicted} contradicted",
            f"{self.missed} missed",
            f"{self.undecided} not decided",
            f"{self.numbered.not_redone + self.beside.not_redone} not redone",
        ]
        line = f"{', '.join(parts)} (figures and tables: {self.numbered}; beside these: {self.beside})"
        if self.checks is None:
            return line
        checks = self.checks
        return (
            f"{line}. Apart from these, {checks.total} checks that are no statement of the paper ({checks})"
        )
