# SPDX-License-Identifier: Apache-2.0
"""The test set of `bam identify`: none, one rule, or files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bam_core.text.error_findings import TestError
from bam_core.text.split_findings import InBothSets
from test.core.cli.identify_command import brief, run, without_intervals
from test.core.finding_cases import logged
from test.core.identification_cases import xl330_logs

pytestmark = pytest.mark.usefixtures("no_plots")


@without_intervals
def test_without_a_test_set_that_is_the_first_thing_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = sorted(xl330_logs().glob("kp*_sin_sin.json"))
    assert run(*brief(*logs), "--models", "m1", "--output", tmp_path / "out") == 0
    rule = {"logs": 0, "interval": None, "rule": "", "restart": None}
    verdict, error, *_ = capsys.readouterr().out.splitlines()
    assert error == str(TestError(model="m1", error=None, **rule))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert verdict.endswith(summary["verdict"]["sentence"])
    model = summary["models"]["m1"]
    assert model["test_mae"] is model["test_interval"] is None
    assert model["test_mae_short"] is model["test_mae_short_1s"] is None
    assert model["selection_mae"] > 0.0


@without_intervals
def test_test_logs_may_be_files(tmp_path: Path) -> None:
    directory = xl330_logs()
    held_out = directory / "kp800_sin_sin.json"
    output = tmp_path / "out"
    assert run(*brief(directory), "--models", "m1", "--test", held_out, "--output", output) == 0
    split = json.loads((output / "summary.json").read_text())["split"]
    assert split["test"] == ["kp800_sin_sin"]
    assert len(split["train"]) == 11


@without_intervals
def test_a_log_on_both_sides_is_held_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    directory = xl330_logs()
    held_out = directory / "kp800_sin_sin.json"
    logs = sorted(directory.glob("kp[18]00_sin_*.json"))
    copy = tmp_path / "kp100_sin_sin.json"
    copy.write_bytes((directory / "kp800_sin_time_square.json").read_bytes())
    output = tmp_path / "out"
    assert run(*brief(*logs), "--models", "m1", "--output", output, "--test", held_out, copy) == 0
    both = (str(held_out), str(directory / "kp800_sin_time_square.json"))
    assert [finding for finding in logged(caplog) if isinstance(finding, InBothSets)] == [
        InBothSets(logs=both)
    ]
    summary = json.loads((output / "summary.json").read_text())
    assert sorted(name.split("/")[-1] for name in summary["split"]["test"]) == [
        "kp100_sin_sin",
        "kp800_sin_sin",
    ]
    assert sorted(name.split("/")[-1] for name in summary["split"]["train"]) == [
        "kp100_sin_sin",
        "kp100_sin_time_square",
    ]
    assert len(summary["models"]["m1"]["per_log"]) == 4


def test_all_logs_held_out_leave_nothing_to_train_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = xl330_logs() / "kp100_sin_sin.json"
    words = ["--servo", "xl330", "--models", "m1", "--output", tmp_path / "out"]
    assert run(log, *words, "--test", log) == 2
    assert "leaves no log to train on" in capsys.readouterr().err
