# SPDX-License-Identifier: Apache-2.0
"""`make check` finds words to avoid in names, docstrings, messages and pages; their number only falls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import words

LIST = """
text and names:
  told, tells: reported
text:
  had again: restored
names:
  press teeth: apply_inertial_load
whole names:
  each: what it is
"""

SOURCE = '''\
"""What no log
tells."""

# told, each and press_teeth in a comment do not count
each_log, told = 1, "told"


class PressTeeth(Exception):
    untold: int

    def __init__(self, each: object) -> None:
        self._told = each


def press_teeth_hard(**tells: int) -> None:
    """Return it, had
    again."""
    import numpy as each

    for each in (f"{tells} told", "toldish and foretold"):
        pressteeth = each
'''

IN_SOURCE = [
    (2, "tells"),
    (5, "told"),
    (8, "PressTeeth"),
    (11, "each"),
    (12, "_told"),
    (15, "press_teeth_hard"),
    (15, "tells"),
    (16, "had again"),
    (18, "each"),
    (20, "each"),
    (20, "told"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one source and one page."""
    for file, text in {
        words.LIST: LIST,
        words.COUNTS: "",
        "bam_core/cli/logs.py": SOURCE,
        "docs/page.md": "It is\nTold that each had\n  again `told`.\n",
        "test/test_it.py": "told = 1\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


def _run(root: Path, capsys: pytest.CaptureFixture[str], argv: Sequence[str] = ()) -> tuple[int, list[str]]:
    status = words.main(argv, root)
    return status, capsys.readouterr().out.splitlines()


def _numbers(line: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", line)]


def test_names_docstrings_and_messages_of_sources_are_checked(root: Path) -> None:
    occurrences = words.find_occurrences(root, words.read_list(root / words.LIST))
    assert [(item.line, item.spelling) for item in occurrences if item.file.suffix == ".py"] == IN_SOURCE


def test_pages_are_checked_line_by_line(root: Path) -> None:
    occurrences = words.find_occurrences(root, words.read_list(root / words.LIST))
    page = [(item.line, item.spelling) for item in occurrences if item.file == Path("docs/page.md")]
    assert page == [(2, "had again"), (2, "told"), (3, "told")]


def test_a_word_beyond_its_count_is_reported_with_the_term_to_write(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / words.COUNTS).write_text(
        "bam_core/cli: {told: 5, had again: 1, press teeth: 2, each: 3}\ndocs: {told: 1}\n"
    )
    status, lines = _run(root, capsys)
    assert status == 1
    assert [
        re.findall(r"docs/page.md:(\d): '(.+)': write '(\w+)' \(docs has (\d), (\d) .*", line)
        for line in lines
    ] == [
        [("2", "had again", "restored", "1", "0")],
        [("2", "told", "reported", "2", "1")],
        [("3", "told", "reported", "2", "1")],
        [],
    ]
    assert _numbers(lines[-1]) == [3, 12]


def test_a_count_that_is_too_high_is_lowered_on_request_and_never_raised(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = root / words.COUNTS
    counts.write_text(
        "bam_core/cli: {told: 9, had again: 1, press teeth: 2, each: 2}\ndocs: {told: 2, each: 4}\n"
    )
    status, lines = _run(root, capsys)
    assert status == 1
    too_high = [line.split(": ", 1)[1] for line in lines if line.endswith("--lower")]
    assert [(line.partition(":")[0], *_numbers(line)) for line in too_high] == [
        ("bam_core/cli", 9, 5),
        ("docs", 4, 0),
    ]
    status, lines = _run(root, capsys, ["--lower"])
    assert counts.read_text().startswith("# ")
    lowered = words.yaml.safe_load(counts.read_text())
    assert lowered == {
        "bam_core/cli": {"told": 5, "had again": 1, "press teeth": 2, "each": 2},
        "docs": {"told": 2},
    }
    assert status == 1  # words beyond their counts remain
    assert not any("--lower" in line for line in lines)


def test_sources_without_such_words_pass(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "bam_core/cli/logs.py").write_text("x = 1\n")
    (root / "docs/page.md").write_text("Reported.\n")
    status, (line,) = _run(root, capsys)
    assert status == 0
    assert _numbers(line) == [0, 0]


def test_occurrences_of_a_word_are_listed_by_any_of_its_forms(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = _run(root, capsys, ["--list", "press teeth"])
    assert status == 0
    assert [line.split("'")[1] for line in lines] == ["PressTeeth", "press_teeth_hard"]
    assert len(_run(root, capsys, ["--list"])[1]) == len(IN_SOURCE) + 3


def test_the_list_has_no_word_twice() -> None:
    sections = words.yaml.safe_load((Path(words.__file__).parent / "words.yaml").read_text())
    forms = [form.strip() for entries in sections.values() for forms in entries for form in forms.split(",")]
    assert len(forms) == len(set(forms))
