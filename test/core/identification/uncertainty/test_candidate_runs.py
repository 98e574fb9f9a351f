# SPDX-License-Identifier: Apache-2.0
"""Runs that could be recorded next: commands, time, and the loads and gains beside a lab's own."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.uncertainty.candidate_runs import (
    CandidateRun,
    Choice,
    arm_stretch,
    choice_for,
    choice_near,
    liftable,
    stall_torque,
)
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.recording_words import run_words
from test.core.identification_cases import BENCH, mx106, record

SERVO = mx106("m1")


def test_a_run_is_its_script_with_its_gain_load_and_supply() -> None:
    script = SCRIPTS["lift_and_drop"]
    run = CandidateRun(script=script, kp=12.0, bench=BENCH, supply_voltage=14.0)
    assert run.seconds == script.duration + 6.0
    assert run.label == run_words(script.name, BENCH.mass, BENCH.length, 12.0)
    recording = run.as_recording(SERVO)
    assert recording.time[0] == 0.0
    assert recording.time[-1] == pytest.approx(script.duration)
    np.testing.assert_allclose(np.diff(recording.time), 5e-3)
    goal, enabled = script(recording.time)
    np.testing.assert_array_equal(recording.goal_position, goal)
    np.testing.assert_array_equal(recording.torque_enabled, enabled)
    assert np.all(recording.position == goal[0])
    assert (recording.kp, recording.bench, recording.supply_voltage) == (12.0, BENCH, 14.0)


def test_a_choice_has_every_combination_once() -> None:
    loads = (BENCH, PendulumBench(mass=0.5, length=0.1))
    runs = Choice(loads=loads, gains=(8.0, 16.0), supply_voltage=13.0).runs()
    assert {(run.bench, run.kp, run.script.name) for run in runs} == {
        (load, kp, script) for load in loads for kp in (8.0, 16.0) for script in SCRIPTS
    }
    assert len(runs) == 4 * len(SCRIPTS)
    assert {run.supply_voltage for run in runs} == {13.0}


def test_a_load_may_take_nine_tenths_of_the_stall_torque() -> None:
    stall = stall_torque(SERVO, 15.0)
    light, heavy = (PendulumBench(mass=share * stall / 9.81 / 0.2, length=0.2) for share in (0.88, 0.92))
    fits, refused = liftable(SERVO, [light, heavy], 15.0)
    assert fits == (light,)
    assert f"{heavy.mass:g} kg" in refused[0]
    assert "90%" in refused[0]
    assert stall_torque(SERVO, 7.5) == pytest.approx(0.5 * stall)


@pytest.mark.parametrize("name", servo_names())
def test_loads_to_begin_with_are_a_quarter_and_six_tenths_of_the_stall_torque(name: str) -> None:
    servo = load_servo(name)
    choice = choice_for(servo)
    stall = stall_torque(servo, servo.nominal_voltage)
    stretch = max(1.0, np.sqrt(stall / 16.0))
    assert arm_stretch(servo, servo.nominal_voltage) == pytest.approx(stretch, abs=0.051)
    shares = [load.gravity_torque / stall for load in choice.loads]
    np.testing.assert_allclose(shares, [0.25, 0.25, 0.6, 0.6], rtol=0.06)
    np.testing.assert_allclose(
        [load.length for load in choice.loads[:2]], [0.1 * stretch, 0.2 * stretch], rtol=0.06
    )
    for demand, kp in zip((1.5, 5.0), choice.gains, strict=True):
        assert kp == pytest.approx(servo.firmware.kp_for(demand), rel=0.05)
    assert choice.supply_voltage == servo.nominal_voltage
    assert choice_for(servo, 0.9 * servo.nominal_voltage).supply_voltage == 0.9 * servo.nominal_voltage


def test_near_a_labs_loads_are_half_and_one_and_a_half_times_the_lightest_and_the_heaviest() -> None:
    light, middle, heavy = (PendulumBench(mass=mass, length=0.1, arm_mass=0.02) for mass in (0.4, 0.6, 0.8))
    logs = [record(SERVO, "sin_sin", kp, load) for kp, load in ((8.0, heavy), (16.0, middle), (32.0, light))]
    choice = choice_near(SERVO, logs)
    assert choice.loads[:2] == (light, heavy)
    assert {(load.mass, load.length) for load in choice.loads} == {
        *((0.4, 0.1), (0.2, 0.1), (0.6, 0.1), (0.4, 0.15)),
        *((0.8, 0.1), (1.2, 0.1), (0.8, 0.15)),
    }
    assert {load.arm_mass for load in choice.loads} == {0.02}
    assert choice.gains == (4.0, 8.0, 32.0, 64.0)
    assert choice.supply_voltage == 15.0
