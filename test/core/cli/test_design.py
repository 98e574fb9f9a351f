# SPDX-License-Identifier: Apache-2.0
"""``bam design``: tables, files that other commands take, and one line with status 2 for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bam_core.cli import execute, main
from bam_core.errors import (
    BamError,
    Conflict,
    Missing,
    NotWritable,
    OutOfRange,
    UnknownName,
    Unreadable,
    WrongType,
)
from bam_ros.recorder.session_file import load_session
from test.core.identification_cases import xl330_logs
from test.core.refusals import refused

SMALL = ("--mass", "0.2,0.5", "--length", "0.1", "--kp", "100,800", "--script", "sin_sin,lift_and_drop")


def run(*words: object) -> int:
    return main(["design", *map(str, words)])


def test_it_ranks_runs_before_anything_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--servo", "xl330", *SMALL, "--runs", 3) == 0
    shown = capsys.readouterr().out
    first, *_ = [line.split() for line in shown.splitlines() if line.lstrip().startswith("1 ")]
    assert first[1:3] in (["0.2", "0.1"], ["0.5", "0.1"])
    assert "standard error now" in shown
    assert "torque_constant" in shown


@pytest.mark.long
def test_what_was_recorded_counts_and_the_files_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted(xl330_logs().glob("kp100_*.json"))
    table, session = tmp_path / "design.json", tmp_path / "next.yaml"
    assert run(*logs, "--servo", "xl330", *SMALL, "--runs", 2, "--json", table, "--session", session) == 0
    result = json.loads(table.read_text())
    assert len(result["runs"]) == 2
    for each in result["parameters"].values():
        assert 0.0 < each["standard_error_after"] <= each["standard_error_before"]
    planned = yaml.safe_load(session.read_text())
    for each in result["runs"]:
        assert {"mass": each["mass"], "length": each["length"], "arm_mass": 0} in planned["loads"]
        assert each["kp"] in planned["gains"]
        assert each["script"] in planned["scripts"]
    assert str(session) in capsys.readouterr().out


def test_the_session_is_one_that_bam_record_takes(tmp_path: Path) -> None:
    session = tmp_path / "next.yaml"
    assert run("--servo", "xl330", *SMALL, "--runs", 2, "--session", session) == 0
    loaded = load_session(session)
    assert loaded.servo.name == "xl330"
    assert 2 <= len(loaded.runs()) <= 8


def test_loads_too_heavy_are_left_out_with_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    heavy = ("--mass", "0.2,5", "--length", "0.1", "--kp", "100", "--script", "sin_sin")
    assert run("--servo", "xl330", *heavy) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "5 kg at 0.1 m" in line]
    assert "4.9 N·m" in line


@pytest.mark.parametrize(
    ("words", "kind", "about"),
    [
        (["--servo", "xl33"], UnknownName, {"kind": "servo", "name": "xl33"}),
        (["--servo", "xl330", "--mass", "0.5"], Missing, {"thing": "--length"}),
        (["--servo", "xl330", "--length", "0.5"], Missing, {"thing": "--mass"}),
        (["--servo", "xl330", "--kp", "8,fast"], WrongType, {"thing": "--kp", "value": "fast"}),
        (["--servo", "xl330", "--kp", "0"], OutOfRange, {"thing": "--kp", "value": 0.0}),
        (["--servo", "xl330", "--kp", ","], Missing, {"thing": "--kp"}),
        (["--servo", "xl330", "--script", "jump"], UnknownName, {"name": "jump"}),
        (["--servo", "xl330", "--runs", "0"], OutOfRange, {"thing": "--runs", "value": 0}),
        (["--servo", "xl330", "--vin", "-5"], OutOfRange, {"thing": "--vin", "value": -5.0}),
        (["--servo", "xl330", "--mass", "50", "--length", "1"], Conflict, {"thing": "loads"}),
        (["nowhere", "--servo", "xl330"], Unreadable, {"path": "nowhere"}),
        (["--servo", "xl330", "--json", "/proc/x/design.json"], NotWritable, {}),
    ],
)
def test_what_cannot_be_is_an_error_about_it(
    words: list[str], kind: type[BamError], about: dict[str, object]
) -> None:
    with refused(kind, **about):
        execute(["design", *words])


def test_logs_of_another_servo_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    log = next(iter(sorted(xl330_logs().glob("*.json"))))
    assert run(log, "--servo", "mx106") == 2
    assert "another servo" in capsys.readouterr().err
