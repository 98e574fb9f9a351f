# SPDX-License-Identifier: Apache-2.0
"""Tests that assert sentences: a part of `make check`. Status 1 where there is one.

Sentences are made in `bam_core/text` and `bam_ros/text`, and tested in ``test/core/text`` and
``test/ros/text``; other tests assert kinds and numbers.
Prose is a string literal (or f-string) with three words or more; a word has two letters or more, and no
digit or sign of code. A test asserts it if the literal is compared in an assertion (``==``, ``in``), is an
argument of a search in one (``startswith``, ``re.search``, ``count``), or is the ``match`` of `pytest.raises`
or `pytest.warns`. Literals that reach the assertion through a variable are not seen.

A test counts as one of error lines if all its prose is in a ``match``, or is compared with an error's text
(``.value``, ``.err``, ``stderr``): these lines are typed already, `bam_core.errors`. All others count as
tests of sentences. Tests of the two rooms ``text`` do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TEXT = ("test/core/text", "test/ros/text")

MOST_ERROR_LINES = 126
"""Tests of error lines. May only fall."""

_WORD = re.compile(r"[(\"']?[A-Za-z][A-Za-z'-]+[,;:.)\"']?")
_LEAST = 3  # words
_SEARCHES = {"startswith", "endswith", "search", "match", "fullmatch", "count", "findall"}
_ERROR = re.compile(r"\.value\b|\berr\b|stderr|\berrors?\b|\brefus")


class Prose(NamedTuple):
    """A literal that a test asserts."""

    text: str
    line: int
    of_error: bool


class ProseTest(NamedTuple):
    """A test that asserts prose."""

    file: Path
    name: str
    prose: tuple[Prose, ...]

    @property
    def of_errors(self) -> bool:
        """Whether all of it is in error lines."""
        return all(prose.of_error for prose in self.prose)


def is_prose(text: str) -> bool:
    """Return whether a literal has three words of a language or more."""
    return sum(bool(_WORD.fullmatch(word)) for word in text.split()) >= _LEAST


def prose_tests(files: Iterator[Path]) -> Iterator[ProseTest]:
    """Return the tests of these files that assert prose."""
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                prose = tuple(_asserted(node))
                if prose:
                    yield ProseTest(file, node.name, prose)


def _asserted(test: ast.AST) -> Iterator[Prose]:
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    of_error = bool(_ERROR.search(ast.unparse(part)))
                    yield from _literals([part.left, *part.comparators], of_error=of_error)
                elif isinstance(part, ast.Call) and _name(part.func) in _SEARCHES:
                    yield from _literals(part.args, of_error=bool(_ERROR.search(ast.unparse(part))))
        elif isinstance(node, ast.Call) and _name(node.func) in ("raises", "warns"):
            matches = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            yield from _literals(matches, of_error=True)


def _literals(nodes: list[ast.expr], *, of_error: bool) -> Iterator[Prose]:
    for node in nodes:
        for part in _walk_values(node):
            text = _text(part)
            if text is not None and is_prose(text):
                yield Prose(text, part.lineno, of_error)


def _walk_values(node: ast.expr) -> Iterator[ast.expr]:
    """Return a literal, and those inside lists, sums and conditions, but not arguments of calls."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        for part in node.elts:
            yield from _walk_values(part)
    elif isinstance(node, ast.BinOp):
        yield from _walk_values(node.left)
        yield from _walk_values(node.right)
    elif isinstance(node, ast.IfExp):
        yield from _walk_values(node.body)
        yield from _walk_values(node.orelse)
    else:
        yield node


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
    if isinstance(node, ast.Call) and _name(node.func) == "escape" and node.args:
        return _text(node.args[0])
    return None


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def main(root: Path = ROOT, most_error_lines: int = MOST_ERROR_LINES) -> int:
    """Print the tests of sentences with their literals, and the counts; return the status.

    Args:
        root: of the repository.
        most_error_lines: tests of error lines that there may be.
    """
    text = {root / room for room in TEXT}
    files = (file for file in sorted((root / "test").rglob("test_*.py")) if not text & {*file.parents})
    tests = list(prose_tests(files))
    sentences = [test for test in tests if not test.of_errors]
    for test in sentences:
        for prose in test.prose:
            print(f"{test.file.relative_to(root)}:{prose.line}: {test.name}: {prose.text!r}")
    lines = len(tests) - len(sentences)
    print(
        f"tests that assert sentences: {len(sentences)} (expected none); "
        f"error lines: {lines} (at most {most_error_lines})"
    )
    return int(bool(sentences) or lines > most_error_lines)


if __name__ == "__main__":
    raise SystemExit(main())
