# SPDX-License-Identifier: Apache-2.0
"""Writes docs/papers.md from the pages of `bam reproduce`: what of each paper is redone, what does not hold.

for paper in bam dynaban egle kikuuwe; do bam reproduce $paper --data RECORDINGS --output redone/$paper; done
.venv/bin/python tools/papers_page.py redone/*/page.md
"""

from __future__ import annotations

import sys
from pathlib import Path

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
_END = "## By construction", "## On synthetic data", "## On real data", "!["


def main(pages: list[str]) -> int:
    """Join the first parts of these pages, one heading lower."""
    parts = [HEAD]
    for page in pages:
        lines = []
        for line in Path(page).read_text(encoding="utf-8").splitlines():
            if line.startswith(_END):
                break
            lines.append(f"#{line}" if line.startswith("#") else line)
        parts.append("\n".join(lines).strip() + "\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
