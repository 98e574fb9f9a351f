# SPDX-License-Identifier: Apache-2.0
"""Laws of the DC motor."""

import numpy as np
import pytest

from bam_core.errors import BamError
from bam_core.servo.motor import DcMotor

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
    ("name", "value"),
    [
        ("torque_constant", 0.0),
        ("resistance", -1.0),
        ("armature", -0.1),
        ("torque_saturation", -1.0),
        ("winding_heating", np.nan),
    ],
)
def test_a_constant_out_of_range_is_named(name, value):
    with pytest.raises(BamError, match=name):
        DcMotor(**{"torque_constant": 1.0, "resistance": 1.0, "armature": 0.0, name: value})


SMALL = DcMotor(
    torque_constant=0.4, resistance=2.7, armature=2e-3, torque_saturation=0.4, winding_heating=1.5
)


def test_saturation_takes_half_the_torque_where_the_current_is_its_inverse():
    voltage = SMALL.resistance / SMALL.torque_saturation
    assert SMALL.current(voltage, 0.0) == pytest.approx(1.0 / 0.4)
    assert SMALL.torque(voltage, 0.0) == pytest.approx(0.5 * 0.4 / 0.4)
    assert SMALL.torque(-voltage, 0.0) == -SMALL.torque(voltage, 0.0)
    assert SMALL.torque(1e-9, 0.0) == pytest.approx(0.4 / 2.7 * 1e-9)


def test_torque_rises_with_voltage_and_stays_below_its_limit():
    torque = SMALL.torque(np.linspace(0.0, 1e4, 1000), 0.0)
    assert np.all(np.diff(torque) > 0.0)
    assert torque[-1] < 0.4 / 0.4


@pytest.mark.parametrize("warming", [0.0, 60.0])
def test_damping_is_the_slope_of_torque_over_speed(warming):
    step = 1e-6
    above, below = (float(SMALL.torque(5.0, 2.0 + d, True, warming)) for d in (step, -step))
    assert SMALL.damping(5.0, 2.0, True, warming) == pytest.approx(-(above - below) / (2 * step), rel=1e-6)


def test_a_warm_winding_conducts_less_and_cools_when_no_current_flows():
    assert SMALL.current(5.0, 0.0, True, 100.0) == pytest.approx(5.0 / (2.7 * 1.393))
    assert SMALL.warming_rate(2.0, 0.0) == pytest.approx(1.5 * 2.7 * 4.0)
    assert SMALL.warming_rate(0.0, 30.0) == pytest.approx(-1.0)
    assert MOTOR.warming_rate(2.0, 0.0) == 0.0
