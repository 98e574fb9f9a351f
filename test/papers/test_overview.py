# SPDX-License-Identifier: Apache-2.0
"""The page about all papers, made from what `python -m papers` wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_pages import papers as site

from papers.claim import Claim, write_claims
from papers.overview import overview
from papers.page import write_page
from papers.redone import Redone

CLAIMS = (
    Claim(claim="it holds", paper=1.0, ours=1.1, holds=True, kind="construction", threshold_reason="a tenth"),
    Claim(
        claim="it grows",
        paper=2.0,
        ours=2.1,
        unit="rad",
        holds=True,
        kind="real",
        threshold_reason="a twentieth",
        chosen_after="a tenth was asked for",
    ),
    Claim(
        claim="it sticks",
        paper=True,
        ours=False,
        holds=False,
        kind="real",
        threshold_reason="as it says",
        contradicts=True,
        reason="it slides",
    ),
)
CHECK = Claim(
    claim="it is found", paper="truth 2", ours=2.0, holds=True, kind="synthetic", threshold_reason="a tenth"
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of two papers of four."""
    for name in ("bam", "egle"):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        redone = Redone(claims=CLAIMS, exhibits=(), checks=(CHECK,))
        write_claims(redone.claims, folder / "summary.json")
        write_claims(redone.checks, folder / "checks.json")
        write_page(f"The paper {name}", redone, folder / "page.md")
        (folder / "fig1.png").write_bytes(b"picture")
    return tmp_path / "results"


def cells(text: str, first: str) -> list[str]:
    """Cells of the row that begins with this one."""
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_one_table_counts_the_claims_of_all_papers(results: Path) -> None:
    text = overview(results)
    for name in ("bam", "egle"):
        assert cells(text, f"[{name}]({name}/page.md)")[:8] == [
            *("1 of 1", "0 of 0", "0 of 2"),
            *("1", "1", "0", "0"),
            "1 of 1",
        ]
    assert cells(text, "all")[:8] == ["2 of 2", "0 of 0", "0 of 4", "2", "2", "0", "0", "2 of 2"]
    assert text.endswith("```{toctree}\n:hidden:\n\nbam/page\negle/page\n```\n")


def test_papers_without_results_are_named_with_what_makes_them(results: Path) -> None:
    text = overview(results)
    (line,) = [line for line in text.splitlines() if "`make papers`" in line]
    assert "`kikuuwe`, `dynaban`" in line
    assert "`bam`" not in line


def test_without_any_results_there_is_no_table(tmp_path: Path) -> None:
    text = overview(tmp_path / "none")
    assert "`bam`, `kikuuwe`, `egle`, `dynaban`" in text
    assert "|" not in text
    assert "toctree" not in text


def test_the_site_has_the_page_and_the_pictures_of_each_paper(results: Path, tmp_path: Path) -> None:
    site.write(tmp_path / "site", results)
    written = (path for path in (tmp_path / "site").rglob("*") if path.is_file())
    assert {str(path.relative_to(tmp_path / "site")) for path in written} == {
        "index.md",
        "bam/page.md",
        "bam/fig1.png",
        "egle/page.md",
        "egle/fig1.png",
    }
    assert "| it sticks |" in (tmp_path / "site" / "bam" / "page.md").read_text(encoding="utf-8")
