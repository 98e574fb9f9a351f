# SPDX-License-Identifier: Apache-2.0
"""What a paper claims beside what this program finds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bam_core.files.atomic_file import write_text
from bam_core.text.table import format_table

Figure = float | int | bool | str | None

Kind = Literal["construction", "synthetic", "real"]
"""What a claim is found on.

construction: the equations of the paper are solved as they stand, so it checks the code, and settings that
    the paper leaves open.
synthetic: simulated servos or robots that differ from what is fitted or compensated, as real ones do; the
    claim can come out wrong.
real: recordings of real devices.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
TITLES: dict[Kind, str] = {
    "construction": "By construction",
    "synthetic": "On synthetic data",
    "real": "On real data",
}

UNCERTAIN = "the uncertainty reaches across the limit"
"""Reason of claims that are not decided."""

UNEXPECTED = "not understood: nobody has looked for a cause yet"
"""Reason of a claim that does not hold where none is given: in no complete run that is published."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One figure or statement of a paper.

    What does not hold is one of three. One rule for all papers:

    contradicted: a statement of the paper came out wrong. It says a direction, an order, that something
        happens or that nothing does, and the opposite comes out by more than its uncertainty and by more than
        the margin in its threshold. Of an effect whose size is told, such as "3 times higher", the opposite
        is no effect: it contradicts where all of ours, as a ratio, is nearer to 1 than to the paper's figure.
        Recordings of other real devices do not contradict what a paper says of its own, nor does another
        search what it says of its own; simulations that stand in for its devices can.
    not decided: a result within its uncertainty, or one that hangs on a setting which the paper does not
        give and comes out with another value of it.
    missed: all else, such as a figure of the paper that lies outside of ours and its threshold.

    Attributes:
        claim: where it stands and what it is, such as "table 6.2, knee, F_v error".
        paper: what the paper says. None, in rows that are no statement of it (`Redone.checks`), where nothing
            else is to be expected either.
        ours: what was found here, in the same unit.
        unit: of both, empty for statements.
        holds: whether ours bears the claim out.
        kind: what it is found on.
        threshold_reason: where `holds` draws the line and why there, such as "the paper's factor, ±30 %:
            what its three repeats differ by".
        contradicts: whether the paper's statement came out wrong, by the rule above.
        undecided: whether the data do not decide, by the rule above; `reason` says what leaves it open.
        chosen_after: which choice was made when results had been seen, such as a threshold or a setting;
            empty where none was. Such a claim is not counted among those that hold.
        reason: why it does not hold: a cause that was measured or checked, or "not understood" and what was
            excluded.
        table: of which one table it is a row, such as one robot's at several gains, where one table has
            several claims that come out together; empty where it stands alone.

    Raises:
        ValueError: another kind, no threshold_reason, or more than one outcome.
    """

    claim: str
    paper: Figure
    ours: Figure
    unit: str = ""
    holds: bool
    kind: Kind
    threshold_reason: str
    contradicts: bool = False
    undecided: bool = False
    chosen_after: str = ""
    reason: str = ""
    table: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.threshold_reason:
            raise ValueError(f"{self.claim!r}: needs one of the kinds {KINDS} and a threshold_reason")
        if self.holds + self.contradicts + self.undecided > 1:
            raise ValueError(f"{self.claim!r}: holds, contradicts or is not decided")
        if not self.holds and not self.reason:  # it held whenever somebody looked
            object.__setattr__(self, "reason", UNEXPECTED)

    @property
    def missed(self) -> bool:
        """Whether it does not hold, is decided, and does not contradict."""
        return not (self.holds or self.contradicts or self.undecided)

    @property
    def counts(self) -> bool:
        """Whether it counts among those that hold: no choice was made when results had been seen."""
        return self.holds and not self.chosen_after


def claim(
    kind: Kind,
    name: str,
    paper: Figure,
    ours: Figure,
    holds: bool,
    threshold: str,
    unit: str = "",
    *,
    contradicts: bool = False,
    undecided: bool = False,
    chosen_after: str = "",
    reason: str = UNEXPECTED,
) -> Claim:
    """Return a claim, of which outcome and `reason` count only where it does not hold.

    Args:
        kind: what it is found on.
        name: where it stands and what it is.
        paper: what the paper says.
        ours: what was found here.
        holds: whether ours bears the claim out.
        threshold: where `holds` draws the line and why there.
        unit: of both.
        contradicts: whether it contradicts the paper where it does not hold; see `Claim`.
        undecided: whether it is not decided where it neither holds nor contradicts.
        chosen_after: see `Claim`.
        reason: why it does not hold.
    """
    failed = not holds
    return Claim(
        claim=name,
        paper=paper,
        ours=ours,
        unit=unit,
        holds=bool(holds),
        kind=kind,
        threshold_reason=threshold,
        contradicts=failed and bool(contradicts),
        undecided=failed and bool(undecided) and not contradicts,
        chosen_after=chosen_after,
        reason=reason if failed else "",
    )


def claims_table(claims: Sequence[Claim]) -> str:
    """Return paper against ours as a table per kind for the terminal."""
    tables = []
    for kind in KINDS:
        chosen = [claim for claim in claims if claim.kind == kind]
        if chosen:
            rows = [(*figures(claim), verdict(claim)) for claim in chosen]
            table = format_table(("claim", "paper", "ours", "unit", "holds"), rows)
            tables.append(f"{TITLES[kind]}\n\n{table}")
    return "\n\n".join(tables)


def figures(claim: Claim) -> tuple[str, str, str, str]:
    """Return claim, paper, ours and unit as they are printed."""
    return claim.claim, _text(claim.paper), _text(claim.ours), claim.unit


def verdict(claim: Claim) -> str:
    """Return whether it holds, or what it is instead, and whether a choice came after results."""
    word = "yes" if claim.holds else f"NO: {outcome(claim)}"
    return f"{word}, chosen after" if claim.chosen_after else word


def outcome(claim: Claim) -> str:
    """Return what a claim is that does not hold; see `Claim`."""
    return "contradicted" if claim.contradicts else "not decided" if claim.undecided else "missed"


def write_claims(claims: Sequence[Claim], path: Path) -> None:
    """Write them as a JSON list of objects whose keys are the attributes of `Claim`, and `missed`.

    Raises:
        BamError: the file cannot be written.
    """
    entries = [
        {
            "claim": claim.claim,
            "paper": _plain(claim.paper),
            "ours": _plain(claim.ours),
            "unit": claim.unit,
            "holds": bool(claim.holds),
            "kind": claim.kind,
            "threshold_reason": claim.threshold_reason,
            "contradicts": bool(claim.contradicts),
            "missed": bool(claim.missed),
            "undecided": bool(claim.undecided),
            "chosen_after": claim.chosen_after,
            "reason": claim.reason,
            "table": claim.table,
        }
        for claim in claims
    ]
    write_text(path, json.dumps(entries, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _text(value: Figure) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return f"{value:.4g}"


def _plain(value: Figure) -> Any:
    """JSON knows no infinities and no numpy; they become text and plain numbers."""
    if value is None or isinstance(value, (bool, str)):
        return value
    number = float(value)
    return number if math.isfinite(number) else str(number)
