# SPDX-License-Identifier: Apache-2.0
"""Pages contain the words that people search for; the site's pictures are not made anew by every build."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = {
    path.relative_to(ROOT): path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))
}


@pytest.mark.parametrize(
    "words",
    ["XM430", "mjlab", "reinforcement learning", "hobby servo", "URDF export", "STS3215", "Isaac Lab"],
)
def test_a_page_has_what_people_search_for(words: str) -> None:
    """The site's search finds pages with all words; here one paragraph has them side by side."""
    phrase = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    assert [path for path, text in PAGES.items() if phrase.search(text)]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_building_the_site_writes_no_tracked_picture() -> None:
    asked = subprocess.run(
        ["make", "--dry-run", "--always-make", "docs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "site_pages build/site_source" in asked.stdout
    assert "docs/pictures" not in asked.stdout


def test_wide_tables_and_code_show_that_there_is_more() -> None:
    rules = (ROOT / "docs" / "site" / "style.css").read_text(encoding="utf-8")
    (rule,) = re.findall(r"\.table-wrapper, \.highlight pre \{(.*?)\}", rules, re.DOTALL)
    (layers,) = re.findall("background-attachment:([^;]*);", rule)
    assert layers.replace(" ", "").startswith("local,local,scroll,scroll")  # covers scroll, shadows stay
