# SPDX-License-Identifier: Apache-2.0
"""Torque constants of servos of which a bus reports the model."""

from __future__ import annotations

import math

import pytest

from bam_core.servo.model import load_servo
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.torque_constant import torque_constant


@pytest.mark.parametrize("servo", ["xl330", "mx64", "mx106", "mx106_2", "sts3250", "xm430_w350"])
def test_the_constant_is_that_of_the_library(servo: str) -> None:
    assert torque_constant(servo, CONTROL_TABLES) == load_servo(servo).motor.torque_constant


def test_one_model_number_with_two_motors_is_not_known() -> None:
    """An STS3215 for 7.4 V answers as one for 12 V."""
    one, other = (load_servo(name).motor.torque_constant for name in ("sts3215", "sts3215_7v4"))
    assert one > 1.5 * other
    assert math.isnan(torque_constant("sts3215", CONTROL_TABLES))


@pytest.mark.parametrize("servo", ["xm540_w270", "mine", ""])
def test_a_servo_that_the_library_does_not_have_is_not_known(servo: str) -> None:
    assert math.isnan(torque_constant(servo, CONTROL_TABLES))
