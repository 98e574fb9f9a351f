# SPDX-License-Identifier: Apache-2.0
"""A limit of duty or current below the firmware's: every simulation of a log has that log's own."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.errors import OutOfRange
from bam_core.exchange import write_bag
from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.mujoco import simulate_recording
from bam_core.recordings import read_bag
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.physics_cases import random_run, servo
from test.core.reference_simulation import ReferenceSimulation
from test.core.refusals import refused
from test.run_bag import RUN, RunBag

HEAVY = PendulumBench(mass=0.49, length=0.1)
HALF = 442 / 885


def weak_and_strong() -> list[Recording]:
    run = random_run(3, 2e-3)
    return [run, dataclasses.replace(run, name="weak", sha256="weak", demand_limit=0.1)]


def test_every_log_of_a_rollout_has_its_own_limit() -> None:
    model = servo()
    rollout = Rollout.for_servo(weak_and_strong(), model, dt=2e-3)
    strong, weak = rollout.positions(parameter_vector(model))
    assert np.max(np.abs(strong - weak)) > 0.1
    for ours, limit in ((strong, 1.0), (weak, 0.1)):
        lane = rollout.packed.lanes[0]
        goal, supply, enabled, _ = rollout.packed.signals[: len(ours), :, lane].T
        logs = rollout.packed.logs
        start, velocity = logs.position[lane], logs.velocity[lane]
        run = rollout.recordings[0]
        reference = ReferenceSimulation(
            firmware=model.firmware.limited(limit),
            motor=model.motor,
            friction=model.friction,
            bench=run.bench,
            kp=run.kp,
        )
        expected, _ = reference.run(
            reference.at_rest(start, velocity, dt=2e-3), goal=goal, supply=supply, enabled=enabled, dt=2e-3
        )
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_effects_and_limits_go_together() -> None:
    model = servo()
    rollout = Rollout.for_servo(weak_and_strong(), model, dt=2e-3)
    for bench_effects in (IDEAL_BENCH, BenchEffects(command_delay=1e-3)):
        strong, weak = rollout.positions(parameter_vector(model, bench_effects))
        assert np.max(np.abs(strong - weak)) > 0.1


def test_a_replay_in_mujoco_has_the_limit_of_its_recording() -> None:
    model = load_servo("xl330_bam")
    run = synthesize(model, HEAVY, "sin_time_square", 400, SynthesisSettings(demand_limit=HALF))
    assert np.mean(np.abs(simulate_recording(model, run) - run.position)) < 2e-3
    free = dataclasses.replace(run, demand_limit=math.inf)
    assert np.mean(np.abs(simulate_recording(model, free) - run.position)) > 1e-2


def test_a_rollout_with_a_gear_has_it_too() -> None:
    model = servo()
    values = dict.fromkeys(GEAR_PARAMETERS, 0.0) | {
        "torque_constant": 2.2,
        "resistance": 2.0,
        "armature": 0.02,
        "viscous": 0.05,
        "coulomb": 0.04,
        "stribeck_velocity": 1.0,
        "stribeck_exponent": 1.0,
    }
    rollout = GearRollout(weak_and_strong(), firmware=model.firmware)
    candidate = [values[name] for name in GEAR_PARAMETERS]
    strong, weak = np.split(rollout.positions(candidate)[0], [rollout.counts[0]])
    assert np.max(np.abs(strong - weak)) > 0.05


@pytest.mark.parametrize("name", FIRMWARES)
def test_a_limit_above_the_firmwares_own_changes_nothing(name: str) -> None:
    firmware = FIRMWARES[name]
    assert firmware.limited(2.0 * firmware.demand_limit) == firmware
    assert firmware.limited(math.inf) == firmware
    assert firmware.limited(0.5 * firmware.demand_limit).demand_limit == 0.5 * firmware.demand_limit


@pytest.mark.long
@pytest.mark.usefixtures("no_intervals")
def test_a_servo_with_half_its_duty_is_identified_right() -> None:
    """And wrong, as before recordings knew their limit, where the log does not tell."""
    truth = load_servo("xl330_bam")
    simple = dataclasses.replace(
        truth,
        friction_model="m1",
        friction=dataclasses.replace(
            type(truth.friction)(), viscous=truth.friction.viscous, coulomb=truth.friction.coulomb
        ),
    )
    runs = [
        synthesize(simple, HEAVY, script, kp, SynthesisSettings(demand_limit=HALF))
        for script in ("sin_time_square", "up_and_down", "lift_and_drop")
        for kp in (200, 800)
    ]
    found = identify(
        runs, load_servo("xl330_bam"), IdentifySettings(models=["m1"], trials=600, effects=[], seed=1)
    ).fits["m1"]
    assert found.servo.motor.torque_constant == pytest.approx(simple.motor.torque_constant, rel=0.02)
    assert found.servo.friction.viscous == pytest.approx(simple.friction.viscous, rel=0.05, abs=2e-4)
    untold = [dataclasses.replace(run, demand_limit=math.inf) for run in runs]
    wrong = identify(
        untold, load_servo("xl330_bam"), IdentifySettings(models=["m1"], trials=600, effects=[], seed=1)
    ).fits["m1"]
    assert wrong.train_mae > 5.0 * found.train_mae


@pytest.mark.parametrize(("told", "read"), [(0.5, 0.5), (math.inf, math.inf), (0.0, math.inf)])
def test_a_bag_tells_the_limit(tmp_path: Path, told: float, read: float) -> None:
    bag = RunBag()
    bag.run["demand_limit"] = told
    assert read_bag(bag.write(tmp_path / "bag")).demand_limit == read


def test_a_bag_of_an_older_version_has_that_of_the_firmware(tmp_path: Path) -> None:
    bag = RunBag(without={RUN: ("demand_limit",)})
    del bag.run["demand_limit"]
    assert read_bag(bag.write(tmp_path / "bag")).demand_limit == math.inf


def test_a_bag_has_its_integral_and_derivative_gains(tmp_path: Path) -> None:
    bag = RunBag()
    bag.run["kd"] = 50.0
    assert read_bag(bag.write(tmp_path / "derivative")).kd == 50.0
    bag.run["ki"] = 50.0
    assert read_bag(bag.write(tmp_path / "integral")).ki == 50.0


def test_an_exported_bag_keeps_the_limit(tmp_path: Path) -> None:
    _, weak = weak_and_strong()
    write_bag(weak, tmp_path / "bag", start_ns=10**18)
    assert read_bag(tmp_path / "bag").demand_limit == weak.demand_limit


@pytest.mark.parametrize(("limit", "lines"), [(0.5, 1), (0.9625, 0), (math.inf, 0)])
def test_an_export_to_a_form_without_it_says_that_it_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, limit: float, lines: int
) -> None:
    limited = dataclasses.replace(random_run(1, 2e-3), firmware="mx-protocol1", demand_limit=limit)
    write_bag(limited, tmp_path / "bag", start_ns=10**18)
    assert main(["export", str(tmp_path / "bag"), "--output", str(tmp_path / "log.json")]) == 0
    assert len([record for record in caplog.records if "demand_limit 0.5 is lost" in record.message]) == lines


@pytest.mark.parametrize("limit", [0.0, -0.5, math.nan])
def test_no_servo_has_such_a_limit(limit: float) -> None:
    with refused(OutOfRange, thing="demand_limit"):
        dataclasses.replace(random_run(1, 2e-3), demand_limit=limit)
