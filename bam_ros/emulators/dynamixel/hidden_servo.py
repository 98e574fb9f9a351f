# SPDX-License-Identifier: Apache-2.0
"""The Dynamixel servos that are emulated: typical parameters of each, and those of one off the line."""

from __future__ import annotations

from dataclasses import replace

from bam_core.servo.data_sheet import DataSheet
from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor
from bam_ros.dynamixel.control_table import control_table
from bam_ros.emulators.hidden_servo import HiddenServo

# Typical servos, of the size of BAM's published M6 figures, with every term well above zero so that a
# fit can find it.
_MX106 = HiddenServo(
    motor=DcMotor(torque_constant=2.2, resistance=2.0, armature=0.026),
    friction=Friction(
        viscous=0.05,
        coulomb=0.06,
        stribeck_coulomb=0.10,
        stribeck_velocity=1.7,
        stribeck_exponent=1.2,
        load_motor=0.15,
        load_external=0.05,
        load_motor_stribeck=0.12,
        load_external_stribeck=0.08,
        quadratic_motor=0.010,
        quadratic_external=0.005,
    ),
    supply_voltage=14.8,
    supply_resistance=0.22,
    ambient=26.0,
    thermal_resistance=3.0,
    thermal_time=350.0,
)
_MX64 = HiddenServo(
    motor=DcMotor(torque_constant=1.6, resistance=2.3, armature=0.0125),
    friction=Friction(
        viscous=0.026,
        coulomb=0.035,
        stribeck_coulomb=0.06,
        stribeck_velocity=2.2,
        stribeck_exponent=1.1,
        load_motor=0.20,
        load_external=0.05,
        load_motor_stribeck=0.12,
        load_external_stribeck=0.05,
        quadratic_motor=0.010,
        quadratic_external=0.008,
    ),
    supply_voltage=14.8,
    supply_resistance=0.25,
    ambient=26.0,
    thermal_resistance=4.0,
    thermal_time=280.0,
)
_XL330 = HiddenServo(
    motor=DcMotor(torque_constant=0.366, resistance=2.8, armature=0.0018),
    friction=Friction(
        viscous=0.0054,
        coulomb=0.0060,
        stribeck_coulomb=0.0060,
        stribeck_velocity=2.5,
        stribeck_exponent=1.8,
        load_motor=0.18,
        load_external=0.04,
        load_motor_stribeck=0.05,
        load_external_stribeck=0.05,
        quadratic_motor=0.010,
        quadratic_external=0.008,
    ),
    supply_voltage=5.0,
    supply_resistance=0.20,
    ambient=26.0,
    thermal_resistance=18.0,
    thermal_time=120.0,
)

_TYPICAL = {
    **dict.fromkeys(("mx64", "mx64_2"), _MX64),
    **dict.fromkeys(("mx106", "mx106_2"), _MX106),
    **dict.fromkeys(("xl330", "xl330_m077"), _XL330),
}
_MECHANICAL_TIME = 0.02  # s; J·R/k_t² of a typical servo, see bam_core.servo.data_sheet


def _from_data_sheet(sheet: DataSheet) -> HiddenServo:
    """Return a servo with the motor of a data sheet and the friction of an MX-64, scaled by stall torque."""
    constant = sheet.voltage / sheet.no_load_speed
    resistance = constant * sheet.voltage / sheet.stall_torque
    size = sheet.stall_torque / (_MX64.motor.torque_constant * _MX64.supply_voltage / _MX64.motor.resistance)
    friction = _MX64.friction
    return replace(
        _MX64,
        motor=DcMotor(
            torque_constant=constant,
            resistance=resistance,
            armature=_MECHANICAL_TIME * constant**2 / resistance,
        ),
        friction=replace(
            friction,
            viscous=friction.viscous * size,
            coulomb=friction.coulomb * size,
            stribeck_coulomb=friction.stribeck_coulomb * size,
            quadratic_motor=friction.quadratic_motor / size,
            quadratic_external=friction.quadratic_external / size,
        ),
        supply_voltage=sheet.voltage,
        supply_resistance=_MX64.supply_resistance * resistance / _MX64.motor.resistance,
    )


def typical_servo(name: str) -> HiddenServo:
    """Return the servo of this name as if made without tolerances; raises BamError for an unknown name.

    One whose parameters are not known has those of its data sheet, or the size of an MX-64.
    """
    if name in _TYPICAL:
        return _TYPICAL[name]
    sheet = control_table(name).data_sheet
    return _MX64 if sheet is None else _from_data_sheet(sheet)


def draw_hidden_servo(name: str, seed: int) -> HiddenServo:
    """Return one servo off the line: parameters within ±SPREAD of the typical ones, the same for a seed."""
    return typical_servo(name).drawn(seed)
