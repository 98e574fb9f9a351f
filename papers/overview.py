# SPDX-License-Identifier: Apache-2.0
"""One page about all papers: their claims counted, from what `python -m papers` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from papers.claim import KINDS, TITLES
from papers.page import table
from papers.paper import PAPERS

Entry = Mapping[str, Any]
"""A claim as `write_claims` writes it."""

_HEADER = (
    "paper",
    *(f"{TITLES[kind].lower()}, hold of all" for kind in KINDS),
    "hold, chosen after",
    "contradicted",
    "missed",
    "not decided",
    "checks apart, hold of all",
    "redone on",
)


def redone_papers(results: Path) -> tuple[str, ...]:
    """Return the names of the papers of which there are results.

    Args:
        results: directory with a folder per paper, named as in `PAPERS`.
    """
    return tuple(name for name in PAPERS if (results / name / "summary.json").is_file())


def overview(results: Path) -> str:
    """Return the page, in Markdown: a row per paper, and which papers have no results.

    Args:
        results: directory with a folder per paper, as `make papers` leaves it.
    """
    names = redone_papers(results)
    parts = ["# Results of the papers"]
    if names:
        rows = [_row(results / name) for name in names]
        parts += [
            "[Papers redone](../explanation/papers.md) explains kinds and outcomes. The page of each paper"
            " has its claims, the reason of each threshold, and pictures.",
            table(_HEADER, [*rows, _sums(rows)]),
        ]
    missing = [name for name in PAPERS if name not in names]
    if missing:
        words = ", ".join(f"`{name}`" for name in missing)
        parts.append(f"Without results where this page was built: {words}. `make papers` writes them.")
    if names:
        pages = "\n".join(f"{name}/page" for name in names)
        parts.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```")
    return "\n\n".join(parts) + "\n"


def _row(folder: Path) -> tuple[str, ...]:
    """Return the counts of a paper, one cell per heading."""
    summary = folder / "summary.json"
    claims: list[Entry] = json.loads(summary.read_text(encoding="utf-8"))
    checks: list[Entry] = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    written = datetime.fromtimestamp(summary.stat().st_mtime, timezone.utc)
    return (
        f"[{folder.name}]({folder.name}/page.md)",
        *(_held([claim for claim in claims if claim["kind"] == kind]) for kind in KINDS),
        str(sum(bool(claim["holds"] and claim["chosen_after"]) for claim in claims)),
        *(str(sum(claim[outcome] for claim in claims)) for outcome in ("contradicts", "missed", "undecided")),
        _held(checks),
        f"{written:%Y-%m-%d}",
    )


def _held(claims: Sequence[Entry]) -> str:
    """Return how many count as holding, of how many."""
    return f"{sum(claim['holds'] and not claim['chosen_after'] for claim in claims)} of {len(claims)}"


def _sums(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the last row: the counts of each column added up."""

    def added() -> Iterator[str]:
        for column in list(zip(*rows, strict=True))[1:-1]:
            counts = [[int(word) for word in cell.split(" of ")] for cell in column]
            yield " of ".join(str(sum(numbers)) for numbers in zip(*counts, strict=True))

    return "all", *added(), ""
