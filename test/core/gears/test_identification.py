# SPDX-License-Identifier: Apache-2.0
"""γ_u and γ_v from pendulum recordings, and the rollout behind."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from bam_core import (
    PARAMETERS,
    BenchEffects,
    PendulumBench,
    Rollout,
    load_bench_effects,
    load_servo,
)
from bam_core.cli import main
from bam_core.errors import Missing, OutOfRange, UnknownName, Unsupported, WrongShape
from bam_core.exchange import bam_log
from bam_core.gears import Asymmetry, Gear
from bam_core.gears.identification import _Search, fit_gear
from bam_core.gears.rollout import GEAR_PARAMETERS, TRACE_STEPS, GearRollout, gear_vector
from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import Friction
from bam_core.servo.model import Provenance
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from bam_core.text.split_findings import FittedToTest
from test.core.finding_cases import logged
from test.core.refusals import refused

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
        SERVO, bench, script, kp, SynthesisSettings(sample_period=TRACE_STEPS * SERVO.firmware.period)
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


@pytest.mark.parametrize(
    "effects",
    # One below zero looks ahead, beyond the end of a run; one longer than the run gives no command at all.
    [(0.0, 0.0), (0.012, 0.0026), (0.012, -0.0004), (0.012, -0.002), (0.0, -99.0), (0.0, 99.0)],
)
def test_without_asymmetry_the_errors_converge_to_those_of_the_suites_own_rollout(
    recordings: list[Recording], effects: tuple[float, float]
) -> None:
    """The gear's step (Kikuuwe 36) is of first order, that of the rollout of second."""
    ours = VECTOR.copy()
    ours[8:] = (0.0, 0.0, *effects)
    theirs = np.zeros((1, len(PARAMETERS)))
    for name, value in zip(GEAR_PARAMETERS, ours, strict=True):
        if name in PARAMETERS:
            theirs[0, PARAMETERS.index(name)] = value
    firmware = SERVO.firmware
    expected = Rollout(recordings, firmware, RolloutSettings(dt=firmware.period, substeps=8)).errors(theirs)[
        0
    ]
    coarse, fine = (
        np.abs(GearRollout(recordings, firmware=firmware, substeps=substeps).errors(ours)[0] - expected)
        for substeps in (2, 8)
    )
    assert coarse.max() < 0.02 * firmware.resolution
    assert fine.mean() <= 0.4 * coarse.mean()  # both zero where no command comes


def test_delays_that_are_no_numbers_give_errors_that_are_none(recordings: list[Recording]) -> None:
    vector = VECTOR.copy()
    for delay in (np.nan, np.inf, -np.inf):
        vector[GEAR_PARAMETERS.index("command_delay")] = delay
        assert np.all(np.isnan(GearRollout(recordings, firmware=SERVO.firmware).errors(vector)))


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


@pytest.mark.long
def test_a_fit_finds_the_parameters_that_made_the_recordings(recordings: list[Recording]) -> None:
    fit = fit_gear(recordings, SERVO, trials=1000, seed=1, effects=())
    assert fit.trials <= 1020
    assert fit.train_mae < 5e-4
    assert fit.asymmetry.input_side == pytest.approx(0.10, abs=2e-3)
    assert fit.asymmetry.output_side == pytest.approx(0.35, abs=2e-3)
    assert fit.standard_errors["output_side"] < 0.01
    others = record([blank("sin_sin", 200.0), blank("lift_and_drop", 800.0)], VECTOR)
    assert max(fit.validate(others, SERVO).values()) < 1e-3


@pytest.mark.parametrize("trials", [200, 333])
def test_a_short_fit_keeps_to_its_trials(recordings: list[Recording], trials: int) -> None:
    assert fit_gear(recordings[:2], SERVO, trials=trials).trials <= trials + 20


@pytest.mark.long
def test_a_servo_with_a_gear_tells_the_search_where_its_gear_is(recordings: list[Recording]) -> None:
    truth = dataclasses.replace(
        load_servo("xl330_bam"),
        motor=dataclasses.replace(SERVO.motor, torque_constant=0.39, resistance=2.9, armature=0.0016),
        friction_model="m2",
        friction=Friction(
            viscous=0.005,
            coulomb=0.01,
            stribeck_coulomb=0.012,
            stribeck_velocity=0.8,
            stribeck_exponent=0.9,
        ),
        gear=Asymmetry(input_side=TRUTH["input_side"], output_side=TRUTH["output_side"]),
    )
    fit = fit_gear(recordings[:4], truth, trials=200, effects=())
    assert fit.train_mae < 1e-3
    assert fit.asymmetry.input_side == pytest.approx(0.10, abs=5e-3)


