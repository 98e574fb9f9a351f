# SPDX-License-Identifier: Apache-2.0
"""A derivative gain: alike in every executor, it damps, and is refused where its effect is unknown."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import OutOfRange, Unsupported
from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
from bam_core.mujoco import simulate_recording
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware_library import FIRMWARES, firmware_fields, firmware_from_fields
from bam_core.servo.friction import Friction
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from test.core.physics_cases import law, random_run, reference_positions, run, servo
from test.core.refusals import refused
from test.core.servo.test_current_law import erob, random_erob_run

STS = dataclasses.replace(servo(), firmware=dataclasses.replace(FIRMWARES["feetech-sts"], kd_scale=0.02))
CASES = {
    "plain": servo(),
    "shaped, slewed and protected": STS,
    "in counts, late": dataclasses.replace(
        STS, servo_effects=ServoEffects(encoder_quantisation=1.0, sensor_delay=0.002, firmware_gain=0.2)
    ),
    "current": dataclasses.replace(
        erob(law("m6")), firmware=dataclasses.replace(erob().firmware, kd_scale=0.1, damping=0.5)
    ),
}


def with_kd(model: ServoModel, seed: int, kd: float = 8.0):
    make = random_erob_run if model.firmware.regulates_current else random_run
    return dataclasses.replace(make(seed, 2e-3), kd=kd)


def test_the_demand_is_that_of_the_error_ahead_by_the_time_of_the_gain() -> None:
    firmware = FIRMWARES["mx-protocol1"]
    ahead = firmware.rate_time(16.0, 8.0)
    assert ahead == pytest.approx(0.032 * 8.0 / 16.0)
    demand = firmware.demand(16.0, 0.1, 3.0, rate_time=ahead, error_rate=-2.0)
    assert demand == pytest.approx(0.158 * (16.0 * 0.1 - 0.032 * 8.0 * 2.0))
    assert firmware.demand(16.0, 0.1, rate_time=ahead, error_rate=99.0) == firmware.duty_limit


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_is_the_reference(case: str, integrator: str) -> None:
    model = dataclasses.replace(CASES[case], integrator=integrator)
    recordings = [with_kd(model, seed) for seed in range(3)]
    rollout = Rollout.for_servo(recordings, model, dt=2e-3, substeps=4)
    bench_effects = BenchEffects(zero_offset=0.03)
    positions = rollout.positions(parameter_vector(model, bench_effects))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 4, bench_effects)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("case", ["plain", "shaped, slewed and protected"])
def test_mujoco_moves_like_the_kernel(case: str) -> None:
    model = CASES[case]
    recording = with_kd(model, 1)
    recording = dataclasses.replace(recording, goal_position=0.6 * np.sin(6.0 * recording.time))
    ours = simulate_recording(model, recording, dt=2.5e-4)
    kernel = Rollout.for_servo([recording], model).positions(parameter_vector(model))[0]
    without = Rollout.for_servo([dataclasses.replace(recording, kd=0.0)], model)
    effect = np.abs(without.positions(parameter_vector(model))[0] - kernel).mean()
    assert effect > 1e-3
    assert np.abs(ours - kernel).mean() < 0.05 * effect


def test_mujoco_s_motion_under_a_current_law_comes_to_the_kernel_s_with_shorter_steps() -> None:
    model = CASES["current"]
    recording = with_kd(model, 1)
    kernel = Rollout.for_servo([recording], model).positions(parameter_vector(model))[0]
    errors = [np.abs(simulate_recording(model, recording, dt=dt) - kernel).mean() for dt in (1e-3, 2.5e-4)]
    assert errors[1] < 0.4 * errors[0]


def test_a_gear_rollout_has_it_too() -> None:
    """A gear whose sides are alike and lossless is the kernel with friction that knows no load."""
    model = dataclasses.replace(servo(law("m1"), model="m1"), firmware=FIRMWARES["mx-protocol1"])
    recording = with_kd(model, 2)
    vector = parameter_vector(model)
    plain = [vector[PARAMETERS.index(name)] for name in GEAR_PARAMETERS[:8]]
    geared = np.array([*plain, *np.zeros(len(GEAR_PARAMETERS) - 8)])
    errors = {
        kd: GearRollout([dataclasses.replace(recording, kd=kd)], firmware=model.firmware).errors(geared)[0]
        for kd in (0.0, 8.0)
    }
    kernel = {
        kd: Rollout.for_servo([dataclasses.replace(recording, kd=kd)], model).errors(vector)[0]
        for kd in (0.0, 8.0)
    }
    change = kernel[8.0] - kernel[0.0]
    assert abs(change) > 1e-3
    assert errors[8.0] - errors[0.0] == pytest.approx(change, rel=0.1)


def test_shorter_periods_come_to_one_motion_at_first_order() -> None:
    """The difference over a period is the rate of half a period before."""
    model = servo(Friction(), model="m1")
    time = np.arange(300) * 2e-3
    recording = dataclasses.replace(run(time, 0.0, position=0.3, kp=4.0), kd=1.0)

    def at(dt: float) -> np.ndarray:
        settings = RolloutSettings(dt=dt, substeps=round(dt / 1.25e-4))
        firmware = dataclasses.replace(model.firmware, period=dt)
        return Rollout([recording], firmware, settings).positions(parameter_vector(model))[0]

    finest = at(1.25e-4)
    errors = [np.abs(at(dt) - finest).mean() for dt in (2e-3, 1e-3, 5e-4)]
    assert errors[0] > 1.6 * errors[1] > 1.6**2 * errors[2]


def test_it_takes_energy_from_an_arm_that_swings_about_its_goal() -> None:
    """Without friction and back-EMF, which leave nothing to hide it."""
    free = dataclasses.replace(
        erob(Friction()), firmware=dataclasses.replace(erob().firmware, kd_scale=0.002, damping=0.0)
    )
    time = np.arange(1500) * 2e-3
    swing = run(time, 0.0, position=0.05, kp=50.0, bench=random_erob_run(0, 2e-3).bench)

    def amplitude(kd: float) -> np.ndarray:
        rollout = Rollout.for_servo([dataclasses.replace(swing, kd=kd)], free)
        return np.abs(rollout.positions(parameter_vector(free))[0][-400:]).max()

    free_swing, *damped = (amplitude(kd) for kd in (0.0, 20.0, 60.0, 200.0))
    assert free_swing == pytest.approx(0.05, rel=0.15)  # a demand that holds for a period adds a little
    assert free_swing > damped[0] > damped[1] > damped[2]


def test_zero_is_bit_for_bit_the_law_without_it() -> None:
    for model in (servo(), STS):
        bare = dataclasses.replace(model, firmware=dataclasses.replace(model.firmware, kd_scale=None))
        recording = random_run(5, 2e-3)
        for simulate in (
            lambda one, of=recording: Rollout.for_servo([of], one).positions(parameter_vector(one))[0],
            lambda one, of=recording: simulate_recording(one, of),
        ):
            assert np.array_equal(simulate(model), simulate(bare))


def test_a_firmware_whose_derivative_gain_nobody_knows_refuses_one_in_every_executor() -> None:
    model = load_servo("xl330")
    recording = dataclasses.replace(random_run(0, 2e-3), kd=4.0)
    for simulate in (
        lambda: Rollout.for_servo([recording], model),
        lambda: simulate_recording(model, recording),
        lambda: GearRollout([recording], firmware=model.firmware),
        lambda: model.firmware.rate_time(16.0, 4.0),
    ):
        with pytest.raises(Unsupported, match="kd"):
            simulate()


def test_a_derivative_gain_without_a_position_gain_is_refused() -> None:
    with refused(Unsupported, thing="kd"):
        FIRMWARES["feetech-sts"].rate_time(0.0, 4.0)
    assert FIRMWARES["feetech-sts"].rate_time(0.0, 0.0) == 0.0


def test_a_servo_file_keeps_it() -> None:
    firmware = FIRMWARES["feetech-sts"]
    assert firmware_from_fields("x", firmware_fields(firmware)).kd_scale == firmware.kd_scale
    assert "kd_scale" not in firmware_fields(FIRMWARES["xl330"])
    with refused(OutOfRange, thing="firmware 'feetech-sts' kd_scale"):
        dataclasses.replace(firmware, kd_scale=-1.0)
