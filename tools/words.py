# SPDX-License-Identifier: Apache-2.0
"""Words that names and texts avoid, each with the field's term: a part of `make check`.

It reads names, docstrings and messages of Python sources, and pages. The words are in `words.yaml`. Where
sources have many of them, `words_left.yaml` has their number per room, which may only fall.

    .venv/bin/python tools/words.py [--lower | --list [WORD]]
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("bam_core", "bam_ros", "papers", "studies", "tools", "examples", "launch")
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "docs",
    "bam_core",
    "tools/site_pages",
    "msg",
    "srv",
    "action",
    "config",
)
PAGE_TYPES = {".md", ".html", ".jinja", ".msg", ".srv", ".action", ".yaml"}
LIST = Path("tools/words.yaml")
COUNTS = Path("tools/words_left.yaml")

_HEAD = """\
# How often rooms still have words of words.yaml. No number may rise. After corrections:
# .venv/bin/python tools/words.py --lower
"""

Counts = dict[str, dict[str, int]]
"""Room -> word -> number of occurrences."""


@dataclass(frozen=True)
class Word:
    """An entry of the list.

    Attributes:
        forms: of the word; the first one stands for all in the counts.
        write: the field's term.
        in_text: it is looked for in docstrings, messages and pages.
        in_names: it is looked for in names, as a part between underscores or capitals.
        whole_name: names with other parts are allowed.
    """

    forms: tuple[str, ...]
    write: str
    in_text: bool
    in_names: bool
    whole_name: bool


@dataclass(frozen=True)
class Occurrence:
    """A word in a file."""

    file: Path
    line: int
    spelling: str
    word: Word

    @property
    def room(self) -> str:
        """Directory of a package, or top-level directory or file."""
        return "/".join(self.file.parts[: 2 if self.file.parts[0] in ("bam_core", "bam_ros") else 1])

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.spelling!r}: write {self.word.write!r}"


class WordList:
    """The list of words, as patterns for names and for text."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._by_form = {form: word for word in words for form in word.forms}
        self._text = _pattern(form for word in words if word.in_text for form in word.forms)
        parts = _pattern(
            form for word in words if word.in_names and not word.whole_name for form in word.forms
        )
        whole = _pattern(form for word in words if word.whole_name for form in word.forms)
        self._name = re.compile(f"{parts.pattern}|^{whole.pattern}$")

    def in_text(self, text: str) -> Iterator[tuple[int, str, Word]]:
        """Yield lines, counted from 0, and words of a text."""
        for match in self._text.finditer(text):
            form = " ".join(match[0].lower().split())
            yield text.count("\n", 0, match.start()), form, self._by_form[form]

    def in_name(self, name: str) -> Iterator[tuple[str, Word]]:
        """Yield words of an identifier."""
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
        for match in self._name.finditer(" ".join(parts).lower()):
            yield name, self._by_form[match[0]]


def _pattern(forms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of the forms as whole words."""
    alternatives = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in sorted(forms, reverse=True))
    return re.compile(rf"\b(?:{alternatives or '(?!)'})\b", re.IGNORECASE)


def read_list(file: Path) -> WordList:
    """Return the list of words; its sections are where they are looked for."""
    sections = yaml.safe_load(file.read_text(encoding="utf-8"))
    return WordList(
        [
            Word(
                tuple(form.strip() for form in forms.split(",")),
                write,
                in_text=section in ("text", "text and names"),
                in_names=section != "text",
                whole_name=section == "whole names",
            )
            for section, entries in sections.items()
            for forms, write in entries.items()
        ]
    )


def find_occurrences(root: Path, words: WordList) -> list[Occurrence]:
    """Return all words in sources and pages, by file and line."""
    sources = [file for part in SOURCES for file in (root / part).rglob("*.py")]
    pages = {
        file
        for part in PAGES
        for file in ([root / part] if (root / part).is_file() else (root / part).rglob("*"))
        if file.suffix in PAGE_TYPES
    }
    return [
        Occurrence(file.relative_to(root), line, spelling, word)
        for file in sorted((*sources, *pages))
        for line, spelling, word in sorted(
            _in_source(file, words) if file.suffix == ".py" else _in_page(file, words),
            key=lambda item: item[:2],
        )
    ]


def _in_page(file: Path, words: WordList) -> Iterator[tuple[int, str, Word]]:
    for line, spelling, word in words.in_text(file.read_text(encoding="utf-8")):
        yield line + 1, spelling, word


def _in_source(file: Path, words: WordList) -> Iterator[tuple[int, str, Word]]:
    """Yield lines and words of names, and of strings that are docstrings or have a space."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and " " in node.value:
                for line, spelling, word in words.in_text(node.value):
                    yield node.lineno + line, spelling, word
        elif name := _defined_name(node):
            for spelling, word in words.in_name(name):
                yield node.lineno, spelling, word


def _defined_name(node: ast.AST) -> str | None:
    """Return the name that a node gives to a function, class, argument, variable or attribute."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    if isinstance(node, ast.alias):
        return node.asname
    return None


def counts_of(occurrences: Iterable[Occurrence]) -> Counts:
    """Return the number of occurrences per room and word."""
    number = Counter((occurrence.room, occurrence.word.forms[0]) for occurrence in occurrences)
    counts: Counts = {}
    for room, word in sorted(number):
        counts.setdefault(room, {})[word] = number[room, word]
    return counts


def compare(occurrences: Sequence[Occurrence], allowed: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield a line per occurrence in rooms that have too many, and per count that is too high."""
    counts = counts_of(occurrences)
    for occurrence in occurrences:
        room, word = occurrence.room, occurrence.word.forms[0]
        limit = allowed.get(room, {}).get(word, 0)
        if counts[room][word] > limit:
            yield f"{occurrence} ({room} has {counts[room][word]}, {limit} allowed)"
    for room, limits in allowed.items():
        for word, limit in limits.items():
            if (number := counts.get(room, {}).get(word, 0)) < limit:
                yield f"{COUNTS}: {room}: {word}: {limit} (expected {number}); run tools/words.py --lower"


def lowered(counts: Counts, allowed: Counts) -> Counts:
    """Return the counts that were allowed, where there are fewer now those."""
    return {
        room: fewer
        for room, limits in allowed.items()
        if (
            fewer := {
                word: min(limit, counts[room][word])
                for word, limit in limits.items()
                if word in counts.get(room, {})
            }
        )
    }


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Print what `make check` refuses in a repository; return 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--lower", action="store_true", help=f"lower the numbers in {COUNTS} to those of now")
    chosen.add_argument(
        "--list", nargs="?", const="", metavar="WORD", help="print all occurrences, or those of a word"
    )
    arguments = parser.parse_args(argv)
    occurrences = find_occurrences(root, read_list(root / LIST))
    if arguments.list is not None:
        shown = [item for item in occurrences if arguments.list in ("", *item.word.forms)]
        print("\n".join(map(str, shown)))
        return 0
    allowed: Counts = yaml.safe_load((root / COUNTS).read_text(encoding="utf-8")) or {}
    if arguments.lower:
        allowed = lowered(counts_of(occurrences), allowed)
        (root / COUNTS).write_text(_HEAD + yaml.safe_dump(allowed), encoding="utf-8")
    lines = list(compare(occurrences, allowed))
    left = sum(sum(words.values()) for words in allowed.values())
    print("\n".join([*lines, f"words to avoid: {len(lines)} to correct, {left} left from before"]))
    return 1 if lines else 0


if __name__ == "__main__":
    raise SystemExit(main())
