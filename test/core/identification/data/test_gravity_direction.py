# SPDX-License-Identifier: Apache-2.0
"""Where an arm hangs, told before anything is fitted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.identification.data.gravity_direction import gravity_direction
from bam_core.recordings import load_recordings
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from test.core.identification_cases import real_xl330_logs, record


@pytest.mark.parametrize("name", servo_names())
def test_the_zero_of_every_servo_in_the_library_is_found_before_a_fit(name: str) -> None:
    servo = replace(load_servo(name), integrator="midpoint")
    load = PendulumBench(mass=0.25 * servo.stall_torque() / (GRAVITY * 0.1), length=0.1)
    run = record(servo, "sin_sin", servo.firmware.kp_for(1.5), load)
    for zero in (0.0, 0.15, -1.0, 3.0):
        seen = replace(run, position=run.position + zero, goal_position=run.goal_position + zero)
        found = gravity_direction(servo, seen)
        assert found is not None
        assert found.angle == pytest.approx(zero, abs=0.1)
        assert found.standard_error < 0.1


@pytest.mark.parametrize("shift", [0.08, -0.05])
@pytest.mark.parametrize("name", ["mx106", "sts3215", "xl330"])
def test_positions_that_are_off_their_goals_are_no_gravity_that_pulls_askew(name: str, shift: float) -> None:
    servo = replace(load_servo(name), integrator="midpoint")
    load = PendulumBench(mass=0.25 * servo.stall_torque() / (GRAVITY * 0.1), length=0.1)
    run = record(servo, "sin_sin", servo.firmware.kp_for(3.0), load)
    found = gravity_direction(servo, replace(run, position=run.position + shift))
    assert found is not None
    assert found.off_goal == pytest.approx(shift, abs=0.01)
    for zero in (0.0, 0.15, 3.0):
        both = replace(run, position=run.position + zero, goal_position=run.goal_position + zero)
        found = gravity_direction(servo, both)
        assert found is not None
        assert found.off_goal is None


def test_real_logs_hang_within_two_degrees_of_their_zero() -> None:
    servo = load_servo("xl330")
    for log in load_recordings([real_xl330_logs()]):
        found = gravity_direction(servo, log)
        assert found is not None
        assert abs(found.angle) < np.deg2rad(2.0)
        assert found.off_goal is None


def test_a_set_point_that_slews_is_what_the_firmware_asks_for() -> None:
    """With the goal itself, this arm seems to hang at 1 rad, and a real STS3215 at 0.2 rad."""
    servo = load_servo("sts3215")
    slow = replace(servo, firmware=replace(servo.firmware, goal_speed_limit=1.5))
    found = gravity_direction(slow, record(slow, "sin_sin", 8.0, PendulumBench(mass=0.741, length=0.15)))
    assert found is not None
    assert abs(found.angle) < 0.1


def test_a_log_without_torque_or_motion_does_not_tell() -> None:
    servo = load_servo("mx106")
    run = record(servo, "sin_sin", 8.0)
    assert gravity_direction(servo, replace(run, torque_enabled=np.zeros(len(run), dtype=bool))) is None
    still = replace(run, position=np.zeros(len(run)), goal_position=np.full(len(run), 0.1))
    assert gravity_direction(servo, still) is None


def test_an_arm_that_was_only_lifted_does_not_tell_friction_from_a_zero_that_is_off() -> None:
    servo = replace(load_servo("erob80_100"), integrator="midpoint")
    load = PendulumBench(mass=14.6, length=0.3)
    lifted = gravity_direction(servo, record(servo, "lift_and_drop", 100.0, load))
    swung = gravity_direction(servo, record(servo, "sin_sin", 100.0, load))
    assert lifted is not None
    assert swung is not None
    assert (lifted.both_ways, swung.both_ways) == (False, True)
