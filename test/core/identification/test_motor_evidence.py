# SPDX-License-Identifier: Apache-2.0
"""Voltage and current determine the motor of a servo without load; motions only what is in proportion."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.identification.found_servo import found_servo
from bam_core.identification.identify import identify
from bam_core.identification.motor_evidence import has_free_scale, motor_evidence
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.variation.compared import compared
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware_library import find_firmware
from bam_core.servo.friction import FRICTION_MODELS, Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from test.core.refusals import refused

BARE = PendulumBench(mass=0.0, length=0.0)
KP, SUPPLY, LIMIT, PERIOD = 350.0, 12.4, 3.0, 0.01
FINE = 5  # simulated samples per recorded one


def hidden(torque_constant: float = 2.3, resistance: float = 2.6) -> ServoModel:
    """Return an MX-106 in current-based position mode with other constants, M1."""
    servo = load_servo("mx106_2")
    friction = Friction(viscous=0.02, coulomb=0.08)
    return dataclasses.replace(
        servo,
        name="mx106_current",
        firmware=find_firmware("mx-current"),
        motor=DcMotor(torque_constant=torque_constant, resistance=resistance, armature=0.015),
        friction_model="m1",
        friction=friction,
        servo_effects=dataclasses.replace(
            servo.servo_effects, **dict.fromkeys(vars(servo.servo_effects), 0.0)
        ),
        search=dataclasses.replace(servo.search, effects=()),
    )


def goals(seed: int, samples: int) -> Array:
    """Return steps of random height and length, rad."""
    random = np.random.default_rng(seed)
    steps = np.repeat(random.uniform(-0.06, 0.06, samples // 40 + 1), 40)[:samples]
    steps[:20] = 0.0
    return steps


@cache
def bare_run(seed: int, samples: int = 800, noise: float = 0.0) -> Recording:
    """Return a run of `hidden` with nothing on its shaft, recorded with current and duty."""
    servo, fine = hidden(), FINE * samples
    nothing = np.full(fine, np.nan)
    run = Recording(
        name=f"run{seed}",
        source=Path(f"run{seed}"),
        sha256=f"{seed:064d}",
        servo=servo.name,
        bench=BARE,
        demand_limit=LIMIT,
        kp=KP,
        supply_voltage=SUPPLY,
        script=f"steps{seed % 3}",
        time=PERIOD / FINE * np.arange(fine),
        position=np.zeros(fine),
        velocity=nothing,
        goal_position=np.repeat(goals(seed, samples), FINE),
        torque_enabled=np.ones(fine, dtype=bool),
        voltage=np.full(fine, SUPPLY),
        temperature=nothing,
        duty=np.zeros(fine),
        current=np.zeros(fine),
    )
    position = Rollout.for_servo([run], servo).positions(parameter_vector(servo))[0]
    velocity = np.gradient(position, PERIOD / FINE)
    wanted = servo.firmware.limited(LIMIT).demand(KP, run.goal_position - position, velocity)
    voltage = servo.motor.regulating_voltage(wanted, velocity, SUPPLY)
    current = np.asarray(servo.motor.current(voltage, velocity))
    random = np.random.default_rng(1000 + seed)
    duty = np.clip(voltage / SUPPLY + noise * random.standard_normal(fine), -1.0, 1.0)
    changed = dataclasses.replace(run, position=position, current=current, duty=duty)
    kept = {
        field.name: getattr(changed, field.name)[::FINE]
        for field in dataclasses.fields(changed)
        if isinstance(getattr(changed, field.name), np.ndarray)
    }
    return dataclasses.replace(changed, **kept)


def test_voltage_and_current_determine_the_motor() -> None:
    evidence = motor_evidence([bare_run(seed) for seed in range(4)])
    # Derivatives over five samples of 10 ms, of swings that take 200 ms.
    assert evidence.torque_constant == pytest.approx(2.3, rel=0.05)
    assert evidence.resistance == pytest.approx(2.6, rel=0.15)


def test_errors_cover_what_noise_does() -> None:
    exact = motor_evidence([bare_run(seed) for seed in range(6)])
    noisy = motor_evidence([bare_run(seed, noise=0.02) for seed in range(6)])
    off = np.log([noisy.torque_constant / exact.torque_constant, noisy.resistance / exact.resistance])
    errors, least = (np.sqrt(np.diag(each.covariance)) for each in (noisy, exact))
    assert np.all(np.abs(off) < 3.0 * errors)
    assert np.all(errors > least * 0.5)


def test_a_drop_of_brushes_is_no_resistance() -> None:
    runs = [bare_run(seed) for seed in range(4)]
    dropping = [
        dataclasses.replace(run, duty=np.clip(run.duty + 0.3 / SUPPLY * np.sign(run.current), -1.0, 1.0))
        for run in runs
    ]
    without, having = motor_evidence(runs), motor_evidence(dropping)
    assert having.resistance == pytest.approx(without.resistance, rel=0.05)
    assert having.torque_constant == pytest.approx(without.torque_constant, rel=0.02)


def test_currents_while_braking_do_not_count() -> None:
    runs = [bare_run(seed) for seed in range(4)]
    odd = [
        dataclasses.replace(
            run, current=np.where(run.duty * run.current < 0.0, -3.0 * run.current, run.current)
        )
        for run in runs
    ]
    odd = [
        dataclasses.replace(run, current=np.where(kept.duty * kept.current < 0.0, -0.0, run.current))
        for run, kept in zip(odd, runs, strict=True)
    ]
    assert motor_evidence(odd).torque_constant == pytest.approx(motor_evidence(runs).torque_constant)


def test_runs_that_do_not_drive_are_refused() -> None:
    still = [
        dataclasses.replace(bare_run(seed), current=np.zeros(800), duty=np.zeros(800)) for seed in range(2)
    ]
    with refused(BadData):
        motor_evidence(still)
    with refused(BadData):
        motor_evidence([bare_run(0)])


def test_a_load_fixes_the_scale() -> None:
    run = bare_run(0)
    assert has_free_scale([run, run])
    loaded = dataclasses.replace(run, bench=PendulumBench(mass=0.5, length=0.1))
    assert not has_free_scale([run, loaded])


def test_a_factor_of_all_torques_moves_nothing() -> None:
    """The symmetry by which errors of the torque constant become those of inertia and friction."""
    servo, run = hidden(), bare_run(1)
    vector = parameter_vector(servo)
    scaled = vector.copy()
    for name in ("torque_constant", "armature", "viscous", "coulomb"):
        scaled[PARAMETERS.index(name)] *= 1.2
    rollout = Rollout.for_servo([run], servo)
    first, second = (rollout.positions(each)[0] for each in (vector, scaled))
    # The supply limits neither, as currents stay far below what it can drive.
    np.testing.assert_allclose(first, second, atol=1e-9)


def test_identification_finds_motor_inertia_and_friction() -> None:
    runs = [bare_run(seed, samples=400) for seed in range(4)]
    result = identify(runs, hidden(2.0, 2.0), IdentifySettings(models=["m1"], test="none", trials=600))
    fit = result.fits["m1"]
    truth = hidden()
    evidence = motor_evidence(runs)
    assert fit.servo.motor.torque_constant == pytest.approx(evidence.torque_constant)
    scale = fit.servo.motor.torque_constant / truth.motor.torque_constant
    assert fit.servo.motor.armature == pytest.approx(scale * truth.motor.armature, rel=0.03)
    assert fit.servo.friction.coulomb == pytest.approx(scale * truth.friction.coulomb, rel=0.1)
    assert fit.uncertainty is not None
    estimates = {estimate.name: estimate for estimate in fit.uncertainty.estimates}
    assert {"torque_constant", "resistance", "armature", "coulomb"} <= set(estimates)
    relative = estimates["torque_constant"].standard_error / estimates["torque_constant"].value
    armature = estimates["armature"]
    assert armature.standard_error / armature.value >= relative * (1.0 - 1e-9)
    prediction = fit.uncertainty.prediction
    assert prediction is not None
    draws = dataclasses.replace(prediction, inflation=1.0).draw(fit.servo, count=400, seed=1)
    constants = [compared(found_servo(fit.servo, FRICTION_MODELS["m1"], draw)[0], 0.5) for draw in draws]
    logs = np.log([[each["torque_constant"], each["armature"]] for each in constants])
    assert np.std(logs[:, 0]) == pytest.approx(relative, rel=0.2)
    # Draws of the scale move nothing: inertia follows the torque constant.
    assert np.std(logs[:, 1] - logs[:, 0]) < 0.7 * np.std(logs[:, 1])
