# SPDX-License-Identifier: Apache-2.0
"""The Feetech servos that are emulated, and the typical parameters of each."""

from __future__ import annotations

from dataclasses import replace

from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.dynamixel.builder import BusSetup
from bam_ros.emulators.dynamixel.catalog import Catalog
from bam_ros.emulators.feetech.servo import FeetechServo
from bam_ros.emulators.hidden_servo import HiddenServo
from bam_ros.feetech.control_table import CONTROL_TABLES, PROTOCOL

# Of the size of the library's STS3215 (12 V) and of its data sheet, 30 kg·cm at 2.7 A, with every term well
# above zero so that a fit can find it.
_STS3215 = HiddenServo(
    motor=DcMotor(torque_constant=1.6, resistance=4.2, armature=0.022),
    friction=Friction(
        viscous=0.05,
        coulomb=0.06,
        stribeck_coulomb=0.10,
        stribeck_velocity=1.2,
        stribeck_exponent=1.0,
        load_motor=0.12,
        load_external=0.05,
        load_motor_stribeck=0.08,
        load_external_stribeck=0.08,
        quadratic_motor=0.010,
        quadratic_external=0.005,
    ),
    supply_voltage=12.0,
    supply_resistance=0.25,
    ambient=26.0,
    thermal_resistance=6.0,
    thermal_time=250.0,
)
# Data sheets: 50 kg·cm at 2.8 A and 0.133 s/60° at 12 V; 85 kg·cm at 24 V; 2.3 kg·cm at 6 V.
_STS3250 = replace(_STS3215, motor=DcMotor(torque_constant=1.63, resistance=3.6, armature=0.018))
_SM8512 = replace(
    _STS3215, motor=DcMotor(torque_constant=3.0, resistance=7.0, armature=0.06), supply_voltage=24.0
)
# Of the size of the HLS2915 that contributors of BAM published.
_HLS3930 = replace(_STS3215, motor=DcMotor(torque_constant=1.53, resistance=7.5, armature=0.0027))
_SCS0009 = replace(
    _STS3215,
    motor=DcMotor(torque_constant=0.36, resistance=8.0, armature=0.0008),
    friction=replace(_STS3215.friction, viscous=0.004, coulomb=0.004, stribeck_coulomb=0.005),
    supply_voltage=6.0,
)
_TYPICAL = {
    "sts3215": _STS3215,
    "sts3250": _STS3250,
    "sm8512bl": _SM8512,
    "scs0009": _SCS0009,
    "hls3930": _HLS3930,
}


def draw_hidden_servo(name: str, seed: int) -> HiddenServo:
    """Return one servo off the line, the same for a seed.

    Args:
        name: key in `bam_ros.feetech.control_table.CONTROL_TABLES`.
        seed: of its parameters.
    """
    return _TYPICAL[name].drawn(seed)


FEETECH = Catalog(
    brand="Feetech",
    driver="bam_ros.feetech.node",
    tables=CONTROL_TABLES,
    draw=draw_hidden_servo,
    kinds={PROTOCOL: FeetechServo},
)


def default_setup() -> BusSetup:
    """Return what is on the bus of an emulator where nothing else is asked for."""
    load = PendulumBench(mass=0.5, arm_mass=0.05, length=0.15)
    return BusSetup(catalog=FEETECH, servo="sts3215", pendulum=load)
