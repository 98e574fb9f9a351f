# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md and the pages beside it, made from runs of `python -m papers`."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers import overview
from papers.claim import Claim, write_claims
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
def docs(tmp_path: Path) -> Path:
    """What is written of one run of two papers each."""
    pages = []
    for name in ("one", "another"):
        folder = tmp_path / name
        folder.mkdir()
        redone = Redone(claims=CLAIMS, exhibits=(), checks=(CHECK,), notes=("*A rule*: a tenth is a tenth",))
        write_claims(redone.claims, folder / "summary.json")
        write_claims(redone.checks, folder / "checks.json")
        write_page(f"The paper {name}", redone, folder / "page.md")
        pages.append(str(folder / "page.md"))
    docs = tmp_path / "docs"
    docs.mkdir()
    assert overview.main(pages, docs) == 0
    return docs


def test_the_page_of_a_paper_has_all_claims_by_kind_with_reasons_of_their_thresholds(docs: Path) -> None:
    text = (docs / "papers_one.md").read_text()
    assert text.startswith("# All claims: The paper one\n")
    construction, real = text.split("## By construction")[1].split("## On real data")
    assert "| it holds | 1 | 1.1 | holds | a tenth |" in construction
    assert "| it grows | 2 | 2.1 rad | holds, chosen after | a twentieth |" in real
    assert "| it sticks | yes | no | contradicted | as it says |" in real
    assert "On synthetic data" not in text
    checks = text.split("## Checks that are no statement of the paper")[1]
    assert "| it is found | truth 2 | 2 | holds | a tenth |" in checks


def test_a_rule_that_thresholds_refer_to_is_said_once_on_each_page(docs: Path) -> None:
    for name in ("papers_one", "papers_another"):
        assert (docs / f"{name}.md").read_text().count("- *A rule*: a tenth is a tenth") == 1
    assert (docs / "papers.md").read_text().count("- *A rule*: a tenth is a tenth") == 2


def test_papers_says_what_does_not_hold_and_leads_to_the_page_of_each(docs: Path) -> None:
    text = (docs / "papers.md").read_text()
    assert text.count("| it sticks | real | yes | no | contradicted | it slides |") == 2
    assert "a twentieth" not in text
    for name in ("one", "another"):
        section = text.split(f"## The paper {name}\n")[1]
        assert f"[All claims, by kind](papers_{name}.md)" in section.split("\n## ")[0]
    assert text.endswith("```{toctree}\n:hidden:\n\npapers_one\npapers_another\n```\n")


def test_one_table_counts_the_claims_of_all_papers(docs: Path) -> None:
    text = (docs / "papers.md").read_text()
    assert "| one | 1 of 1 | 0 of 0 | 0 of 2 | 1 | 1 | 0 | 0 | 1 of 1 | 0 | 0 | 0 | 0 |" in text
    assert "| all | 2 of 2 | 0 of 0 | 0 of 4 | 2 | 2 | 0 | 0 | 2 of 2 | 0 | 0 | 0 | 0 |" in text
    assert text.index("## All papers") < text.index("## The paper one")
