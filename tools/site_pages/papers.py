# SPDX-License-Identifier: Apache-2.0
"""Pages of the papers redone, from what `make papers` wrote; without it, one page with that remark."""

from __future__ import annotations

import shutil
from pathlib import Path

from papers.overview import overview, redone_papers

RESULTS = Path(__file__).resolve().parents[2] / "build" / "papers"
"""Where `make papers` writes."""


def write(directory: Path, results: Path = RESULTS) -> None:
    """Write index.md, and the page and the pictures of each paper.

    Args:
        directory: for the pages; a folder per paper is made in it.
        results: directory with a folder per paper.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "index.md").write_text(overview(results), encoding="utf-8")
    for name in redone_papers(results):
        folder = directory / name
        folder.mkdir()
        for source in (results / name / "page.md", *(results / name).glob("*.png")):
            shutil.copy(source, folder)
