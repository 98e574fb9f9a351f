# SPDX-License-Identifier: Apache-2.0
"""The Dynamixel servos that are emulated: typical parameters of each, and those of one off the line."""

from __future__ import annotations

from bam_core.errors import UnknownName
from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor
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

_TYPICAL = {"mx64": _MX64, "mx64_2": _MX64, "mx106": _MX106, "mx106_2": _MX106, "xl330": _XL330}


def typical_servo(name: str) -> HiddenServo:
    """Return the servo of this name as if made without tolerances; raises BamError for an unknown name."""
    try:
        return _TYPICAL[name]
    except KeyError:
        raise UnknownName("servo", name, _TYPICAL) from None


def draw_hidden_servo(name: str, seed: int) -> HiddenServo:
    """Return one servo off the line: parameters within ±SPREAD of the typical ones, the same for a seed."""
    return typical_servo(name).drawn(seed)
