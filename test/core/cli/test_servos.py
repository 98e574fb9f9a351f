# SPDX-License-Identifier: Apache-2.0
"""`bam servos` and its words of two: bundle, add, and what they leave to those who follow."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bam_core.cli import execute, main
from bam_core.cli.bench_effects import bench_effects_for
from bam_core.errors import Malformed, UnknownName
from bam_core.servo.added import added_path
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.model import load_servo
from test.core.exchange.bundle_cases import NAME, identified
from test.core.refusals import refused, require_one_line


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_a_servo_goes_from_one_user_to_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, archive = identified(tmp_path), tmp_path / "my_servo.zip"
    assert main(["servos", "bundle", str(path), "--licence", "CC-BY-4.0", "--output", str(archive)]) == 0
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert digest in capsys.readouterr().out
    with refused(UnknownName):
        load_servo(NAME)
    assert main(["servos", "add", str(archive), "--sha256", digest]) == 0
    assert load_servo(NAME) == load_servo(path)
    capsys.readouterr()
    assert main(["servos", NAME]) == 0
    assert f"name: {NAME}" in capsys.readouterr().out
    assert main(["servos"]) == 0
    assert f"\n{NAME} " in capsys.readouterr().out
    output = tmp_path / "exported.xml"
    assert main(["export", NAME, "--kp", "8", "--output", str(output)]) == 0
    assert output.is_file()


def test_a_name_has_no_bench_effects_and_its_file_does(tmp_path: Path) -> None:
    archive = tmp_path / "my_servo.zip"
    execute(["servos", "bundle", str(identified(tmp_path)), "--licence", "CC0-1.0", "--output", str(archive)])
    execute(["servos", "add", str(archive)])
    assert bench_effects_for(None, NAME) == IDEAL_BENCH
    assert bench_effects_for(None, str(added_path(NAME))).zero_offset == 0.01


def test_a_damaged_bundle_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["servos", "add", str(tmp_path / "my_servo.zip")]
    (tmp_path / "my_servo.zip").write_text("no archive")
    with refused(Malformed):
        execute(words)
    require_one_line(main, words, "my_servo.zip", capsys)


def test_servos_is_a_command_and_begins_others(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["servos", "add", "--help"], ["help", "servos", "add"]):
        assert main(words) == 0
        assert "URL_OR_FILE" in capsys.readouterr().out
    assert main(["servos", "--help"]) == 0
    assert "--stall-torque" in capsys.readouterr().out
    require_one_line(main, ["servos", "add"], "URL_OR_FILE", capsys)
