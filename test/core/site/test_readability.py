# SPDX-License-Identifier: Apache-2.0
"""The count of readability: what it counts, its formula, and the limits that README and docs/ keep."""

from __future__ import annotations

import pytest
from site_pages.readability import main, measure, pages, syllables, table

import test.documented  # noqa: F401  # puts tools/ on the path


def test_only_prose_counts() -> None:
    text = """# A heading of five words

One two three. Four `five --six seven` eight.

| a table | of words |
|---|---|
| not | counted |

```bash
not counted either
```

:::{note}
:class: hidden
Nine ten.
:::

- Eleven [twelve](a/link/of/many/words.md).
- Thirteen.
"""
    assert measure("page", text).lengths == [[3, 3], [2], [2], [1]]


def test_a_sentence_ends_where_the_next_one_begins() -> None:
    text = "After R. Fabre, e.g. 0.5 N. The next one (see 1.2). `code` begins a third! Does it? 3 is one."
    assert measure("page", text).lengths == [[6, 5, 4, 2, 3]]


def test_a_list_of_names_is_one_word() -> None:
    assert measure("page", "Effects are `a`, `b`, `c` and `d`.").lengths == [[5]]


def test_a_bold_label_belongs_to_the_first_sentence() -> None:
    assert measure("page", "**Torque off.** It is zero current.").lengths == [[6]]


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("servo", 2),
        ("torque", 1),
        ("measured", 2),
        ("recorded", 3),
        ("voltages", 3),
        ("table", 2),
        ("Code", 1),
        ("12", 1),
    ],
)
def test_syllables_are_groups_of_vowels(word: str, count: int) -> None:
    assert syllables(word) == count


def test_reading_ease_is_flesch_s() -> None:
    page = measure("page", "The cat sat on the mat.")
    assert page.ease == pytest.approx(206.835 - 1.015 * 6 - 84.6)


def test_each_limit_is_checked() -> None:
    long = measure("page", "word " * 41 + "end.")
    assert (long.most_words, long.mean, len(long.misses())) == (42, 42.0, 2)
    crowded = measure("page", "One. Two. Three. Four. Five.")
    assert (crowded.most_sentences, len(crowded.misses())) == (5, 1)
    hard = "Identification characterises heterogeneous electromechanical discretisation. " * 3
    difficult = measure("page", "\n\n".join([hard] * 3))
    assert difficult.ease < 0
    assert len(difficult.misses()) == 1


def test_a_page_without_prose_misses_nothing() -> None:
    empty = measure("page", "| a | b |\n|---|---|\n| c | d |\n")
    assert empty.words == 0
    assert empty.misses() == []
    assert "nan" in table([empty])


def test_readme_and_every_page_keep_the_limits(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([str(tmp_path / "build" / "table.txt")])
    assert status == 0, capsys.readouterr().err
    names = {page.page for page in pages()}
    assert {"README.md", "docs/robot.md", "docs/development/pages.md"} <= names
    assert all(name in (tmp_path / "build" / "table.txt").read_text() for name in names)
