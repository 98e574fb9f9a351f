# SPDX-License-Identifier: Apache-2.0
"""``bam identify``: results and table, and one line with status 2 for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from identification_cases import xl330_logs

from bam_core.cli import main
from bam_core.identification.identify import TRIALS_PER_PARAMETER
from bam_core.identification.search import MIN_EVALUATIONS
from bam_core.identification.split import DEFAULT_RULE


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


def test_a_log_on_both_sides_is_held_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    directory = xl330_logs()
    held_out = directory / "kp800_sin_sin.json"
    logs = sorted(directory.glob("kp[18]00_sin_*.json"))
    copy = tmp_path / "kp100_sin_sin.json"
    copy.write_bytes((directory / "kp800_sin_time_square.json").read_bytes())
    output = tmp_path / "out"
    assert run(*brief(*logs), "--models", "m1", "--output", output, "--validation", held_out, copy) == 0
    notes = [record.message for record in caplog.records if "LOGS" in record.message]
    assert notes == [
        f"{held_out}, {directory / 'kp800_sin_time_square.json'}: "
        "in LOGS and in --validation, used for validation only"
    ]
    summary = json.loads((output / "summary.json").read_text())
    assert sorted(name.split("/")[-1] for name in summary["split"]["validation"]) == [
        "kp100_sin_sin",
        "kp800_sin_sin",
    ]
    assert sorted(name.split("/")[-1] for name in summary["split"]["train"]) == [
        "kp100_sin_sin",
        "kp100_sin_time_square",
    ]
    assert len(summary["models"]["m1"]["per_log"]) == 4


def test_a_log_that_is_given_twice_counts_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first, second = sorted(xl330_logs().glob("kp[12]00_sin_sin.json"))
    (tmp_path / "link.json").symlink_to(first)
    (tmp_path / "copy.json").write_bytes(second.read_bytes())
    logs = [first, second, first, tmp_path / "link.json", tmp_path / "copy.json"]
    assert run(*brief(*logs), "--models", "m1", "--output", tmp_path / "out") == 0
    split = json.loads((tmp_path / "out" / "summary.json").read_text())["split"]
    assert sorted(split["train"] + split["validation"]) == [first.stem, second.stem]
    assert [record.message for record in caplog.records if "counted once" in record.message] == [
        f"{first}: given twice, counted once",
        f"{tmp_path / 'link.json'}: given twice, counted once",
        f"{tmp_path / 'copy.json'}: holds the same data as {second}, counted once",
    ]


def test_a_single_log_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(xl330_logs() / "kp100_sin_sin.json", *words) == 2
    error = capsys.readouterr().err
    assert "leaves no log to train on or to validate with (expected at least 2 logs, got 1)" in error
    assert error.count("\n") == 1


def test_all_logs_held_out_leave_nothing_to_train_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = xl330_logs() / "kp100_sin_sin.json"
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(log, *words, "--validation", log) == 2
    assert "leaves no log to train on" in capsys.readouterr().err


def test_help_tells_what_bounds_the_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        f"at most this many simulations of all training logs per model, at least {MIN_EVALUATIONS}" in shown
    )
    assert f"(default: {TRIALS_PER_PARAMETER} per free parameter," in shown
    assert DEFAULT_RULE in shown


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
        ({"--trials": "49"}, ["trials: is 49", "at least 50"]),
        ({"--trials": "0"}, ["trials: is 0", "at least 50"]),
        ({"--trials": "-5"}, ["trials: is -5", "at least 50"]),
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
