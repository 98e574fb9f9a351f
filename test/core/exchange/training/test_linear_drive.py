# SPDX-License-Identifier: Apache-2.0
"""A linear servo moves alike as itself and as the drive that training programs get."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import BamError, Unsupported
from bam_core.exchange.training.drive_fit import standard_motions
from bam_core.exchange.training.drive_rollout import drive_positions
from bam_core.exchange.training.linear_drive import LOAD_SHARE, DriveGains, nearest_drive
from bam_core.servo.effects import ServoEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.synthetic import finely_simulated

FRICTIONS = {"mx106": {"viscous": 0.05, "coulomb": 0.1}, "erob80_100": {"viscous": 8.4, "coulomb": 5.6}}
GAINS = {"mx106": 32.0, "erob80_100": 900.0}


def linear(name: str) -> ServoModel:
    """Return a servo with M1 friction and no effects."""
    servo = load_servo(name)
    return dataclasses.replace(
        servo,
        motor=dataclasses.replace(servo.motor, torque_saturation=0.0, winding_heating=0.0),
        friction_model="m1",
        friction=FRICTION_MODELS["m1"].friction(FRICTIONS[name]),
        servo_effects=ServoEffects(),
    )


@pytest.mark.parametrize("name", FRICTIONS)
def test_a_linear_servo_and_its_drive_move_alike(name: str) -> None:
    servo, gains = linear(name), DriveGains(kp=GAINS[name])
    drive, remarks = nearest_drive(servo, gains)
    assert len(remarks) == (1 if servo.firmware.regulates_current else 0)  # what the supply limits
    for run in standard_motions(servo, gains):
        if servo.firmware.regulates_current and run.script != "up_and_down":
            continue  # faster than the supply allows
        difference = drive_positions(drive, run) - finely_simulated(servo, run, quantised=False)
        # Half a firmware period of delay and the step of 1 ms: about 1 ms at 1 rad/s.
        assert np.abs(difference).mean() < 2e-3


def test_a_derivative_gain_is_damping_within_the_limit() -> None:
    servo = load_servo("sts3215")
    without, _ = nearest_drive(servo, DriveGains(kp=16))
    with_kd, _ = nearest_drive(servo, DriveGains(kp=16, kd=32))
    time = servo.firmware.rate_time(16, 32)
    assert time > 0.0
    assert with_kd.damping == pytest.approx(without.damping + without.stiffness * time)


def test_an_integral_gain_is_left_out_and_the_error_that_it_would_remove_is_named() -> None:
    servo = load_servo("mx106")
    without, remarks = nearest_drive(servo, DriveGains(kp=16))
    same, more = nearest_drive(servo, DriveGains(kp=16, ki=32))
    assert same == without
    (line,) = (line for line in more if line.startswith("ki"))
    assert not any(line.startswith("ki") for line in remarks)
    error = 1e3 * LOAD_SHARE * servo.stall_torque() / same.stiffness
    assert f"{error:.3g} mrad" in line
    with pytest.raises(Unsupported):
        nearest_drive(load_servo("sts3215"), DriveGains(kp=16, ki=32))


def test_stiffness_and_limits_follow_the_supply() -> None:
    servo = load_servo("mx106")
    low, _ = nearest_drive(servo, DriveGains(kp=32, supply_voltage=10.0))
    high, _ = nearest_drive(servo, DriveGains(kp=32, supply_voltage=15.0))
    for name in ("stiffness", "effort_limit", "saturation_effort", "velocity_limit"):
        assert getattr(high, name) == pytest.approx(1.5 * getattr(low, name))
    assert high.back_emf_damping == pytest.approx(low.back_emf_damping)


def test_the_torque_speed_curve_ends_at_the_speed_without_load() -> None:
    drive, _ = nearest_drive(load_servo("mx106"), DriveGains(kp=32))
    # sat·(1 - θ̇/θ̇_0) = k/R·U - k²/R·θ̇
    assert drive.saturation_effort / drive.velocity_limit == pytest.approx(drive.back_emf_damping)


@pytest.mark.parametrize("values", [{"kp": 0.0}, {"kp": -1.0}, {"kp": 32.0, "supply_voltage": 0.0}])
def test_gains_that_no_servo_has_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(BamError):
        DriveGains(**values)
