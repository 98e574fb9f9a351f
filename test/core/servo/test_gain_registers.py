# SPDX-License-Identifier: Apache-2.0
"""Gains that no register holds are refused before they are simulated."""

from __future__ import annotations

import pytest

from bam_core.errors import OutOfRange
from bam_core.mujoco.native import NativeServo
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.gain_registers import LARGEST_KP, require_register_kp
from bam_core.servo.model import load_servo
from test.core.refusals import refused


def test_every_limit_is_that_of_a_law_of_the_library() -> None:
    assert set(LARGEST_KP) <= set(FIRMWARES)
    assert all(FIRMWARES[name].factory_kp <= largest for name, largest in LARGEST_KP.items())


@pytest.mark.parametrize(("servo", "largest"), [("mx106", 254.0), ("xl330", 16383.0), ("sts3215", 254.0)])
def test_a_servo_takes_the_largest_gain_of_its_register_and_no_more(servo: str, largest: float) -> None:
    assert NativeServo(servo=servo, kp=largest).kp == largest
    with refused(OutOfRange, value=largest + 1.0):
        NativeServo(servo=servo, kp=largest + 1.0)


def test_a_law_without_a_register_takes_any_gain() -> None:
    require_register_kp("eRob", load_servo("erob80_100").firmware, 1e6)
