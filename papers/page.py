# SPDX-License-Identifier: Apache-2.0
"""A page about a redone paper, in Markdown: what was redone, claims by kind, pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bam_core.files.atomic_file import write_text
from papers.claim import KINDS, TITLES, Claim, figures, verdict
from papers.redone import Exhibit, Redone

NOTES = "What several claims have in common"
CHECKS = "Checks that are no statement of the paper"


def write_page(title: str, redone: Redone, path: Path) -> None:
    """Write the page; pictures are linked as files beside it.

    Args:
        title: of the paper.
        redone: what was found.
        path: of the page.

    Raises:
        BamError: the file cannot be written.
    """
    parts = [f"# {title}", f"{redone.counts()}."]
    if redone.notes:
        parts += [f"## {NOTES}", "\n".join(f"- {note}" for note in redone.notes)]
    numbered = [exhibit for exhibit in redone.exhibits if exhibit.is_numbered]
    beside = [exhibit for exhibit in redone.exhibits if not exhibit.is_numbered]
    for heading, exhibits in (("Figures and tables", numbered), ("Beside figures and tables", beside)):
        if exhibits:
            parts += [f"## {heading}", exhibits_table(exhibits)]
    for exhibit in redone.exhibits:
        if exhibit.table:
            parts += [f"### {exhibit.name}: {exhibit.subject}", table(exhibit.table[0], exhibit.table[1:])]
    failed = [claim for claim in redone.claims if not claim.holds]
    if failed:
        parts += ["## What does not hold", _claims(failed)]
    late = [claim for claim in redone.claims if claim.holds and not claim.counts]
    if late:
        parts += ["## What holds by choices made after results were seen", _claims(late)]
    for kind in KINDS:
        chosen = [claim for claim in redone.claims if claim.kind == kind]
        if chosen:
            parts += [f"## {TITLES[kind]}", _claims(chosen)]
    if redone.checks:
        parts += [f"## {CHECKS}", _claims(redone.checks)]
    for exhibit in redone.exhibits:
        parts += [f"![{caption}]({picture})" for picture, caption in _pictures(exhibit)]
    write_text(path, "\n\n".join(parts) + "\n")


def exhibits_table(exhibits: Sequence[Exhibit]) -> str:
    """Return figures and tables of a paper as rows of Markdown."""
    rows = [
        (
            exhibit.name,
            exhibit.subject,
            exhibit.extent,
            "; missing: ".join(filter(None, (exhibit.remark, exhibit.missing))),
        )
        for exhibit in exhibits
    ]
    return table(("exhibit", "what it shows", "redone", "setting and difference, or why not"), rows)


def _pictures(exhibit: Exhibit) -> Iterator[tuple[str, str]]:
    """Yield each picture and a caption that no other picture has."""
    for index, picture in enumerate(exhibit.pictures):
        if exhibit.captions:
            words = exhibit.captions[index]
        elif len(exhibit.pictures) == 1:
            words = exhibit.subject
        else:
            words = f"{exhibit.subject} ({Path(picture).stem})"
        yield picture, f"{exhibit.name}: {words}"


def _claims(claims: Sequence[Claim]) -> str:
    rows = [
        (
            *figures(claim),
            verdict(claim),
            "; ".join(filter(None, (claim.threshold_reason, _chosen_after(claim), claim.reason))),
        )
        for claim in claims
    ]
    return table(("claim", "paper", "ours", "unit", "holds", "threshold and its reason"), rows)


def _chosen_after(claim: Claim) -> str:
    return f"CHOSEN AFTER results were seen: {claim.chosen_after}" if claim.chosen_after else ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of Markdown; bars within cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
