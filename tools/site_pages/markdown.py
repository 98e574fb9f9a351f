# SPDX-License-Identifier: Apache-2.0
"""Text of pages: tables, code, and words of the code that must not be read as markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"([\\*<|\[\]])")
_CODE = re.compile(r"(`[^`]*`)")
_NAME = re.compile(r"(?<![\w`])(--[a-z][\w-]*)")  # options, which would become dashes


def plain(text: str) -> str:
    """Return a sentence of the code as Markdown: names in backticks and options are code, the rest text."""
    parts = _CODE.split(" ".join(text.split()))
    for i in range(0, len(parts), 2):
        parts[i] = _NAME.sub(r"`\1`", _MARKUP.sub(r"\\\1", parts[i]))
    for i in range(1, len(parts), 2):
        parts[i] = parts[i].replace("|", r"\|")
    return "".join(parts)


def code(text: str, language: str = "") -> str:
    """Return a block of code."""
    return f"```{language or 'text'}\n{text.strip(chr(10))}\n```\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def toctree(names: Iterable[str], *, depth: int = 1, hidden: bool = True) -> str:
    """Return a table of contents of these pages."""
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else [])]
    return "```{toctree}\n" + "\n".join([*options, "", *names]) + "\n```\n"
