# SPDX-License-Identifier: Apache-2.0
"""The study of both searches: the same recordings and budgets, a table with the seeds side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.search_methods import Entry, main, table
from test.core.identification_cases import xl330_logs
from test.core.refusals import require_one_line


def entry(method: str, seed: int, train: float) -> Entry:
    return Entry(
        servo="a",
        recordings=(9, 3),
        method=method,
        seed=seed,
        model="m1",
        train=train,
        test=2.0 * train,
        budget=4000,
        trials=3000 + seed,
        seconds=1.0 + seed,
    )


def test_the_table_puts_seeds_side_by_side() -> None:
    entries = [entry("cma-es", seed, 0.02) for seed in (0, 1)]
    entries += [entry("gauss-newton", seed, 0.01 + 0.001 * seed) for seed in (0, 1)]
    rows = [line.split() for line in table(entries).splitlines()[2:]]
    assert [row[2] for row in rows] == ["gauss-newton", "cma-es"]
    assert rows[0][3:] == ["10.00", "/", "11.00", "20.00", "/", "22.00", "4000", "3000", "/", "3001", "2"]


def test_it_searches_by_both_methods_with_the_same_budget(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "methods.json"
    words = [f"xl330={xl330_logs()}", "--models", "m1", "--trials", "60", "--seeds", "1"]
    assert main([*words, "--json", str(file)]) == 0
    entries = json.loads(file.read_text())
    assert [each["method"] for each in entries] == ["gauss-newton", "cma-es"]
    assert {each["budget"] for each in entries} == {60}
    assert all(each["trials"] <= 60 and 0.0 < each["train"] < 1.0 for each in entries)
    assert "cma-es" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["recordings"], "SERVO=DIRECTORY"),
        (["xl330=."], "."),
        ([f"xl330={xl330_logs()}", "--every", "3"], "4 recordings"),
        (["xl330=.", "--seeds", "0"], "at least 1"),
        (["xl330=.", "--every", "0"], "at least 1"),
        (["xl330=.", "--json", "/proc/x/c.json"], "/proc/x"),
    ],
)
def test_what_cannot_be_is_one_line(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    require_one_line(main, words, told, capsys)
