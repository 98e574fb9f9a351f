# SPDX-License-Identifier: Apache-2.0
"""Servos of a robot are found from its runs, with what belongs to the robot beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData, BamError, NotWritable
from bam_core.robot import identification
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.deviations_file import deviations_path, load_deviations, save_deviations
from bam_core.robot.evidence_checks import require_evidence
from bam_core.robot.fit import RobotFit
from bam_core.robot.identification import identify_robot
from bam_core.robot.noise import assumed_noise
from bam_core.robot.result import RobotIdentification, RobotTask
from bam_core.robot.run import RobotRun
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns, heavy_bodies, with_friction_model
from bam_core.robot.writing import RobotOutput, require_new, write_robot_identification
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import INTERRUPTED, load_servo
from bam_core.text.robot_evidence_findings import JointsFinding, SlowRate
from bam_core.text.robot_result_findings import NoBand
from bam_core.text.servo_findings import UnfinishedServo
from test.core.finding_cases import logged
from test.core.whole_robot_cases import JOINTS, bench, goals, recorded, servos

TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
TRUE = RobotDeviations(delay=0.009, zero={"elbow": 0.02})
LITTLE = RobotTolerances(
    zero=0.0, strength=0.0, back_emf=0.0, friction=0.0, load_friction=0.0, mass=0.0, centre=0.0
)
"""Few unknowns: parameters of servos, and the delay."""


def hidden() -> dict[str, object]:
    """Servos as those of the library, weaker and with more friction."""
    found = {}
    for joint, servo in servos("m1").items():
        motor = replace(servo.motor, resistance=1.15 * servo.motor.resistance)
        friction = replace(servo.friction, coulomb=servo.friction.coulomb + 0.08)
        found[joint] = replace(servo, motor=motor, friction=friction)
    return found


@pytest.fixture(scope="module")
def found() -> RobotIdentification:
    truth = hidden()
    train = [recorded(truth, seed=seed, deviations=TRUE, duration=2.5) for seed in (1, 2)]
    task = RobotTask(
        bench=bench(),
        types=TYPES,
        servos={name: load_servo(name) for name in TYPES.values()},
        joints=JOINTS,
        train=train,
        test=[recorded(truth, seed=3, deviations=TRUE, duration=2.5)],
    )
    said: list[str] = []
    result = identify_robot(task, RobotIdentifySettings(models=["m1"]), progress=said.append)
    assert any(words.startswith("m1: first descent, step 1: ") for words in said)
    return result


@pytest.mark.long
def test_an_unseen_run_is_followed_within_encoder_counts(found: RobotIdentification) -> None:
    before, after = found.mae("m1", found.test, before=True), found.mae("m1", found.test)
    assert before is not None
    assert after is not None
    assert after < 0.25 * before
    assert after < 2e-3
    assert found.mae("m1", found.train) < 2e-3
    assert found.test == ("run3",)


def test_the_delay_and_the_strength_of_motors_are_found(found: RobotIdentification) -> None:
    fit = found.fits["m1"]
    assert fit.deviations.delay == pytest.approx(TRUE.delay, abs=2e-3)
    truth = hidden()
    for joint, name in TYPES.items():
        motor, true = fit.servos[name].motor, truth[joint].motor
        strength = motor.torque_constant / motor.resistance * (1.0 + fit.deviations.strength[joint])
        assert strength == pytest.approx(true.torque_constant / true.resistance, rel=0.08)
    estimate = fit.estimates["mx106"]["coulomb"]
    assert estimate.told
    assert 0.0 < estimate.width < 0.8
    assert estimate.low <= truth["shoulder"].friction.coulomb <= estimate.high


def test_results_are_written_once_and_read_again(found: RobotIdentification, tmp_path: Path) -> None:
    output = tmp_path / "out"
    write_robot_identification(found, output, "arm")
    assert sorted(path.name for path in output.iterdir()) == [
        "deviations",
        "mx106_m1.yaml",
        "mx64_m1.yaml",
        "predictions",
        "summary.json",
        "trajectories.npz",
    ]
    fit = found.fits["m1"]
    servo = load_servo(output / "mx64_m1.yaml")
    assert servo.motor == fit.servos["mx64"].motor
    assert servo.friction == fit.servos["mx64"].friction
    assert servo.provenance.test_mae == found.mae("m1", found.test)
    again = load_deviations(deviations_path(output, "m1"))
    assert again == fit.deviations
    with pytest.raises(NotWritable, match="not empty"):
        require_new(output)


@pytest.fixture
def task() -> RobotTask:
    """A run to fit and a test run, both of half a second that counts."""
    return RobotTask(
        bench=bench(),
        types=TYPES,
        servos={name: load_servo(name) for name in TYPES.values()},
        joints=JOINTS,
        train=[recorded(servos("m1"), seed=1, duration=1.0)],
        test=[recorded(servos("m1"), seed=2, duration=1.0)],
    )


def fit_at_once(monkeypatch: pytest.MonkeyPatch, spread: float) -> None:
    """Let descents end where they begin, with this standard deviation of every unknown."""

    def fit_robot(bench: object, runs: object, joints: object, unknowns: Unknowns, **_: object) -> RobotFit:
        count = len(unknowns.names)
        return RobotFit(
            unknowns=unknowns,
            point=np.zeros(count),
            covariance=spread**2 * np.eye(count),
            standard_errors=np.full(count, 0.1),
            noise=assumed_noise(len(JOINTS)),
        )

    monkeypatch.setattr(identification, "fit_robot", fit_robot)


def test_a_later_model_begins_where_the_one_before_ended(
    task: RobotTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit_at_once(monkeypatch, spread=0.1)
    fitted, begun = identification.fit_robot, []

    def fit_robot(*words: object, before: RobotFit | None, **named: object) -> RobotFit:
        begun.append(before)
        return fitted(*words, **named)

    monkeypatch.setattr(identification, "fit_robot", fit_robot)
    identify_robot(task, RobotIdentifySettings(models=["m1", "m3"]))
    assert begun[0] is None
    assert begun[1] is not None
    assert "mx64 coulomb" in begun[1].unknowns.names


def names_in(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_draws_that_the_time_step_refuses_cost_nothing_else(
    task: RobotTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit_at_once(monkeypatch, spread=20.0)  # some of such servos have hardly any inertia
    found = identify_robot(task, RobotIdentifySettings(models=["m1"]))
    assert all(np.isfinite(band).all() for band in found.fits["m1"].bands.values())
    write_robot_identification(found, tmp_path / "out", "arm")
    assert {"mx106_m1.yaml", "summary.json", "trajectories.npz"} <= set(names_in(tmp_path / "out"))


def test_a_run_without_a_band_is_warned_of(
    task: RobotTask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fit_at_once(monkeypatch, spread=0.1)
    monkeypatch.setattr(identification, "half_widths", lambda *words: {})
    assert identify_robot(task, RobotIdentifySettings(models=["m1"])).fits["m1"].coverage == {}
    assert logged(caplog) == [NoBand(model="m1", runs=("run2",))]


def test_parameters_are_written_before_errors_are_known(
    task: RobotTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fit_at_once(monkeypatch, spread=0.1)
    errors_of = identification.errors_of
    failures = iter([None, None, None, None, BadData("run2", "cannot be simulated"), RuntimeError("a bug")])

    def fails_with_m2_and_m4(*words: object) -> object:
        if (failure := next(failures)) is not None:
            raise failure
        return errors_of(*words)

    monkeypatch.setattr(identification, "errors_of", fails_with_m2_and_m4)
    output = RobotOutput(tmp_path / "out", "arm")
    seen = []

    def finished(so_far: RobotIdentification) -> None:
        output.write(so_far)
        seen.append((list(so_far.fits), "summary.json" in names_in(tmp_path / "out")))

    with pytest.raises(RuntimeError, match="a bug"):
        identify_robot(
            task,
            RobotIdentifySettings(models=["m1", "m2", "m4"]),
            fitted=output.write_parameters,
            finished=finished,
        )
    assert seen == [(["m1"], True)]
    assert output.unfinished == {"m2", "m4"}
    files = names_in(tmp_path / "out")
    for model in ("m1", "m2", "m4"):
        assert {f"mx106_{model}.yaml", f"mx64_{model}.yaml", f"deviations/{model}.yaml"} <= set(files)
    assert load_servo(tmp_path / "out" / "mx64_m1.yaml").provenance.train_mae is not None
    assert load_servo(tmp_path / "out" / "mx64_m4.yaml").provenance.train_mae is None


@pytest.mark.parametrize(
    "end", [KeyboardInterrupt(), MemoryError(), BadData("simulation", "diverges")], ids=repr
)
def test_a_descent_that_does_not_end_well_leaves_its_best_point(
    end: BaseException, task: RobotTask, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The servo differs from the one that it began with, and its file names that it is not converged."""
    output = RobotOutput(tmp_path / "out", "arm")
    steps: list[str] = []

    def interrupt(words: str) -> None:
        steps.append(words)
        if "descent, step 2" in words:
            raise end

    truth = [recorded(hidden(), seed=1, deviations=TRUE, duration=1.0)]
    with pytest.raises(type(end)):
        identify_robot(
            replace(task, train=truth),
            RobotIdentifySettings(models=["m1"], tolerances=LITTLE),
            progress=interrupt,
            fitted=output.write_parameters,
            finished=output.write,
        )
    assert output.not_converged == output.unfinished == {"m1"}
    assert output.complete == ()
    caplog.clear()
    written = load_servo(tmp_path / "out" / "mx106_m1.yaml")
    load_servo(tmp_path / "out" / "mx106_m1.yaml")
    assert [type(finding) for finding in logged(caplog)] == [UnfinishedServo]  # once in a command
    assert written.provenance.source.endswith(INTERRUPTED)
    assert written.friction.coulomb != task.servos["mx106"].friction.coulomb
    assert load_deviations(deviations_path(tmp_path / "out", "m1")).delay != LITTLE.expected_delay
    assert "summary.json" not in names_in(tmp_path / "out")


