# SPDX-License-Identifier: Apache-2.0
"""The study of errors on recordings that took no part: every value in turn; one line for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studies.held_out import main
from test.core.identification_cases import xl330_logs


@pytest.mark.long
def test_each_gain_is_held_out_with_each_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = sorted(str(path) for path in xl330_logs().glob("kp*_sin_*.json"))
    output = tmp_path / "held_out.json"
    words = ["--servo", "xl330", "--models", "m1", "m3", "--seeds", "1", "--draws", "20"]
    assert main([*logs, *words, "--only", "200", "800", "--json", str(output)]) == 0
    entries = json.loads(output.read_text())
    assert [(each["rule"], each["model"]) for each in entries] == [
        (rule, model) for rule in ("kp=200", "kp=800") for model in ("m1", "m3")
    ]
    assert all(each["test"] > 0.0 and 0.0 <= each["band_coverage"] <= 1.0 for each in entries)
    assert [sum(each["chosen"] for each in entries[i : i + 2]) for i in (0, 2)] == [1, 1]
    assert "kp=800" in capsys.readouterr().out
    # What was done is kept.
    output.write_text(json.dumps([dict(each, seed=0, test=0.5) for each in entries]))
    assert main([*logs, *words, "--only", "200", "800", "--json", str(output), "--resume"]) == 0
    assert capsys.readouterr().out.count("500.0") == 4
    # A share at random, fitted to some of the others only.
    words += ["--by", "fraction", "--only", "0.5", "--most", "2"]
    assert main([*logs, *words, "--json", str(output)]) == 0
    assert {each["rule"] for each in json.loads(output.read_text())} == {"fraction=0.5"}
    output.write_text("[1]")
    assert main([*logs, *words, "--only", "200", "--json", str(output), "--resume"]) == 2
    assert "is not the result of such a study; leave out --resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--seeds", "0"], "at least 1"),
        (["--draws", "5"], "at least 20"),
        (["--most", "1"], "at least 2"),
        (["--by", "colour"], "colour"),
        (["--json", "/proc/x/h.json"], "/proc/x"),
    ],
)
def test_what_cannot_be_is_one_line(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(xl330_logs()), "--servo", "xl330", *words]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
