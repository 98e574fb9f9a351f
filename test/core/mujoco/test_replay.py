# SPDX-License-Identifier: Apache-2.0
"""The bench in MuJoCo moves as the converged rollout does, with all effects of servo and bench."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from bam_core.mujoco import BenchCommands, replay, replay_recording, simulate_recording
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.protection import OverloadProtection
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.mujoco_cases import (
    BENCH,
    EFFECT_CASES,
    ENCODER_NOISE,
    FREE,
    SERVO,
    SOFT,
    affected,
    bench_with,
    converged,
    distances,
)
from test.core.reference_simulation import ReferenceSimulation


def test_a_bench_without_friction_keeps_its_amplitude() -> None:
    run = replay(
        FREE,
        BENCH,
        BenchCommands(
            goal_position=np.zeros(1200),
            torque_enabled=np.zeros(1200, dtype=bool),
            supply_voltage=15.0,
            position=1.0,
        ),
        dt=5e-3,
        kp=32.0,
    )
    peaks = np.abs(run.position[-200:])
    assert peaks.max() == pytest.approx(1.0, abs=1e-3)


def test_a_free_swing_converges_with_second_order() -> None:
    def final(dt: float) -> float:
        steps = round(1.0 / dt) + 1
        free = np.zeros(steps, dtype=bool)
        run = replay(
            FREE,
            BENCH,
            BenchCommands(
                goal_position=np.zeros(steps),
                torque_enabled=free,
                supply_voltage=15.0,
                position=1.0,
                velocity=2.0,
            ),
            dt=dt,
            kp=32.0,
        )
        return float(run.position[-1])

    exact = final(6.25e-5)
    coarse, fine = abs(final(4e-3) - exact), abs(final(2e-3) - exact)
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("name", "mass", "length", "kp"),
    [
        ("xl330", 0.1, 0.1, 400),
        pytest.param("published/mx106", 0.5, 0.15, 16, marks=pytest.mark.long),
        pytest.param("published/xl330_bam", 0.1, 0.1, 400, marks=pytest.mark.long),
    ],
)
def test_it_is_closer_to_the_converged_reference_than_algorithm_1(
    name: str, mass: float, length: float, kp: float, script: str
) -> None:
    servo, found = load_servo(name), load_bench_effects(name)
    # The rollout spreads a release over the firmware's period that it falls into: here it falls between two.
    delay = round(found.command_delay / servo.firmware.period) * servo.firmware.period
    bench_effects = dataclasses.replace(found, command_delay=delay)
    bench = PendulumBench(mass=mass, length=length)
    run = synthesize(
        servo, bench, script, kp, SynthesisSettings(sample_period=1e-3, bench_effects=bench_effects)
    )
    (truth,) = converged(servo, [run], bench_effects)
    for dt in (1e-3, 2e-3):
        algorithm1 = Rollout(
            [run],
            servo.firmware,
            RolloutSettings(dt=dt, integrator="algorithm1", quadratic_rule=servo.friction.quadratic_rule),
        ).positions(parameter_vector(servo, bench_effects))[0]
        ours = simulate_recording(servo, run, dt=dt, bench_effects=bench_effects)
        error, allowed = distances([ours, algorithm1], [truth, truth])
        assert error < 0.5 * allowed
        # The arm's link rings at 10 Hz and is of second order: twice the step, four times the error.
        growth = (dt / 1e-3) ** 2 if bench_effects.arm_compliance else 1.0
        assert error < ENCODER_NOISE * growth


@pytest.mark.parametrize("script", SCRIPTS)
def test_so_it_is_with_a_firmware_that_shapes_its_error(script: str) -> None:
    shape = {"dead_band": 0.01, "error_offset": 0.02, "goal_speed_limit": 2.0}
    firmware = dataclasses.replace(SERVO.firmware, name="shaped", **shape)
    servo = dataclasses.replace(SERVO, firmware=firmware)
    run = synthesize(servo, BENCH, script, 16, SynthesisSettings(sample_period=1e-3))
    (truth,) = converged(servo, [run])
    plain = simulate_recording(SERVO, run, dt=1e-3)
    ours = simulate_recording(servo, run, dt=1e-3)
    error, unshaped = distances([ours, plain], [truth, truth])
    assert error < ENCODER_NOISE
    assert unshaped > 10.0 * error


def test_so_it_is_with_a_firmware_that_protects_itself() -> None:
    """The arm presses against its weight, is let down, and is lifted again by another goal."""
    protection = OverloadProtection(threshold=0.5, time=0.5, limit=0.2)
    firmware = dataclasses.replace(SERVO.firmware, name="own", protection=protection)
    servo = dataclasses.replace(SERVO, firmware=firmware)
    bench = PendulumBench(mass=9.0, length=0.15)
    run = synthesize(servo, bench, "up_and_down", 32, SynthesisSettings(sample_period=1e-3))
    run = dataclasses.replace(
        run, goal_position=np.where(run.time < 1.5, 2.5, 2.4), position=np.full(len(run), 0.8)
    )
    (truth,) = converged(servo, [run])
    ours = simulate_recording(servo, run, dt=1e-3)
    plain = simulate_recording(SERVO, run, dt=1e-3)
    error, unprotected = distances([ours, plain], [truth, truth])
    assert error < ENCODER_NOISE
    assert unprotected > 0.1


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 1.7e-3])
def test_a_protected_duty_falls_after_the_time_and_not_before(dt: float) -> None:
    firmware = SERVO.firmware
    protection = OverloadProtection(threshold=0.8, time=0.3, limit=0.25)
    servo = dataclasses.replace(
        SERVO, firmware=dataclasses.replace(firmware, name="own", protection=protection)
    )
    time = np.arange(round(1.5 / dt)) * dt
    commands = BenchCommands(
        goal_position=np.where(time < 0.8, 2.5, 2.4),
        torque_enabled=np.where((time > 1.2) & (time < 1.25), 0.0, 1.0),
        supply_voltage=15.0,
        position=0.8,
    )
    duty = replay(servo, PendulumBench(mass=12.0, length=0.2), commands, dt=dt, kp=32.0).duty
    full, low = firmware.duty_limit, 0.25 * firmware.duty_limit
    count = 0.3 / max(dt, firmware.period) * max(firmware.period / dt, 1.0)  # steps of whole demands
    trip = int(np.argmax(duty < full))
    assert abs(trip - count) <= max(firmware.period / dt, 1.0)
    assert np.all(duty[:trip] == full)
    again = int(np.searchsorted(time, 0.8 - 1e-9))
    assert np.all(duty[trip:again] == pytest.approx(low))
    assert np.all(duty[again : again + trip - 2] == full)
    on = int(np.searchsorted(time, 1.25 - 1e-9))
    assert np.all(duty[on - 2 : on] <= 0.0)
    assert np.all(duty[on + 1 :] == full)


@pytest.mark.parametrize("enabled", [0.25, 0.5, 0.9])
def test_a_release_within_a_step_starts_the_fall_when_it_was_given(enabled: float) -> None:
    """The arm, held up by friction and motor, gets as fast as if it had been released at that time."""
    servo = dataclasses.replace(
        SERVO, friction_model="m6", friction=Friction(coulomb=0.02, load_motor=0.4, load_external=0.2)
    )
    dt, release, steps = 2e-3, 50, 60
    torque = np.where(np.arange(steps) < release, 1.0, 0.0)
    torque[release] = enabled
    run = replay(
        servo,
        BENCH,
        BenchCommands(
            goal_position=np.full(steps, 1.005), torque_enabled=torque, supply_voltage=15.0, position=1.0
        ),
        dt=dt,
        kp=32.0,
    )
    assert np.ptp(run.position[10:release]) < 1e-9
    gravity = float(BENCH.gravity_torque * np.sin(1.0))
    falls = gravity - float(servo.friction.budget(0.0, -gravity, 0.0))
    since = 2.5 - enabled  # steps; velocities belong to the middle of steps
    expected = -falls / (BENCH.inertia + servo.motor.armature) * since * dt
    assert run.velocity[release + 3] == pytest.approx(expected, rel=1e-3)


XL330_BENCH = load_bench_effects("xl330")


def simulated(
    servo: ServoModel, runs: list[Recording], bench_effects: BenchEffects = IDEAL_BENCH
) -> list[NDArray[np.float64]]:
    return [simulate_recording(servo, run, bench_effects=bench_effects) for run in runs]


BRIEFLY = ("friction_direction", "all")
"""One effect per part of a servo, and several at once; the long tests have every one alone."""


@pytest.fixture(scope="module")
def runs() -> list[Recording]:
    bench = PendulumBench(mass=0.1, length=0.1)
    return [
        synthesize("xl330", bench, script, 400.0, SynthesisSettings(bench_effects=XL330_BENCH))
        for script in SCRIPTS
    ]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=() if case in BRIEFLY else pytest.mark.long) for case in EFFECT_CASES],
)
def test_effects_are_those_of_the_converged_rollout(case: str, runs: list[Recording]) -> None:
    plain = load_servo("xl330")
    servo, bench = affected(plain, **EFFECT_CASES[case]), bench_with(**EFFECT_CASES[case])
    expected = converged(servo, runs, bench)
    assert max(distances(simulated(servo, runs, bench), expected)) < ENCODER_NOISE
    assert max(distances(converged(plain, runs, XL330_BENCH), expected)) > 3e-3


@pytest.mark.long
@pytest.mark.parametrize("case", ["winding_heating", "all"])
def test_a_servo_that_was_warm_when_recorded_is_that_of_the_converged_rollout(
    case: str, runs: list[Recording]
) -> None:
    servo, bench = affected(load_servo("xl330"), **EFFECT_CASES[case]), bench_with(**EFFECT_CASES[case])
    warm = [dataclasses.replace(run, temperature=np.full(len(run), 60.0)) for run in runs]
    expected = converged(servo, warm, bench)
    assert max(distances(simulated(servo, warm, bench), expected)) < ENCODER_NOISE
    assert max(distances(converged(servo, runs, bench), expected)) > 3e-3


@pytest.mark.long
def test_friction_of_a_warm_servo_is_that_of_the_converged_rollout(runs: list[Recording]) -> None:
    servo = affected(load_servo("xl330"), friction_temperature=0.03)
    warm = [dataclasses.replace(run, temperature=np.full(len(run), 60.0)) for run in runs]
    expected = converged(servo, warm)
    assert max(distances(simulated(servo, warm), expected)) < ENCODER_NOISE
    assert max(distances(converged(servo, runs), expected)) > 2e-3


@pytest.mark.long
def test_a_supply_that_ripples_is_that_of_the_converged_rollout(runs: list[Recording]) -> None:
    servo, bench = load_servo("xl330"), BenchEffects(supply_ripple=0.8)
    rippling = [dataclasses.replace(run, voltage=7.5 + 2.0 * np.sin(5.0 * run.time)) for run in runs]
    expected = converged(servo, rippling, bench)
    assert max(distances(simulated(servo, rippling, bench), expected)) < ENCODER_NOISE
    assert max(distances(converged(servo, rippling, XL330_BENCH), expected)) > 3e-3


@pytest.mark.long
def test_whole_counts_are_those_of_the_converged_rollout(runs: list[Recording]) -> None:
    xl330 = load_servo("xl330")
    coarse = dataclasses.replace(xl330, firmware=dataclasses.replace(xl330.firmware, counts_per_turn=256))
    bench = BenchEffects(zero_offset=0.4 * coarse.firmware.resolution)
    servo = affected(coarse, encoder_quantisation=1.0)
    expected = converged(servo, runs, bench)
    assert max(distances(simulated(servo, runs, bench), expected)) < ENCODER_NOISE
    assert max(distances(converged(affected(coarse), runs, bench), expected)) > 2e-3


def test_an_arm_that_is_held_hangs_still_behind_its_link() -> None:
    held = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=100.0))
    run = replay(
        held,
        BENCH,
        BenchCommands(
            goal_position=np.zeros(5000),
            torque_enabled=np.zeros(5000, dtype=bool),
            supply_voltage=15.0,
            position=1.0,
        ),
        dt=1e-4,
        kp=32.0,
        bench_effects=SOFT,
    )
    link = ReferenceSimulation(
        firmware=held.firmware,
        motor=held.motor,
        friction=held.friction,
        bench=BENCH,
        kp=32.0,
        bench_effects=SOFT,
    )
    arm = link.at_rest(1.0, dt=1e-4).arm_position
    assert 0.75 < arm < 0.9
    assert np.abs(run.position - 1.0).max() < 1e-9
    # The link's formula weakens the spring a little, the less the shorter the step.
    np.testing.assert_allclose(run.friction_torque, BENCH.gravity_torque * np.sin(arm), rtol=5e-4)


def test_the_goal_of_a_replay_is_the_one_in_force() -> None:
    bench = BenchEffects(zero_offset=0.05, command_delay=0.0025)
    run = synthesize(SERVO, BENCH, "sin_sin", 16.0)
    plain, late = replay_recording(SERVO, run), replay_recording(SERVO, run, bench_effects=bench)
    middle = 0.5 * (plain.goal_position[:-3] + plain.goal_position[1:-2])
    np.testing.assert_allclose(late.goal_position[3:], middle, atol=1e-12)
    assert late.position[0] == pytest.approx(plain.position[0], abs=1e-12)


def test_a_recording_is_replayed_from_its_own_start() -> None:
    recording = synthesize(SERVO, BENCH, "sin_sin", 16.0, SynthesisSettings(released_from=0.3))
    run = replay_recording(SERVO, recording)
    assert run.position[0] == pytest.approx(0.3)
    assert not run.torque_enabled.any()
    assert run.time[-1] >= recording.duration - 1e-9
    assert np.abs(simulate_recording(SERVO, recording) - recording.position).max() < 1e-3
