# SPDX-License-Identifier: Apache-2.0
"""What a paper claims beside what this program finds."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bam_core.atomic_file import write_text
from bam_core.text_table import format_table

Figure = float | int | bool | str | None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One figure or statement of a paper.

    Attributes:
        claim: where it stands and what it is, such as "table 6.2, knee, F_v error".
        paper: what the paper says; None where it gives no figure.
        ours: what was found here, in the same unit.
        unit: of both, empty for statements.
        holds: whether ours bears the claim out; how that is decided is the business of the one who claims.
    """

    claim: str
    paper: Figure
    ours: Figure
    unit: str = ""
    holds: bool


def claims_table(claims: Sequence[Claim]) -> str:
    """Return paper against ours as a table for the terminal."""
    return format_table(
        ("claim", "paper", "ours", "unit", "holds"),
        [
            (each.claim, _text(each.paper), _text(each.ours), each.unit, "yes" if each.holds else "NO")
            for each in claims
        ],
    )


def write_claims(claims: Sequence[Claim], path: Path) -> None:
    """Write them as a JSON list of objects with the keys claim, paper, ours, unit, holds.

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
