# SPDX-License-Identifier: Apache-2.0
"""γ_u and γ_v from pendulum recordings, and the rollout behind."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from bam_core import PARAMETERS, BamError, PendulumBench, Rollout, load_servo
from bam_core.cli import main
from bam_core.exchange import bam_log
from bam_core.friction import Friction
from bam_core.gears import Asymmetry, Gear
from bam_core.gears.identification import fit_gear
from bam_core.gears.rollout import GEAR_PARAMETERS, TRACE_STEPS, GearRollout, gear_vector
from bam_core.identification import identify
from bam_core.recording import Recording
from bam_core.synthetic import synthesize

SERVO = load_servo("xl330_bam")
TRUTH = {
    "torque_constant": 0.39,
    "resistance": 2.9,
    "armature": 0.0016,
    "viscous": 0.005,
    "coulomb": 0.01,
    "stribeck_coulomb": 0.012,
    "stribeck_velocity": 0.8,
    "stribeck_exponent": 0.9,
    "input_side": 0.10,
    "output_side": 0.35,
    "zero_offset": 0.0,
    "command_delay": 0.0,
}
VECTOR = np.array([TRUTH[name] for name in GEAR_PARAMETERS])
SCRIPTS = ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")


def blank(script: str, kp: float, mass: float = 0.49) -> Recording:
    """A run whose positions are yet to come, on the grid of the rollout's samples."""
    bench = PendulumBench(mass=mass, length=0.1)
    return synthesize(
        SERVO, bench, script, kp, sample_period=TRACE_STEPS * SERVO.firmware.period, torque=True
    )


def record(runs: list[Recording], vector: np.ndarray) -> list[Recording]:
    """Let a servo with these parameters make the runs."""
    rollout = GearRollout(runs, firmware=SERVO.firmware)
    parts = np.split(rollout.positions(vector)[0], np.cumsum(rollout.counts)[:-1])
    return [
        dataclasses.replace(run, position=np.pad(part, (0, len(run) - len(part)), mode="edge"))
        for run, part in zip(runs, parts, strict=True)
    ]


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    runs = [blank(script, kp) for script in SCRIPTS for kp in (100.0, 400.0)]
    return record(runs, VECTOR)


@pytest.mark.parametrize("effects", [(0.0, 0.0), (0.012, 0.0026)])
def test_without_asymmetry_the_errors_are_those_of_the_suites_own_rollout(
    recordings: list[Recording], effects: tuple[float, float]
) -> None:
    ours = VECTOR.copy()
    ours[8:] = (0.0, 0.0, *effects)
    theirs = np.zeros((1, len(PARAMETERS)))
    for name, value in zip(GEAR_PARAMETERS, ours, strict=True):
        if name in PARAMETERS:
            theirs[0, PARAMETERS.index(name)] = value
    expected = Rollout(recordings, firmware=SERVO.firmware).errors(theirs)[0]
    assert GearRollout(recordings, firmware=SERVO.firmware).errors(ours)[0] == pytest.approx(
        expected, abs=1e-10
    )


