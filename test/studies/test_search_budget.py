# SPDX-License-Identifier: Apache-2.0
"""The study of budgets: multiples of the default one, a row each, with the seeds side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bam_core.identification.search.schedule import SearchSchedule
from studies import search_budget
from studies.search_budget import Entry, main, table
from test.core.identification_cases import xl330_logs
from test.core.refusals import require_one_line


def entry(budget: int, seed: int) -> Entry:
    return Entry(
        session="xl330 a",
        seed=seed,
        budget=budget,
        model="m1",
        train=0.01 + 0.001 * seed,
        test=0.02,
        trials=3000 * budget,
        spent=False,
        converged=seed == 0,
        spread=None if seed else 0.004,
    )


def test_the_table_puts_seeds_side_by_side() -> None:
    rows = [line.split() for line in table([entry(b, s) for s in (0, 1) for b in (1, 2)]).splitlines()[2:]]
    assert [row[3] for row in rows] == ["1", "2"]
    assert " ".join(rows[1][4:]) == "10.00 / 11.00 20.00 / 20.00 6000 / 6000 yes / no 0.4 / -"


def test_a_search_gets_so_many_times_the_default_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = search_budget.Fitter
    small = SearchSchedule(cold_trials_per_parameter=10)
    monkeypatch.setattr(search_budget, "Fitter", lambda *a, **k: real(*a, **k, schedule=small))
    file = tmp_path / "budget.json"
    words = [f"xl330={xl330_logs()}", "--models", "m1", "--seeds", "1", "--budgets", "1", "2"]
    assert main([*words, "--json", str(file)]) == 0
    once, twice = json.loads(file.read_text())
    assert (once["budget"], twice["budget"]) == (1, 2)
    assert once["trials"] < twice["trials"] <= 2 * 11 * 10  # of eleven free parameters
    assert not once["converged"]
    assert "xl330" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["recordings"], "SERVO=DIRECTORY"),
        (["xl330=.", "--seeds", "0"], "at least 1"),
        (["xl330=.", "--budgets", "1", "0"], "at least 1"),
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
