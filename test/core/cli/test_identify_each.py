# SPDX-License-Identifier: Apache-2.0
"""`bam identify --by`: every unit on its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from bam_core.servo.model import load_servo
from test.core.cli.identify_command import brief, run, without_intervals
from test.core.identification_cases import xl330_logs

pytestmark = pytest.mark.usefixtures("no_plots")


@without_intervals
def test_every_unit_is_identified_on_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for unit, kp in (("b3", 100), ("b7", 200)):
        (tmp_path / "units" / unit).mkdir(parents=True)
        for file in xl330_logs().glob(f"kp{kp}_sin_*.json"):
            shutil.copy(file, tmp_path / "units" / unit)
    (tmp_path / "units" / "b9").mkdir()  # of which one log is not enough
    shutil.copy(xl330_logs() / "kp800_sin_sin.json", tmp_path / "units" / "b9")
    words = ["--by", "unit", "--models", "m1", "--test", "none", "--output", tmp_path / "out"]
    assert run(tmp_path / "units", *brief(*words)) == 0
    assert f"bam fleet {tmp_path / 'out'}" in capsys.readouterr().out
    for unit in ("b3", "b7"):
        summary = json.loads((tmp_path / "out" / unit / "summary.json").read_text())
        assert len(summary["models"]["m1"]["per_log"]) == 2
    assert not (tmp_path / "out" / "b9").exists()


def test_units_that_were_not_begun_are_named_after_an_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for unit, kp in (("b3", 100), ("b7", 200)):
        (tmp_path / "units" / unit).mkdir(parents=True)
        for file in xl330_logs().glob(f"kp{kp}_sin_*.json"):
            shutil.copy(file, tmp_path / "units" / unit)

    def interrupted(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("bam_core.identification.identify.identify", interrupted)
    words = ["--by", "unit", "--models", "m1", "--test", "none", "--output", tmp_path / "out"]
    assert run(tmp_path / "units", *brief(*words)) == 130
    assert "unit b7" in capsys.readouterr().err


@without_intervals
def test_every_unit_has_its_own_test_files(tmp_path: Path) -> None:
    units = {"b3": 100, "b7": 200}
    for unit, kp in units.items():
        (tmp_path / "units" / unit).mkdir(parents=True)
        for file in xl330_logs().glob(f"kp{kp}_sin_*.json"):
            shutil.copy(file, tmp_path / "units" / unit)
        shutil.copy(xl330_logs() / f"kp{kp}_up_and_down.json", tmp_path / "units" / unit)
    tests = [tmp_path / "units" / unit / f"kp{kp}_up_and_down.json" for unit, kp in units.items()]
    words = ["--by", "unit", "--models", "m1", "--output", tmp_path / "out"]
    assert run(tmp_path / "units", *brief(*words), "--test", *tests) == 0
    for unit, file in zip(units, tests, strict=True):
        origin = load_servo(tmp_path / "out" / unit / "m1.yaml").provenance
        assert [Path(name).name for name in origin.test_data] == [file.stem]
        assert len(origin.train_data) == 2


@pytest.mark.parametrize(("trained", "tested"), [("a", "ab"), ("ab", "a")])
def test_a_unit_without_recordings_for_training_or_test_is_refused(
    trained: str, tested: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder, units, script in (("logs", trained, "sin_sin"), ("tests", tested, "up_and_down")):
        for unit, kp in zip(units, (100, 200), strict=False):
            (tmp_path / folder / unit).mkdir(parents=True)
            shutil.copy(xl330_logs() / f"kp{kp}_{script}.json", tmp_path / folder / unit)
    words = ["--by", "unit", "--models", "m1", "--output", tmp_path / "out"]
    assert run(tmp_path / "logs", *brief(*words), "--test", tmp_path / "tests") == 2
    assert "unit b" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
