# SPDX-License-Identifier: Apache-2.0
"""What a paper claims beside what this program finds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bam_core.atomic_file import write_text
from bam_core.text_table import format_table

Figure = float | int | bool | str | None

Kind = Literal["construction", "synthetic", "real"]
"""What a claim is found on.

construction: it follows from the equations that the program solves, so it checks the code alone.
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


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One figure or statement of a paper.

    Attributes:
        claim: where it stands and what it is, such as "table 6.2, knee, F_v error".
        paper: what the paper says; None where it gives no figure.
        ours: what was found here, in the same unit.
        unit: of both, empty for statements.
        holds: whether ours bears the claim out.
        kind: what it is found on.
        threshold_reason: where `holds` draws the line and why there, such as "the paper's factor, ±30 %:
            what its three repeats differ by".
        contradicts: whether ours says the opposite of the paper's statement; `reason` tells why. A claim that
            does not hold and does not contradict is one that ours misses.
        reason: why it does not hold, as far as it is understood.

    Raises:
        ValueError: another kind, no threshold_reason, or a contradiction that holds or has no reason.
    """

    claim: str
    paper: Figure
    ours: Figure
    unit: str = ""
    holds: bool
    kind: Kind
    threshold_reason: str
    contradicts: bool = False
    reason: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS or not self.threshold_reason:
            raise ValueError(f"{self.claim!r}: needs one of the kinds {KINDS} and a threshold_reason")
        if self.contradicts and (self.holds or not self.reason):
            raise ValueError(f"{self.claim!r}: a contradiction does not hold and has a reason")


def claims_table(claims: Sequence[Claim]) -> str:
    """Return paper against ours as a table per kind for the terminal."""
    tables = []
    for kind in KINDS:
        chosen = [each for each in claims if each.kind == kind]
        if chosen:
            rows = [(*figures(each), verdict(each)) for each in chosen]
            table = format_table(("claim", "paper", "ours", "unit", "holds"), rows)
            tables.append(f"{TITLES[kind]}\n\n{table}")
    return "\n\n".join(tables)


def figures(claim: Claim) -> tuple[str, str, str, str]:
    """Return claim, paper, ours and unit as they are printed."""
    return claim.claim, _text(claim.paper), _text(claim.ours), claim.unit


def verdict(claim: Claim) -> str:
    """Return "yes", "NO", or "NO: contradicts"."""
    if claim.holds:
        return "yes"
    return "NO: contradicts" if claim.contradicts else "NO"


def write_claims(claims: Sequence[Claim], path: Path) -> None:
    """Write them as a JSON list of objects whose keys are the attributes of `Claim`.

    Raises:
        BamError: the file cannot be written.
    """
    entries = [
        {
            "claim": each.claim,
            "paper": _plain(each.paper),
            "ours": _plain(each.ours),
            "unit": each.unit,
            "holds": bool(each.holds),
            "kind": each.kind,
            "threshold_reason": each.threshold_reason,
            "contradicts": bool(each.contradicts),
            "reason": each.reason,
        }
        for each in claims
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
