# SPDX-License-Identifier: Apache-2.0
"""``bam identify``: results and table, and one line with status 2 for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from identification_cases import xl330_logs

from bam_core.cli import main


def run(*words: object) -> int:
    return main(["identify", *map(str, words)])


def brief(*words: object) -> list[object]:
    return [*words, "--servo", "xl330", "--trials", 60]


def test_it_prints_a_table_and_writes_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = sorted(xl330_logs().glob("kp[12]00_*_*.json"))
    output = tmp_path / "out"
    options = ["--models", "m1,m3", "--validation", "kp=200", "--seed", 7, "--output", output]
    assert run(*brief(*logs), *options) == 0
    shown = capsys.readouterr()
    assert "train [mrad]" in shown.out
    assert "chosen: " in shown.out
    assert str(output) in shown.out
    assert "best" in shown.err
    summary = json.loads((output / "summary.json").read_text())
    assert list(summary["models"]) == ["m1", "m3"]
    assert summary["seed"] == 7
    assert all(name.startswith("kp200") for name in summary["split"]["validation"])


def test_validation_logs_may_be_files(tmp_path: Path) -> None:
    directory = xl330_logs()
    held_out = directory / "kp800_sin_sin.json"
    output = tmp_path / "out"
    assert run(*brief(directory), "--models", "m1", "--validation", held_out, "--output", output) == 0
    split = json.loads((output / "summary.json").read_text())["split"]
    assert split["validation"] == ["kp800_sin_sin"]
    assert len(split["train"]) == 11


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--models": "m1,m9"}, ["m9", "m1, m2, m3, m4, m5, m6"]),
        ({"--models": ","}, ["models: none given"]),
        ({"--servo": "xl33"}, ["xl33", "xl330"]),
        ({"--servo": "mx106"}, ["mx106", "'xl330'"]),
        ({"--validation": "kp=123"}, ["kp=123", "100, 200, 800"]),
        ({"--validation": "speed=1"}, ["speed", "fraction"]),
        ({"--validation": "nowhere.json"}, ["nowhere.json"]),
        ({"--trials": "1"}, ["trials", "50"]),
        ({"--output": "FILE"}, ["is a file"]),
    ],
)
def test_bad_input_gets_one_line_and_status_2_and_writes_nothing(
    changes: dict[str, str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    options = {"--servo": "xl330", "--models": "m1", "--output": str(tmp_path / "out"), **changes}
    options = {key: str(file) if value == "FILE" else value for key, value in options.items()}
    assert run(xl330_logs(), *(word for pair in options.items() for word in pair)) == 2
    error = capsys.readouterr().err
    assert error.startswith("bam identify: ")
    assert error.count("\n") == 1
    for word in words:
        assert word in error
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_rule_among_logs_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = xl330_logs()
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(logs, *words, "--validation", "kp=800", logs) == 2
    assert "LOGS before the options" in capsys.readouterr().err
