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

from bam_core.reproduce import DEVICES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "papers.md"
HEAD = f"""# Papers redone

`bam reproduce PAPER --output DIR` redoes a paper: it prints each claim beside what is found here, and writes
pictures, `summary.json` and a page with all claims. `--data DIR` names recordings of real devices, a folder
each; without them, what needs them is left out and named. The recordings can be had here:

{chr(10).join(f"- `{device}`: {source}" for device, source in DEVICES.items())}

Every claim has a kind. *By construction*: the paper's equations are solved as they stand, which checks the
code, and settings that the paper leaves open. *On synthetic data*: simulated servos and robots differ from
what is fitted or compensated, as real ones do. *On real data*: recordings. Thresholds follow the paper's
figures; each claim's page gives the reason.

*Contradicted*: what the paper states in words, as a direction or as an order, comes out the other way by more
than its uncertainty. A figure that is missed, too large or too small, does not contradict. Where a result is
within its uncertainty, or hangs on a setting that the paper does not give, nothing is decided: the claim does
not hold, does not contradict, and the reason says so.

Figures and tables of the paper are counted, as redone, redone in part, or not redone. Lemmas, remarks and
what was added here are listed beside them.

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
        rows.append((each["claim"], each["kind"], _text(each["paper"]), ours, contradicts, each["reason"]))
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
