# SPDX-License-Identifier: Apache-2.0
"""The pages that people read, and the blocks of code in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*$")
"""In the line above a block of Python that the tests do not run, with the reason."""
_BLOCK = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)


class Block(NamedTuple):
    """A block of code in a page."""

    page: str
    line: int
    language: str
    code: str
    not_run: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def written() -> dict[str, str]:
    """Text of README and every page of docs/ by name."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in files}


def blocks(pages: dict[str, str]) -> Iterator[Block]:
    """Blocks of code, without the indentation of the list that they are in."""
    for page, text in pages.items():
        for found in _BLOCK.finditer(text):
            indent = found[1]
            lines = [line.removeprefix(indent) for line in found[3].splitlines()]
            reason = NOT_RUN.search(text[: found.start()])
            number = text.count("\n", 0, found.start()) + 1
            yield Block(page, number, found[2], "\n".join(lines) + "\n", reason[1] if reason else "")