@pytest.mark.long
def test_a_fit_says_which_parameters_the_recordings_do_not_tell(recordings: list[Recording]) -> None:
    known = fit_gear(recordings, SERVO, trials=1000, seed=1, effects=())
    assert not {"input_side", "output_side", "coulomb"} & set(known.unidentifiable)
    # A motor that is off tells nothing of itself, and what drops says little of γ_u.
    run = dataclasses.replace(blank("sin_sin", 100.0), position=np.full(501, 1.0))
    run = dataclasses.replace(run, torque_enabled=np.zeros(len(run), dtype=bool))
    silent = fit_gear(record([run, run], VECTOR), SERVO, trials=200, effects=())
    assert "resistance" in silent.unidentifiable
    assert "torque_constant" in silent.unidentifiable


def test_too_few_trials_and_unknown_effects_are_refused(recordings: list[Recording]) -> None:
    with refused(OutOfRange, thing="gear trials", value=10):
        fit_gear(recordings, SERVO, trials=10)
    with refused(UnknownName, kind="gear effect", valid=("command_delay", "zero_offset")):
        fit_gear(recordings, SERVO, effects=["arm_backlash"])
    with refused(Missing, thing="recording"):
        GearRollout([], firmware=SERVO.firmware)
    with refused(WrongShape, thing="gear parameters", value=(1, 3)):
        GearRollout(recordings, firmware=SERVO.firmware).errors(np.zeros((1, 3)))


