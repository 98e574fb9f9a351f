# SPDX-License-Identifier: Apache-2.0
"""Recordings of a known servo are what the simulation makes of it."""

import dataclasses

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.physics_cases import BENCH, servo

TRUTH = dataclasses.replace(
    servo(),
    motor=dataclasses.replace(servo().motor, torque_saturation=0.1, winding_heating=2.0),
    servo_effects=ServoEffects(
        bridge_coasting=0.3,
        firmware_gain=0.1,
        limit_shortfall=0.1,
        sensor_delay=1e-3,
        encoder_quantisation=1.0,
        goal_slew_time=0.1,
        friction_direction=0.05,
    ),
)
ARM = BenchEffects(
    zero_offset=-0.02,
    command_delay=2e-3,
    arm_compliance=0.02,
    arm_backlash=0.01,
    arm_mass=0.05,
    load_gyration=0.05,
)
UNTOLD = ("friction_temperature", "supply_ripple", "load_inertia")
"""What runs without thermometer and voltmeter say nothing of; an arm on a spring loads the gear anyway."""


@pytest.fixture(scope="module")
def recordings():
    return [
        synthesize(TRUTH, BENCH, name, kp, SynthesisSettings(bench_effects=ARM))
        for name in SCRIPTS
        for kp in (8.0, 32.0)
    ]


def test_the_true_parameters_explain_a_run_to_a_fraction_of_an_encoder_count(recordings):
    errors = Rollout.for_servo(recordings, TRUTH).errors(parameter_vector(TRUTH, ARM))
    assert np.mean(errors) < 2e-4
    assert np.max(errors) < 1e-3


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name not in UNTOLD])
def test_a_wrong_parameter_explains_it_worse(recordings, name):
    true = parameter_vector(TRUTH, ARM)
    wrong = np.tile(true, (2, 1))
    wrong[:, PARAMETERS.index(name)] *= [0.5, 2.0]
    rollout = Rollout.for_servo(recordings, TRUTH)
    assert np.all(rollout.errors(wrong).mean(axis=1) > rollout.errors(true).mean())


@pytest.mark.parametrize("name", UNTOLD)
def test_what_cannot_be_told_from_these_runs_changes_nothing(recordings, name):
    true = parameter_vector(TRUTH, ARM)
    other = true.copy()
    other[PARAMETERS.index(name)] = 0.1
    rollout = Rollout.for_servo(recordings, TRUTH)
    assert np.array_equal(rollout.errors(other), rollout.errors(true))


def test_the_script_is_followed_and_torque_goes_off_with_it(recordings):
    drop = next(r for r in recordings if r.script == "lift_and_drop")
    assert np.array_equal(drop.torque_enabled, drop.time < 2.0)
    assert drop.position[drop.time < 2.0].min() < -0.5
    assert abs(drop.position[-1]) < 0.5


def test_quantised_positions_are_whole_encoder_counts():
    recording = synthesize(servo(), BENCH, "sin_sin", 32.0, SynthesisSettings(quantised=True))
    counts = recording.position / servo().firmware.resolution
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


def test_an_arm_released_with_torque_off_swings_freely():
    frictionless = dataclasses.replace(servo(), friction=dataclasses.replace(servo().friction, viscous=0.0))
    recording = synthesize(frictionless, BENCH, "sin_sin", 32.0, SynthesisSettings(released_from=1.5))
    assert not recording.torque_enabled.any()
    assert recording.position[0] == pytest.approx(1.5)
    assert recording.position.min() < -0.1


def test_an_unknown_script_is_refused():
    with pytest.raises(UnknownName) as caught:
        synthesize(servo(), BENCH, "sinsin", 32.0)
    assert caught.value.name == "sinsin"
