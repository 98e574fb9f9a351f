# SPDX-License-Identifier: Apache-2.0
"""Simulations that start anew from measured states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import OutOfRange
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.kernel import state
from bam_core.simulation.kernel.bench import restart
from bam_core.simulation.kernel.lanes import BLOCK
from bam_core.simulation.measured_states import measured_states
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.short_horizon import LONGER, SHORT, short_horizon_errors
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.physics_cases import run, servo
from test.core.refusals import refused

COUNT = servo().firmware.resolution
RUNS = [
    synthesize(
        "mx106",
        PendulumBench(mass=1.0, length=0.15),
        script,
        16.0,
        SynthesisSettings(sample_period=5e-3, quantised=True),
    )
    for script in ("sin_sin", "lift_and_drop", "up_and_down")
]
TRUTH = parameter_vector("mx106")


def at_rest_and_swinging(time):
    """Rests for a second, then swings at 2 Hz; position and velocity."""
    swing = np.maximum(time - 1.0, 0.0)
    return 0.5 * (1.0 - np.cos(12.6 * swing)), 6.3 * np.sin(12.6 * swing)


@pytest.mark.parametrize("rate", [100, 190, 500])
def test_velocities_are_told_from_rounded_positions(rate):
    time = np.sort(np.arange(0.0, 4.0, 1.0 / rate) + np.random.default_rng(0).uniform(0.0, 5e-4, 4 * rate))
    position, _ = at_rest_and_swinging(time)
    recording = run(time, 0.0, position=np.round(position / COUNT) * COUNT)
    at = np.arange(0.1, 3.9, 0.05)
    found = measured_states(recording, at - time[0], COUNT)
    where, speed = at_rest_and_swinging(at)
    assert np.all(found[at < 0.9, 1] == 0.0)
    assert np.max(np.abs(found[:, 0] - where)) < COUNT + 80.0 / 8.0 / rate**2  # rounding, chord of the swing
    swinging = at > 1.1
    assert np.sqrt(np.mean((found[swinging, 1] - speed[swinging]) ** 2)) < 0.06


def test_one_bad_sample_does_not_bend_a_velocity():
    time = np.arange(0.0, 2.0, 5e-3)
    position = 2.0 * time
    position[200] += 0.05
    found = measured_states(run(time, 0.0, position=position), np.array([0.985, 1.015]), COUNT)
    np.testing.assert_allclose(found[:, 1], 2.0, atol=5e-3)


def test_a_restarted_simulation_is_where_it_was_measured_again_and_again():
    rollout = Rollout.for_servo(RUNS, "mx106", restart=0.5)
    wrong = TRUTH * np.where(np.array(PARAMETERS) == "coulomb", 4.0, 1.0)
    steps = round(0.5 / rollout.dt)
    starts = []
    first = steps // 2  # scripts switch at round times
    rollout.traced(wrong, lambda _row, lane, trace: starts.append((lane, trace[0, first::steps].copy())))
    for lane, found in starts:
        np.testing.assert_allclose(found, rollout.packed.signals[first::steps, 3, lane], atol=1e-12)


def test_with_the_true_parameters_short_horizons_are_followed_to_within_the_encoder():
    errors = short_horizon_errors(RUNS, "mx106", TRUTH)
    assert errors.shape == (1, len(RUNS))
    assert np.all(errors < 3.0 * COUNT)


def test_errors_grow_with_the_horizon_up_to_those_of_the_whole_run():
    wrong = TRUTH * np.where(np.array(PARAMETERS) == "torque_constant", 1.1, 1.0)
    whole = Rollout.for_servo(RUNS, "mx106").errors(wrong).mean()
    short, longer = (short_horizon_errors(RUNS, "mx106", wrong, h).mean() for h in (SHORT, LONGER))
    assert short < longer < whole
    never = short_horizon_errors(RUNS, "mx106", wrong, 100.0)
    assert np.array_equal(never[0], Rollout.for_servo(RUNS, "mx106").errors(wrong)[0])


def test_the_winding_stays_warm_and_the_arm_bent_when_a_simulation_starts_anew():
    """So a run that a model follows exactly is followed exactly after a restart, too."""
    plain = load_servo("mx106")
    warm = replace(plain, motor=replace(plain.motor, winding_heating=2.0))
    bench = BenchEffects(arm_compliance=0.05, arm_backlash=0.02, command_delay=4e-3)
    vector = parameter_vector(warm, bench)
    held = PendulumBench(mass=1.5, length=0.15)
    recording = synthesize(
        warm, held, "sin_sin", 32.0, SynthesisSettings(sample_period=1e-3, bench_effects=bench)
    )
    apart = Rollout.for_servo([recording], warm).errors(vector)[0, 0]
    assert short_horizon_errors([recording], warm, vector)[0, 0] < max(apart, 2e-4)


def test_what_is_simulated_beside_a_recording_does_not_matter():
    together = short_horizon_errors(RUNS, "mx106", np.stack([TRUTH, 1.1 * TRUTH]))
    alone = [short_horizon_errors([each], "mx106", TRUTH)[0, 0] for each in RUNS]
    np.testing.assert_allclose(together[0], alone, rtol=1e-12)


@pytest.mark.parametrize("horizon", [0.0, -1.0, np.nan])
def test_a_horizon_is_above_zero(horizon):
    with refused(OutOfRange):
        short_horizon_errors(RUNS, "mx106", TRUTH, horizon)


def test_a_restart_keeps_how_the_arm_is_off_behind_its_link():
    lanes = 8
    states = np.zeros(state.ROWS * BLOCK)
    random = np.random.default_rng(0)
    rows = {
        name: int(getattr(state, name)) for name in ("POSITION", "VELOCITY", "ARM_POSITION", "ARM_VELOCITY")
    }
    for row in rows.values():
        states[row : row + lanes] = random.normal(size=lanes)
    before = {name: states[row : row + lanes].copy() for name, row in rows.items()}
    measured = random.normal(size=(2, 3 + lanes))
    restart(states, lanes, measured, np.uint64(3))
    after = {name: states[row : row + lanes] for name, row in rows.items()}
    np.testing.assert_array_equal(after["POSITION"], measured[0, 3:])
    np.testing.assert_array_equal(after["VELOCITY"], measured[1, 3:])
    for kind in ("POSITION", "VELOCITY"):
        off, was = (each[kind] - each[f"ARM_{kind}"] for each in (after, before))
        np.testing.assert_allclose(off, was, atol=1e-12)