@pytest.mark.long
def test_the_command_compares_the_gear_with_servo_models(
    recordings: list[Recording], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for run in recordings[:4]:
        (logs / f"{run.name}.json").write_text(json.dumps(bam_log(run)))
    result = tmp_path / "gear.json"
    words = ["gear", str(logs), "--servo", "xl330_bam", "--params", "xl330_bam"]
    assert main([*words, "--trials", "200", "--json", str(result)]) == 0
    printed = capsys.readouterr().out
    assert "γ_v" in printed
    assert "held out [mrad]" in printed
    summary = json.loads(result.read_text())
    assert list(summary["models"]) == ["gear", "xl330_bam"]
    assert set(summary["parameters"]) == set(GEAR_PARAMETERS)
    gear = Asymmetry(**{name: summary["parameters"][name] for name in ("input_side", "output_side")})
    assert summary["efficiencies"] == {
        "forward": gear.forward_efficiency,
        "backward": gear.backward_efficiency,
    }
    assert summary["drivability"] == gear.drivability
    assert f"({gear.drivability})" in printed
    assert "(fraction=0.25)" in printed
    assert ("not identifiable: " in printed) == bool(summary["not_identifiable"])
    assert main([*words, "--trials", "3"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture
def logs(recordings: list[Recording], tmp_path: Path) -> Path:
    directory = tmp_path / "logs"
    directory.mkdir()
    for run in recordings[:4]:
        (directory / f"{run.name}.json").write_text(json.dumps(bam_log(run)))
    return directory


@pytest.mark.long
def test_the_file_of_a_fit_is_a_servo_with_the_errors_that_were_printed(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    file, result = tmp_path / "gear.yaml", tmp_path / "gear.json"
    words = ["gear", str(logs), "--servo", "xl330_bam", "--trials", "300", "--json", str(result)]
    assert main([*words, "--output", str(file)]) == 0
    found = json.loads(result.read_text())
    servo = load_servo(file)
    assert gear_vector(servo, load_bench_effects(file)).tolist() == pytest.approx(
        [found["parameters"][name] for name in GEAR_PARAMETERS], rel=1e-12
    )
    bench = ("zero_offset", "command_delay")
    assert servo.search.effects == bench
    own = {name: error for name, error in found["standard_errors"].items() if name not in bench}
    assert servo.uncertainty == pytest.approx(own)
    assert set(servo.provenance.train_data) | set(servo.provenance.test_data) == {
        path.stem for path in logs.iterdir()
    }
    errors = tmp_path / "errors.json"
    assert main(["validate", str(logs), "--params", str(file), "--json", str(errors)]) == 0
    per_log = json.loads(errors.read_text())["gear"]["per_log"]
    train = [per_log[name] for name in servo.provenance.train_data]
    assert np.mean(train) == pytest.approx(found["models"]["gear"]["train_mae"])
    # As one of those compared with it has the errors of the fit again, and does not take its place.
    again = tmp_path / "again.json"
    assert main([*words[:-1], str(again), "--seed", "0", "--params", str(file), str(file)]) == 0
    models = json.loads(again.read_text())["models"]
    assert list(models) == ["gear", str(file)]
    assert models[str(file)] == models["gear"] == found["models"]["gear"]
    # Another file of that name neither, and what it was fitted to and where it may jam is told.
    seen = {**servo.provenance.train_data, **servo.provenance.test_data}
    locking = dataclasses.replace(
        SERVO.with_gear(Asymmetry(input_side=0.1, output_side=1.6)), provenance=Provenance(train_data=seen)
    )
    other = tmp_path / "other" / "gear.yaml"
    locking.save(other)
    capsys.readouterr()
    caplog.clear()
    assert main([*words[:-1], str(again), "--params", str(other)]) == 0
    assert json.loads(again.read_text())["models"]["gear"] == found["models"]["gear"]
    assert str(FittedToTest(model=str(other), seen=1, total=1)) in capsys.readouterr().out
    (finding,) = logged(caplog)
    assert finding.kind == "ill_posed_gear"
    assert 1.0 < finding.feedback < 2.0
    assert (finding.input_side, finding.output_side) == (0.1, 1.6)
    capsys.readouterr()
    # In MuJoCo it follows the same logs as closely.
    assert main(["simulate", "--servo", str(file), "--recording", str(logs)]) == 0
    mean = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mean"))
    assert float(mean.split()[-1]) == pytest.approx(1e3 * np.mean(list(per_log.values())), abs=3.0)


def test_mistakes_about_the_file_are_told_before_the_work(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["gear", str(logs), "--servo", "xl330_bam", "--output"]
    (tmp_path / "file").write_text("in the way")
    both = tmp_path / "both.yaml"
    assert main([*words, str(both), "--json", str(both)]) == 2
    assert "--json and --output: both are" in capsys.readouterr().err
    assert not both.exists()
    assert main([*words, str(both), "--trials", "60"]) == 2
    assert capsys.readouterr().err.startswith("bam gear: --trials: is 60 (expected 200 or more)")
    for path, message in (("gear.json", "expected FILE.yaml"), ("file/gear.yaml", "file")):
        assert main([*words, str(tmp_path / path)]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_a_servo_without_gear_or_with_effects_beyond_it_is_no_candidate() -> None:
    gear = Asymmetry(input_side=0.1, output_side=0.3)
    with refused(Missing, thing="servo 'xl330', gear"):
        gear_vector(SERVO)
    with refused(Unsupported, thing="servo 'xl330', torque_saturation"):
        gear_vector(load_servo("xl330").with_gear(gear))
    with refused(Unsupported, thing="servo 'xl330', arm_mass"):
        gear_vector(SERVO.with_gear(gear), BenchEffects(arm_mass=0.1))


@pytest.mark.usefixtures("no_intervals")
def test_an_identification_from_a_servo_with_a_gear_finds_servos_without(recordings: list[Recording]) -> None:
    prior = load_servo("xl330_bam").with_gear(Asymmetry(input_side=0.1, output_side=0.3))
    found = identify(
        recordings[:4],
        prior,
        IdentifySettings(models=["m1", "m3"], trials=200, test="fraction=0.25", effects=()),
    )
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


def test_every_log_counts_the_same_however_long_it_is(recordings: list[Recording]) -> None:
    long, other = recordings[0], recordings[-1]
    count = len(other) // 4
    short = dataclasses.replace(
        other,
        **{
            name: value[:count]
            for name, value in vars(other).items()
            if isinstance(value, np.ndarray) and len(value) == len(other)
        },
    )
    search = _Search([long, short], SERVO, (), BenchEffects(), 100, lambda *_: None)
    point = np.full((1, len(search.axes)), 0.4)
    errors = search.rollout.positions(search.vectors(point))[0] - search.rollout.measured
    split = search.rollout.counts[0]
    assert search.rollout.counts[1] < 0.5 * split
    shares = search.residuals(point)[0]
    for of_log, error in ((shares[:split], errors[:split]), (shares[split:], errors[split:])):
        assert of_log @ of_log == pytest.approx(np.mean(error**2))
