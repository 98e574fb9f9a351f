# SPDX-License-Identifier: Apache-2.0
"""A page about a redone paper, in Markdown: what was redone, claims by kind, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bam_core.atomic_file import write_text
from bam_core.reproduce.claim import KINDS, TITLES, Claim, figures, verdict
from bam_core.reproduce.redone import Exhibit, Redone


def write_page(title: str, redone: Redone, path: Path) -> None:
    """Write the page; pictures are linked as files beside it.

    Args:
        title: of the paper.
        redone: what was found.
        path: of the page.

    Raises:
        BamError: the file cannot be written.
    """
    parts = [f"# {title}", redone.counts() + ".", "## Figures and tables", exhibits_table(redone.exhibits)]
    for exhibit in redone.exhibits:
        if exhibit.table:
            parts += [f"### {exhibit.name}: {exhibit.subject}", _table(exhibit.table[0], exhibit.table[1:])]
    failed = [each for each in redone.claims if not each.holds]
    if failed:
        parts += ["## What does not hold", _claims(failed)]
    for kind in KINDS:
        chosen = [each for each in redone.claims if each.kind == kind]
        if chosen:
            parts += [f"## {TITLES[kind]}", _claims(chosen)]
    for exhibit in redone.exhibits:
        parts += [f"![{exhibit.name}: {exhibit.subject}]({picture})" for picture in exhibit.pictures]
    write_text(path, "\n\n".join(parts) + "\n")


def exhibits_table(exhibits: Sequence[Exhibit]) -> str:
    """Return a paper's figures and tables as rows of Markdown."""
    rows = [(each.name, each.subject, "yes" if each.redone else "no", each.remark) for each in exhibits]
    return _table(("exhibit", "what it shows", "redone", "setting and difference, or why not"), rows)


def _claims(claims: Sequence[Claim]) -> str:
    rows = [
        (*figures(each), verdict(each), "; ".join(filter(None, (each.threshold_reason, each.reason))))
        for each in claims
    ]
    return _table(("claim", "paper", "ours", "unit", "holds", "threshold and its reason"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