def test_a_free_swing_is_that_of_the_gear_step_by_step() -> None:
    run = dataclasses.replace(blank("sin_sin", 100.0), position=np.full(501, 1.0))
    run = dataclasses.replace(run, torque_enabled=np.zeros(len(run), dtype=bool))
    rollout = GearRollout([run], firmware=SERVO.firmware, substeps=1)
    swing = rollout.positions(VECTOR)[0]
    gear = Gear(
        asymmetry=Asymmetry(input_side=TRUTH["input_side"], output_side=TRUTH["output_side"]),
        input_inertia=TRUTH["armature"],
        output_inertia=run.bench.inertia,
        friction=Friction(
            viscous=0.005,
            coulomb=0.01,
            stribeck_coulomb=0.012,
            stribeck_velocity=0.8,
            stribeck_exponent=0.9,
        ),
    )
    position, speed, dt = 1.0, 0.0, SERVO.firmware.period
    for k in range(len(swing) * TRACE_STEPS):
        if k % TRACE_STEPS == 0:
            assert swing[k // TRACE_STEPS] == pytest.approx(position, abs=1e-9)
        load = -float(run.bench.external_torque(position + 0.5 * dt * speed))
        after = gear.step(speed, 0.0, load, dt).velocity
        position, speed = position + 0.5 * dt * (speed + after), after


def test_self_locking_holds_the_arm_when_torque_goes_off() -> None:
    locking = VECTOR.copy()
    locking[GEAR_PARAMETERS.index("output_side")] = 1.1
    dropped, held = (
        record([blank("lift_and_drop", 400.0)], vector)[0].position for vector in (VECTOR, locking)
    )
    assert abs(dropped[-1] - dropped[-100]) < 0.3
    assert abs(dropped[-1]) < 0.5
    assert abs(held[-1]) > 0.6
    assert held[-1] == held[-100]


def test_a_fit_finds_the_parameters_that_made_the_recordings(recordings: list[Recording]) -> None:
    fit = fit_gear(recordings, SERVO, trials=1000, seed=1, effects=())
    assert fit.trials <= 1020
    assert fit.train_mae < 5e-4
    assert fit.asymmetry.input_side == pytest.approx(0.10, abs=2e-3)
    assert fit.asymmetry.output_side == pytest.approx(0.35, abs=2e-3)
    assert fit.standard_errors["output_side"] < 0.01
    others = record([blank("sin_sin", 200.0), blank("lift_and_drop", 800.0)], VECTOR)
    assert max(fit.validate(others, SERVO).values()) < 1e-3


def test_too_few_trials_and_unknown_effects_are_refused(recordings: list[Recording]) -> None:
    with pytest.raises(BamError, match=r"trials: is 10 \(expected 200"):
        fit_gear(recordings, SERVO, trials=10)
    with pytest.raises(BamError, match=r"'arm_backlash'.*zero_offset, command_delay"):
        fit_gear(recordings, SERVO, effects=["arm_backlash"])
    with pytest.raises(BamError, match="no recordings"):
        GearRollout([], firmware=SERVO.firmware)
    with pytest.raises(BamError, match="columns are torque_constant"):
        GearRollout(recordings, firmware=SERVO.firmware).errors(np.zeros((1, 3)))


def test_the_command_compares_the_gear_with_servo_models(
    recordings: list[Recording], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for run in recordings[:4]:
        (logs / f"{run.name}.json").write_text(json.dumps(bam_log(run)))
    result = tmp_path / "gear.json"
    words = ["gear", str(logs), "--servo", "xl330_bam", "--against", "xl330_bam"]
    assert main([*words, "--trials", "200", "--json", str(result)]) == 0
    printed = capsys.readouterr().out
    assert "γ_v" in printed
    assert "held out [mrad]" in printed
    summary = json.loads(result.read_text())
    assert list(summary["models"]) == ["gear", "xl330_bam"]
    assert set(summary["parameters"]) == set(GEAR_PARAMETERS)
    assert main([*words, "--trials", "3"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture
def logs(recordings: list[Recording], tmp_path: Path) -> Path:
    directory = tmp_path / "logs"
    directory.mkdir()
    for run in recordings[:4]:
        (directory / f"{run.name}.json").write_text(json.dumps(bam_log(run)))
    return directory


def test_the_file_of_a_fit_is_a_servo_with_the_errors_that_were_printed(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, result = tmp_path / "gear.yaml", tmp_path / "gear.json"
    words = ["gear", str(logs), "--servo", "xl330_bam", "--trials", "300", "--json", str(result)]
    assert main([*words, "--output", str(file)]) == 0
    found = json.loads(result.read_text())
    servo = load_servo(file)
    assert gear_vector(servo).tolist() == pytest.approx(
        [found["parameters"][name] for name in GEAR_PARAMETERS], rel=1e-12
    )
    assert servo.effects == ("zero_offset", "command_delay")
    assert servo.uncertainty == pytest.approx(found["standard_errors"])
    assert set(servo.provenance.train_data) | set(servo.provenance.validation_data) == {
        path.stem for path in logs.iterdir()
    }
    errors = tmp_path / "errors.json"
    assert main(["validate", str(logs), "--params", str(file), "--json", str(errors)]) == 0
    per_log = json.loads(errors.read_text())["gear"]["per_log"]
    train = [per_log[name] for name in servo.provenance.train_data]
    assert np.mean(train) == pytest.approx(found["models"]["gear"]["train_mae"])
    # As one of those compared with it has the errors of the fit again.
    again = tmp_path / "again.json"
    assert main([*words[:-1], str(again), "--against", str(file)]) == 0
    assert json.loads(again.read_text())["models"]["gear"] == found["models"]["gear"]
    capsys.readouterr()
    # In MuJoCo it follows the same logs as closely.
    assert main(["simulate", "--params", str(file), "--recording", str(logs)]) == 0
    mean = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mean"))
    assert float(mean.split()[-1]) == pytest.approx(1e3 * np.mean(list(per_log.values())), abs=3.0)


def test_mistakes_about_the_file_are_told_before_the_work(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["gear", str(logs), "--servo", "xl330_bam", "--output"]
    (tmp_path / "file").write_text("in the way")
    for path, message in (("gear.json", "expected FILE.yaml"), ("file/gear.yaml", "file")):
        assert main([*words, str(tmp_path / path)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_a_servo_without_gear_or_with_effects_beyond_it_is_no_candidate() -> None:
    gear = Asymmetry(input_side=0.1, output_side=0.3)
    with pytest.raises(BamError, match="'xl330', gear: is missing"):
        gear_vector(SERVO)
    with pytest.raises(BamError, match=r"'xl330', torque_saturation: is .* beside a gear.*bam simulate"):
        gear_vector(load_servo("xl330").with_gear(gear))


def test_an_identification_from_a_servo_with_a_gear_finds_servos_without(recordings: list[Recording]) -> None:
    prior = load_servo("xl330_bam").with_gear(Asymmetry(input_side=0.1, output_side=0.3))
    found = identify(recordings[:4], prior, ["m1", "m3"], trials=200, validation="fraction=0.25", effects=())
    assert {name: fit.servo.gear for name, fit in found.fits.items()} == {"m1": None, "m3": None}


def test_commands_that_know_budgets_only_refuse_a_file_with_a_gear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gear.yaml"
    SERVO.with_gear(Asymmetry(input_side=0.1, output_side=0.3)).save(file)
    for words in (
        ["diagram", str(file), "--output", str(tmp_path / "out.png")],
        ["export", str(file), "--output", str(tmp_path / "out.xml")],
        ["export", str(file), "--output", str(tmp_path / "out.json")],
        ["design", "--servo", str(file)],
    ):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "'xl330', gear: " in error
        assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["gear.yaml"]
