# SPDX-License-Identifier: Apache-2.0
"""Laws of the DC motor."""

import numpy as np
import pytest

from bam_core.errors import BamError
from bam_core.motor import DcMotor

MOTOR = DcMotor(torque_constant=2.0, resistance=4.0, armature=0.01)


def test_stall_torque_and_no_load_speed_follow_from_the_constants():
    assert MOTOR.torque(12.0, 0.0) == pytest.approx(2.0 * 12.0 / 4.0)
    assert MOTOR.torque(12.0, 12.0 / 2.0) == pytest.approx(0.0)


def test_a_shorted_motor_brakes():
    assert MOTOR.torque(0.0, 3.0) == pytest.approx(-(2.0**2) / 4.0 * 3.0)


def test_torque_off_leaves_neither_drive_nor_back_emf():
    assert np.array_equal(MOTOR.torque([12.0, 0.0], [0.0, 5.0], False), [0.0, 0.0])
    assert MOTOR.torque([12.0, 12.0], 0.0, [True, False]).tolist() == [6.0, 0.0]


@pytest.mark.parametrize(
    ("name", "value"), [("torque_constant", 0.0), ("resistance", -1.0), ("armature", -0.1)]
)
def test_a_constant_out_of_range_is_named(name, value):
    with pytest.raises(BamError, match=name):
        DcMotor(**{"torque_constant": 1.0, "resistance": 1.0, "armature": 0.0, name: value})
