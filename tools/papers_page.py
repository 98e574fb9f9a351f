# SPDX-License-Identifier: Apache-2.0
"""Writes docs/papers.md from the pages of `bam reproduce`: what of each paper is redone, what does not hold.

for paper in bam dynaban egle kikuuwe; do bam reproduce $paper --data RECORDINGS --output redone/$paper; done
.venv/bin/python tools/papers_page.py redone/*/page.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "papers.md"
HEAD = """# Papers redone

`bam reproduce PAPER --output DIR` redoes a paper: it prints each claim beside what is found here, and writes
pictures, `summary.json` and a page with all claims. `--data DIR` names recordings of real devices, a folder
each (`xl330`, `sts3215`, `sigmaban`, `dynaban_mx64`); without them, what needs them is left out and named.

Every claim has a kind. *By construction*: it follows from equations that the program solves, and checks the
code alone. *On synthetic data*: simulated servos and robots differ from what is fitted or compensated, as
real ones do. *On real data*: recordings. Thresholds follow the paper's figures; each claim's page gives the
reason. *Contradicted*: ours says the opposite of the paper.

Made by `tools/papers_page.py` from complete runs.
"""
_END = "## What does not hold", "## By construction", "## On synthetic data", "## On real data", "!["


def main(pages: list[str]) -> int:
    """Join the first parts of these pages, one heading lower, with what does not hold of `summary.json`."""
    parts = [HEAD]
    for page in map(Path, pages):
        lines = []
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(_END):
                break
            lines.append(f"#{line}" if line.startswith("#") else line)
        parts.append("\n".join(lines).strip() + "\n")
        failed = [
            each for each in json.loads((page.parent / "summary.json").read_text()) if not each["holds"]
        ]
        if failed:
            parts.append(f"### What does not hold\n\n{_table(failed)}\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    return 0


def _table(claims: list[dict[str, Any]]) -> str:
    rows = [("claim", "kind", "paper", "ours", "contradicts", "why"), ("---",) * 6]
    for each in claims:
        ours = f"{_text(each['ours'])} {each['unit']}".strip()
        contradicts = "yes" if each["contradicts"] else ""
        why = each["reason"] or f"missed: {each['threshold_reason']}"
        rows.append((each["claim"], each["kind"], _text(each["paper"]), ours, contradicts, why))
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