def test_an_end_before_the_first_step_writes_nothing(task: RobotTask, tmp_path: Path) -> None:
    output = RobotOutput(tmp_path / "out", "arm")

    def interrupt(words: str) -> None:
        if "begins with" in words:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        identify_robot(
            task,
            RobotIdentifySettings(models=["m1"], tolerances=LITTLE),
            progress=interrupt,
            fitted=output.write_parameters,
        )
    assert not (tmp_path / "out").exists()


def test_a_model_that_fails_costs_no_other_model(
    task: RobotTask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fit_at_once(monkeypatch, spread=0.1)
    quick = identification.fit_robot

    def fails_with_m4(
        bench: object, runs: object, joints: object, unknowns: Unknowns, **_: object
    ) -> RobotFit:
        if unknowns.servos["mx106"].friction_model == "m4":
            raise BadData("simulation", "diverges")
        return quick(bench, runs, joints, unknowns)

    monkeypatch.setattr(identification, "fit_robot", fails_with_m4)
    assert list(identify_robot(task, RobotIdentifySettings(models=["m4", "m1"])).fits) == ["m1"]
    assert [each.getMessage().partition(":")[0] for each in caplog.records] == ["m4"]
    with pytest.raises(BadData, match="diverges"):
        identify_robot(task, RobotIdentifySettings(models=["m4"]))


def test_files_of_deviations_tell_what_is_wrong_in_them(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    save_deviations(TRUE, path)
    assert load_deviations(path) == TRUE
    for text in (
        "[]",
        "zeros: {}",
        "delay: soon",
        "centre: {trunk: [1, 2]}",
        "mass: {trunk: true}",
        "delay: -1",
    ):
        path.write_text(text)
        with pytest.raises(BamError, match=r"d\.yaml"):
            load_deviations(path)


def test_units_deviate_from_their_type_in_one_thing_each() -> None:
    servo = load_servo("mx106")
    deviations = RobotDeviations(
        strength={"a": 0.1}, back_emf={"b": 0.1}, friction={"c": 0.1}, load_friction={"d": 0.1}
    )
    strong, quick, rough, worn = (deviations.unit(servo, joint) for joint in "abcd")
    assert strong.stall_torque() == pytest.approx(1.1 * servo.stall_torque())
    assert strong.motor.torque_constant == servo.motor.torque_constant
    assert quick.stall_torque() == pytest.approx(servo.stall_torque())
    assert quick.motor.torque_constant == pytest.approx(1.1 * servo.motor.torque_constant)
    before = servo.friction.coefficients()
    for unit, of_load in ((rough, False), (worn, True)):
        for name, value in unit.friction.coefficients().items():
            no_load = name in ("viscous", "coulomb", "stribeck_coulomb")
            scaled = not name.startswith("stribeck_") or no_load
            larger = scaled and no_load is not of_load
            assert value == pytest.approx(before[name] * (1.1 if larger else 1.0)), name
    assert deviations.unit(servo, "e") is servo


def test_unknowns_begin_at_what_is_given_and_stay_possible() -> None:
    unknowns = Unknowns(
        servos={name: with_friction_model(load_servo(name), "m6") for name in TYPES.values()},
        joints=TYPES,
        tolerances=RobotTolerances(),
        bodies=heavy_bodies(bench().spec),
    )
    begin = np.zeros(len(unknowns.names))
    for name, servo in unknowns.types_at(begin).items():
        assert servo.friction.coefficients() == pytest.approx(load_servo(name).friction.coefficients())
    assert unknowns.deviations_at(begin).delay == RobotTolerances().expected_delay
    random = np.random.default_rng(0)
    for _ in range(50):  # every point is a servo that there could be: none raises
        point = random.normal(0.0, 3.0, len(unknowns.names))
        unknowns.types_at(point)
        assert unknowns.deviations_at(point).delay >= 0.0


def test_an_interval_that_reaches_over_zero_begins_there() -> None:
    unknowns = Unknowns(
        servos={"mx106": with_friction_model(load_servo("mx106"), "m1")},
        joints={"shoulder": "mx106"},
        tolerances=RobotTolerances(),
        bodies=(),
    )
    start = load_servo("mx106").friction.viscous
    assert unknowns.value("mx106", "viscous", 0.0) == pytest.approx(start)
    assert unknowns.value("mx106", "viscous", -20.0) == 0.0
    assert unknowns.value("mx106", "viscous", 1.0) > start
    assert unknowns.value("mx106", "torque_constant", -20.0) > 0.0
    least = dict(zip(unknowns.names, unknowns.least, strict=True))
    assert unknowns.value("mx106", "viscous", least["mx106 viscous"]) == 0.0
    assert unknowns.value("mx106", "viscous", 0.99 * least["mx106 viscous"]) > 0.0
    assert unknowns.deviations_at(np.maximum(-20.0, unknowns.least)).delay == 0.0
    wide = dict(zip(unknowns.names, unknowns.is_wide, strict=True))
    assert wide["mx106 viscous"]
    assert wide["zero shoulder"]
    assert not wide["back_emf shoulder"]
    assert np.isinf(least["mx106 torque_constant"])


@pytest.mark.parametrize("name", list(FRICTION_MODELS))
def test_every_friction_model_can_begin_from_a_servo_of_the_library(name: str) -> None:
    servo = with_friction_model(load_servo("mx106"), name)
    assert servo.friction_model == name
    assert servo.friction.coulomb == load_servo("mx106").friction.coulomb


def test_runs_that_cannot_tell_are_refused_or_warned_of() -> None:
    run = recorded(servos(), duration=2.0)
    assert require_evidence([run], JOINTS, TYPES, ["m6"]) == []
    slow = replace(
        run,
        time=run.time[::4],
        goal_position=run.goal_position[::4],
        position=run.position[::4],
    )
    (finding,) = require_evidence([slow], JOINTS, TYPES, ["m1", "m4"])
    assert isinstance(finding, SlowRate)
    assert (finding.models, finding.runs, round(finding.rate)) == (("m4",), 1, 25)
    assert require_evidence([slow], JOINTS, TYPES, ["m1"]) == []
    still = run.position.copy()
    still[:, 1] = 0.3
    with pytest.raises(BadData, match="servo mx64"):
        require_evidence([replace(run, position=still)], JOINTS, TYPES, ["m1"])
    both = dict.fromkeys(JOINTS, "mx64")
    assert require_evidence([replace(run, position=still)], JOINTS, both, ["m1"]) == [
        JointsFinding(kind="resting", joints=("elbow",), limit=0.02)
    ]
    assert goals().kp == 16.0


def test_exchanged_and_late_readings_are_found_before_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = servos("m1")
    right = [recorded(truth, seed=seed, duration=8.0) for seed in (1, 2)]

    def late(run: RobotRun) -> RobotRun:
        position = run.position.copy()
        position[6:, 1] = run.position[:-6, 1]
        return replace(run, position=position)

    task = RobotTask(
        bench=bench(),
        types=dict.fromkeys(JOINTS, "mx106"),
        servos={"mx106": load_servo("mx106")},
        joints=JOINTS,
        train=[replace(late(right[0]), position=late(right[0]).position[:, ::-1])],
        test=[late(right[1])],
    )
    given: list[RobotTask] = []
    monkeypatch.setattr(identification, "fit_models", lambda task, settings, **calls: given.append(task))
    identify_robot(task)
    for run, own in zip(given[0].runs, right, strict=True):
        sound = run.is_sound.all(axis=1)
        assert sound.sum() > 0.9 * len(sound)
        left = np.abs(run.position - own.position)[sound].mean()
        assert left < 0.4 * np.abs(late(own).position - own.position).mean()
