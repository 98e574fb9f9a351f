# SPDX-License-Identifier: Apache-2.0
"""A right servo is accepted on logs that its fit has not used; each way to be wrong misses a criterion."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from bam_core.cli import main
from bam_core.exchange import contribution
from bam_core.exchange.bundle import bundle_servo
from bam_core.exchange.contribution import Contribution, check_contribution
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.contribution_findings import LIMITS, Criterion
from test.core.exchange.bundle_cases import NAME, identified
from test.core.identification_cases import mx106, record, write_log

BENCH = PendulumBench(mass=1.0, arm_mass=0.05, length=0.15)
RUNS = [(script, kp) for script in ("sin_sin", "lift_and_drop") for kp in (8.0, 32.0)]


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    truth = replace(mx106("m2"), name=NAME)
    return [
        replace(record(truth, script, kp, BENCH), name=f"{script}_{kp:g}", sha256=f"{number}" * 64)
        for number, (script, kp) in enumerate(RUNS, start=2)
    ]


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contribution, "DRAWS", 40)


def missed(result: Contribution) -> tuple[str, ...]:
    return result.verdict.missed


def test_the_servo_that_was_recorded_is_accepted(tmp_path: Path, recordings: list[Recording]) -> None:
    result = check_contribution(identified(tmp_path), recordings)
    assert missed(result) == ()
    assert result.verdict.kind == "accepted"
    assert [criterion.kind for criterion in result.criteria] == list(LIMITS)
    values = {criterion.kind: criterion.value for criterion in result.criteria}
    assert values["split"] == values["servo"] == 0
    assert values["logs"] == len(recordings)


def test_a_training_log_among_the_logs_is_found(tmp_path: Path, recordings: list[Recording]) -> None:
    path = identified(tmp_path)
    trained = replace(recordings[0], sha256="1" * 64)
    assert missed(check_contribution(path, [trained, *recordings[1:]])) == ("split",)


def test_a_servo_that_does_not_name_its_training_logs_is_refused(
    tmp_path: Path, recordings: list[Recording]
) -> None:
    servo = load_servo(identified(tmp_path))
    path = identified(tmp_path, provenance=replace(servo.provenance, train_data={}))
    assert missed(check_contribution(path, recordings)) == ("split",)


def test_few_logs_and_those_of_another_servo_are_refused(tmp_path: Path, recordings: list[Recording]) -> None:
    path = identified(tmp_path)
    assert missed(check_contribution(path, recordings[:3])) == ("logs",)
    another = replace(recordings[0], servo="mx64")
    assert missed(check_contribution(path, [another, *recordings[1:]])) == ("servo",)


def test_a_wrong_motor_misses_errors_and_bands(tmp_path: Path, recordings: list[Recording]) -> None:
    path = identified(tmp_path, motor=DcMotor(torque_constant=1.2, resistance=4.0, armature=0.022))
    assert {"test_error", "bands"} <= set(missed(check_contribution(path, recordings)))


def test_draws_that_are_too_narrow_or_useless_are_refused(
    tmp_path: Path, recordings: list[Recording]
) -> None:
    bench = BenchEffects(zero_offset=0.004)  # rad, an error that the draws do not have
    narrow = check_contribution(identified(tmp_path, residual=1e-5), recordings, bench)
    assert "bands" in missed(narrow)
    useless = check_contribution(identified(tmp_path, residual=0.3), recordings)
    assert missed(useless) == ("draws",)


def test_a_servo_without_draws_is_refused(tmp_path: Path, recordings: list[Recording]) -> None:
    path = identified(tmp_path)
    (tmp_path / "predictions" / "m2.json").unlink()
    assert missed(check_contribution(path, recordings)) == ("bands", "draws")


def test_executors_that_differ_are_found(
    tmp_path: Path, recordings: list[Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shifted(servo: object, recording: Recording, **_: object) -> object:
        return recording.position + 0.01

    monkeypatch.setattr(import_module("bam_core.mujoco.replay"), "simulate_recording", shifted)
    assert missed(check_contribution(identified(tmp_path), recordings)) == ("conformance",)


@pytest.mark.parametrize("kind", LIMITS)
def test_a_threshold_is_met_from_its_own_side(kind: str) -> None:
    side, limit = LIMITS[kind]
    step = 1e-6 if side == "at most" else -1e-6
    assert Criterion(kind=kind, value=limit).passed
    assert not Criterion(kind=kind, value=limit + step).passed
    assert not Criterion(kind=kind, value=None).passed


def test_the_command_prints_one_verdict_and_writes_json(
    tmp_path: Path, recordings: list[Recording], capsys: pytest.CaptureFixture[str]
) -> None:
    archive, logs, out = tmp_path / "my_servo.zip", tmp_path / "logs", tmp_path / "check.json"
    bundle_servo(identified(tmp_path), archive, licence="CC0-1.0")
    logs.mkdir()
    for recording in recordings:
        write_log(recording, logs / f"{recording.name}.json")
    words = ["servos", "check", str(archive), str(logs), "--bench-effects", "none", "--json", str(out)]
    assert main(words) == 0
    written = json.loads(out.read_text())
    assert written["verdict"]["kind"] == "accepted"
    assert all(entry["passed"] for entry in written["criteria"])
    assert set(written["logs"]) == {recording.name for recording in recordings}
    assert capsys.readouterr().out.splitlines()[-1].startswith("ACCEPTED: ")
    (logs / f"{recordings[0].name}.json").unlink()
    assert main(words) == 1
    assert json.loads(out.read_text())["verdict"]["missed"] == ["logs"]
    assert capsys.readouterr().out.splitlines()[-1].startswith("REFUSED: ")


def test_the_bench_of_a_bundle_counts(tmp_path: Path, recordings: list[Recording]) -> None:
    archive, logs, out = tmp_path / "my_servo.zip", tmp_path / "logs", tmp_path / "check.json"
    bundle_servo(identified(tmp_path), archive, licence="CC0-1.0")
    logs.mkdir()
    for recording in recordings:
        write_log(recording, logs / f"{recording.name}.json")
    assert main(["servos", "check", str(archive), str(logs), "--json", str(out)]) == 1
    assert (
        "bands" in json.loads(out.read_text())["verdict"]["missed"]
    )  # its zero offset is not that of the logs
