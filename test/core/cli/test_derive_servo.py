# SPDX-License-Identifier: Apache-2.0
"""`bam servos new --from`: a servo with the motor of another one."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from bam_core.cli import execute, main
from bam_core.errors import (
    BamError,
    Conflict,
    Missing,
    OutOfRange,
    UnknownName,
    WrongType,
)
from bam_core.servo.model import load_servo
from test.core.refusals import refused


def test_a_servo_is_derived_from_another_version_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split("servos new --from sts3215 --gear-ratio 191 --voltage 7.4")) == 0
    assert "sts3215_7v4" in capsys.readouterr().out
    servo, base = load_servo("sts3215_7v4_191.yaml"), load_servo("sts3215_7v4")
    assert (servo.gear_ratio, servo.nominal_voltage) == (191.0, 7.4)
    assert servo.motor.torque_constant == pytest.approx(base.motor.torque_constant * 191 / 345)
    assert servo.provenance.derived_from == "sts3215_7v4"


def test_a_derived_servo_may_have_a_file_a_name_and_a_ratio_that_its_origin_lacks(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    words = f"servos new {path} --from mx106 --gear-ratio 1:112.5/225 --title 'My MX' --manufacturer Me"
    assert main(shlex.split(words)) == 0
    servo = load_servo(path)
    assert (servo.name, servo.title, servo.manufacturer) == ("mine", "My MX", "Me")
    assert servo.motor.torque_constant == pytest.approx(load_servo("mx106").motor.torque_constant / 2.0)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("--from sts3215", Missing),
        ("--gear-ratio 191", Missing),
        ("--from mx106 --gear-ratio 100", Missing),
        ("--from sts3215 --gear-ratio 191 --stall-torque 2", Conflict),
        ("--from sts3215 --gear-ratio 191 --law current", Conflict),
        ("--from sts3215 --gear-ratio 191 --firmware xl330", Conflict),
        ("--from sts9999 --gear-ratio 191", UnknownName),
        ("--from sts3215 --gear-ratio many", WrongType),
        ("--from sts3215 --gear-ratio -3", OutOfRange),
        ("--from sts3215 --gear-ratio 191/", WrongType),
    ],
)
def test_what_does_not_derive_a_servo_is_refused(tmp_path: Path, words: str, kind: type[BamError]) -> None:
    path = tmp_path / "new.yaml"
    with refused(kind):
        execute(["servos", "new", str(path), *shlex.split(words)])
    assert not path.exists()
