# SPDX-License-Identifier: Apache-2.0
"""`bam simulate` runs scripts and replays recordings, writes whole files, and names mistakes in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.gears import Asymmetry
from bam_core.servo.model import load_servo
from test.core.finding_cases import logged
from test.core.identification_cases import xl330_logs


def test_a_script_is_simulated_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "--servo", "mx106", "--script", "lift_and_drop", "--kp", "16"]
    assert main([*arguments, "--output", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("mx106 lift_and_drop: ends at -")
    assert "0.5 kg at 0.15 m" in out  # neither was given
    table = np.genfromtxt(tmp_path / "run" / "mx106_lift_and_drop.csv", delimiter=",", names=True)
    assert len(table) == 6001
    assert table["position_rad"].min() == pytest.approx(-np.pi / 2, abs=0.2)
    assert not table["torque_enabled_"][-1]
    picture = (tmp_path / "run" / "mx106_lift_and_drop.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(list((tmp_path / "run").iterdir())) == 2


def test_recordings_are_replayed_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = [str(xl330_logs() / f"kp200_{script}.json") for script in ("sin_sin", "up_and_down")]
    assert main(["simulate", "--servo", "xl330", "--recording", *logs, "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    mean = next(line for line in lines if line.startswith("mean"))
    assert 0.0 < float(mean.split()[-1]) < 150.0
    assert len(list(tmp_path.glob("*.png"))) == len(list(tmp_path.glob("*.csv"))) == 2


def test_recordings_of_another_servo_are_compared_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    log = str(xl330_logs() / "kp200_up_and_down.json")
    assert main(["simulate", "--servo", "mx106", "--recording", log]) == 0
    assert [(finding.kind, finding.others) for finding in logged(caplog)] == [("other_servo", ("xl330",))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--servo", "mx107", "--script", "sin_sin"), "servo 'mx107': unknown"),
        (("--servo", "mx106", "--script", "sin_son"), "trajectory script 'sin_son': unknown"),
        (("--servo", "mx106", "--script", "sin_sin", "--mass", "-1"), "bench mass: is -1.0"),
        (("--servo", "mx106", "--script", "sin_sin", "--kp", "nan"), "--kp: is nan"),
        (
            ("--servo", "mx106", "--script", "sin_sin", "--kp", "5000000000"),
            "is 5000000000.0 (expected 1e-06 to 1e+08); leave it out for the servo's own, 32",
        ),
        (("--servo", "mx106", "--script", "sin_sin", "--dt", "0"), "--dt: is 0"),
        (("--servo", "mx106", "--script", "sin_sin", "--dt", "0.05"), "time step of 0.05 s is unstable"),
        (("--servo", "mx106", "--recording", "nowhere"), "nowhere: does not exist"),
        (("--servo", "mx106", "--recording", "x", "--arm-mass", "1"), "--arm-mass: not with --recording"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments, "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("bam simulate: ")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_servo_with_a_gear_that_locks_itself_stays_up_when_torque_goes_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "locking.yaml"
    load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=1.05)).save(file)
    arguments = ["simulate", "--servo", str(file), "--script", "lift_and_drop"]
    assert main([*arguments, "--output", str(tmp_path / "run")]) == 0
    assert capsys.readouterr().err == ""
    table = np.genfromtxt(tmp_path / "run" / "mx106_lift_and_drop.csv", delimiter=",", names=True)
    assert table["position_rad"][-1] == pytest.approx(-np.pi / 2, abs=0.2)
    released = table["torque_enabled_"] == 0.0
    assert released.any()
    assert np.all(table["velocity_rads"][released][100:] == 0.0)


def test_a_gear_that_is_ill_posed_with_this_load_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "wild.yaml"
    load_servo("mx106").with_gear(Asymmetry(input_side=0.1, output_side=4.5)).save(file)
    with caplog.at_level("WARNING"):
        assert main(["simulate", "--servo", str(file), "--script", "sin_sin", "--dt", "0.004"]) == 0
    (line,) = {record.getMessage() for record in caplog.records}
    assert "|ρ̂| is 1." in line
    assert "eq. 29" in line
    assert "gear.output_side = 4.5" in line


def test_the_gain_is_that_of_the_factory_unless_another_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "--servo", "xl330_bam", "--script", "up_and_down", "--mass", "0.1"]
    ends = []
    for gain in ([], ["--kp", "400"], ["--kp", "32"]):
        assert main([*arguments, *gain]) == 0
        ends.append(capsys.readouterr().out)
    assert ends[0] == ends[1] != ends[2]
