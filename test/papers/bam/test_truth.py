# SPDX-License-Identifier: Apache-2.0
"""Synthetic servos outside of M1 to M6: their friction, their benches and their arms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.servo.friction import Friction
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from papers.bam.arm_tracking import track
from papers.bam.diagrams import measured_borders, predicted_borders
from papers.bam.joint import dry_friction, friction_torque
from papers.bam.synthetic import true_servo
from papers.bam.true_arm import true_track
from papers.bam.truth import Reality, Run, TrueServo, record
from papers.bam.two_link import ARMS

LOAD = PendulumBench(mass=1.0, length=0.15)
IDEAL = Reality(
    presliding=1e-3,
    asymmetry=0.0,
    ripple=0.0,
    delay=0.0,
    friction_spread=0.0,
    supply_spread=0.0,
    mass_spread=0.0,
    start=0.0,
    zero_offset=0.0,
)


def plain(name: str, friction: Friction | None = None, **reality: float) -> TrueServo:
    """A servo without anything beyond its friction but what is named."""
    truth = true_servo(name)
    servo = truth.servo if friction is None else replace(truth.servo, friction=friction)
    return TrueServo(servo=servo, reality=replace(IDEAL, **reality))


@pytest.mark.parametrize("velocity", [-2.0, 0.3])
def test_friction_in_steady_motion_is_the_budget_of_eq_10(velocity: float) -> None:
    truth = plain("erob80_100")
    joint = truth.joint(50.0)
    for motor, external in ((20.0, -35.0), (-8.0, 3.0)):
        level = dry_friction(joint, motor, external, velocity)
        torque, rate = friction_torque(joint, level, joint.presliding * np.sign(velocity), velocity, 1.0)
        assert rate == pytest.approx(0.0, abs=1e-12)
        budget = truth.servo.friction.budget(motor, external, velocity)
        assert torque == pytest.approx(-np.sign(velocity) * float(budget))


def test_one_direction_has_more_friction_by_the_asymmetry() -> None:
    joint = plain("mx106", asymmetry=0.1).joint(8.0)
    levels = [dry_friction(joint, 1.0, -0.5, velocity) for velocity in (1.0, 0.0, -1.0)]
    assert levels[0] / levels[2] == pytest.approx(1.1 / 0.9)


@pytest.mark.parametrize("name", ["mx106", "erob80_50"])
def test_a_servo_without_anything_beyond_moves_as_this_suite_simulates_its_friction(name: str) -> None:
    # Bristles of a milliradian are nearly the set-valued friction of BAM.
    truth = plain(name)
    load = LOAD if name == "mx106" else PendulumBench(mass=8.2, length=0.5)
    runs = [Run(load=load, kp=kp, script="sin_sin") for kp in (16.0, 32.0)]
    logs = record(truth, runs)
    errors = Rollout(logs, firmware=truth.servo.firmware).errors(parameter_vector(truth.servo))
    assert errors.max() < 3e-3


def test_late_goals_make_late_motion() -> None:
    run = [Run(load=LOAD, kp=32.0, script="sin_sin")]
    (on_time,), (late,) = (record(plain("mx106", delay=delay), run) for delay in (0.0, 0.02))
    shifted = np.interp(on_time.time - 0.02, on_time.time, on_time.position)
    assert np.abs(late.position - shifted).mean() < 0.2 * np.abs(late.position - on_time.position).mean()


def test_runs_differ_by_what_is_said_to_spread_and_are_the_same_with_the_same_seed() -> None:
    run = [Run(load=LOAD, kp=8.0, script="up_and_down")]
    truth = true_servo("mx64")
    one, same, other = (record(truth, run, seed=seed)[0].position for seed in (0, 0, 1))
    assert np.array_equal(one, same)
    assert 1e-4 < np.abs(one - other).mean() < 0.05


def test_an_arm_without_friction_moves_as_in_mujoco() -> None:
    arm = ARMS["dynamixel_2r"]
    truths = [plain(name, Friction(viscous=0.05, coulomb=1e-6)) for name in arm.servos]
    slim = [replace(each.servo, friction_model="m1") for each in truths]
    true = true_track(arm, (truths[0], truths[1]), "square", arm.low_gain)
    simulated = track(arm, slim, "square", arm.low_gain)
    assert np.abs(true.position - simulated.position).mean() < 2e-3


def test_borders_measured_by_hand_are_those_of_the_friction_at_rest() -> None:
    truth = plain("mx106", Friction(coulomb=0.8))
    measured = measured_borders(truth)
    predicted = predicted_borders(truth.servo.friction, measured.motor)
    assert measured.drive == pytest.approx(predicted.drive, abs=0.05)
    assert measured.backdrive == pytest.approx(predicted.backdrive, abs=0.05)
