# SPDX-License-Identifier: Apache-2.0
"""LOGS before and behind options that take several words."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from bam_core.cli import identify, main, validate
from bam_core.cli.parser import CommandParser
from bam_core.cli.robot import validate as robot_validate


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.csv", "two.csv", "m6.yaml"):
        Path(name).touch()
    for name in ("bag", "mx64"):  # mx64: results of a servo that the library has
        Path(name).mkdir()


def parse(module: object, *words: str) -> argparse.Namespace:
    parser = CommandParser()
    module.add_arguments(parser)  # type: ignore[attr-defined]
    return parser.parse_args(words)


@pytest.mark.parametrize(
    "words",
    [
        ["one.csv", "bag", "--params", "mx106", "mx64", "m6.yaml", "--json", "v"],
        ["--params", "mx106", "mx64", "m6.yaml", "one.csv", "bag", "--json", "v"],
        ["--params", "mx106", "mx64", "m6.yaml", "--json", "v", "one.csv", "bag"],
        ["one.csv", "--params", "mx106", "--params", "mx64", "m6.yaml", "bag"],
    ],
)
def test_logs_may_stand_before_and_behind_servo_files(words: list[str]) -> None:
    for found in (parse(validate, *words), parse(robot_validate, "--robot", "r.xml", *words)):
        assert found.params == ["mx106", "mx64", "m6.yaml"]
        assert found.logs == ["one.csv", "bag"]


def test_a_servo_file_that_is_missing_is_no_log() -> None:
    assert parse(validate, "one.csv", "--params", "m6.yaml", "gone.yaml").params == ["m6.yaml", "gone.yaml"]


@pytest.mark.parametrize(
    ("words", "test", "logs"),
    [
        (["bag", "--test", "one.csv", "two.csv"], ["one.csv", "two.csv"], ["bag"]),
        (["--test", "kp=8", "one.csv", "two.csv"], ["kp=8"], ["one.csv", "two.csv"]),
        (["--test", "one.csv", "bag"], ["one.csv"], ["bag"]),
        (["--test", "kp=8", "--seed", "1", "one.csv", "bag"], ["kp=8"], ["one.csv", "bag"]),
    ],
)
def test_logs_may_stand_before_and_behind_the_test(
    words: list[str], test: list[str], logs: list[str]
) -> None:
    found = (
        parse(identify, "--output", "out", *words)
        if words[0] != "bag"
        else parse(identify, *words, "--output", "out")
    )
    assert (found.test, found.logs) == (test, logs)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--test", "one.csv", "two.csv", "bag"], "--test: has several files"),
        (["--test", "one.csv", "two.csv", "--seed", "1", "bag"], "LOGS: are in two places"),
        (["--test", "kp=8"], "required: LOGS"),
        ([], "required: LOGS"),
    ],
)
def test_logs_that_cannot_be_told_from_test_files_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["identify", "--output", "out", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
