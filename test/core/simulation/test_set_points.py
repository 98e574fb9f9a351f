# SPDX-License-Identifier: Apache-2.0
"""Set-points that follow goals before a simulation are those that the simulation would make."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import Unsupported
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.set_points import SetPointLimits, slewed_means
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.refusals import refused

PERIOD = 1e-3  # s
SERVO = load_servo("sts3215")


def test_a_set_point_goes_at_its_speed_and_a_step_has_its_mean() -> None:
    goal, on = np.array([0.0, 0.5, 0.5, 0.5, 0.5, 0.5]), np.ones(6)
    means = slewed_means(goal, on, np.zeros(6), SetPointLimits(1.0, 0.2, 0.0), 2)
    assert means == pytest.approx([0.1, 0.45, 0.5])


def test_where_torque_comes_on_a_set_point_starts_from_the_servo() -> None:
    goal, on = np.full(5, 1.0), np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    position = np.array([1.0, 0.8, 0.6, 0.4, 0.4])
    points = slewed_means(goal, on, position, SetPointLimits(1.0, 0.1, 0.0), 1)
    assert points == pytest.approx([1.0, 1.0, 1.0, 0.7, 0.8])  # held while off


@pytest.mark.parametrize("script", ["sin_time_square", "lift_and_drop", "up_and_down"])
def test_it_makes_no_difference_in_steps_of_the_firmwares_period(script: str) -> None:
    bench = PendulumBench(mass=0.5, arm_mass=0.05, length=0.15)
    recording = synthesize(
        SERVO, bench, script, 16.0, SynthesisSettings(sample_period=7e-3)
    )  # goals change within steps of 4 ms
    vector = parameter_vector(SERVO)
    first, within = (
        Rollout([recording], SERVO.firmware, RolloutSettings(slew_first=each)).positions(vector)[0]
        for each in (True, False)
    )
    assert first == pytest.approx(within, abs=1e-9)


def test_steps_longer_than_the_period_start_to_slew_when_the_goal_changes() -> None:
    bench = PendulumBench(mass=0.5, arm_mass=0.05, length=0.15)
    slow = dataclasses.replace(SERVO.firmware, name="slow", goal_speed_limit=2.0)
    recording = synthesize(SERVO, bench, "sin_time_square", 16.0, SynthesisSettings(sample_period=7e-3))
    vector = parameter_vector(SERVO)
    exact = Rollout([recording], firmware=slow).positions(vector)[0]
    off = [
        float(np.abs(rollout.positions(vector)[0] - exact).mean())
        for rollout in (
            Rollout([recording], slow, RolloutSettings(periods=4, slew_first=True)),
            Rollout([recording], slow, RolloutSettings(periods=4)),
        )
    ]
    assert off[0] < 0.15e-3
    assert off[1] > 4.0 * off[0]


def test_goals_are_not_slewed_twice() -> None:
    recording = synthesize(SERVO, PendulumBench(mass=0.5, length=0.15), "sin_sin", 16.0)
    vector = parameter_vector(SERVO)
    vector[PARAMETERS.index("goal_slew_time")] = 0.3
    rollout = Rollout([recording], SERVO.firmware, RolloutSettings(slew_first=True))
    with refused(Unsupported):
        rollout.errors(vector)
