# SPDX-License-Identifier: Apache-2.0
"""What is really inside an emulated eRob: parameters drawn by seed, known to `reveal` alone."""

from __future__ import annotations

import numpy as np

from bam_core.errors import UnknownName
from bam_core.servo.friction import Friction
from bam_core.servo.model import load_servo
from bam_core.servo.motor import DcMotor
from bam_ros.emulators.hidden_servo import SPREAD, HiddenServo

# Of the size of BAM's published M6 figures of these drives, with every term well above zero so that a fit can
# find it: theirs leave four of them at zero.
_FRICTION = {
    "erob80_100": Friction(
        viscous=8.0,
        coulomb=1.5,
        stribeck_coulomb=4.0,
        stribeck_velocity=1.2,
        stribeck_exponent=1.8,
        load_motor=0.06,
        load_external=0.03,
        load_motor_stribeck=0.04,
        load_external_stribeck=0.06,
        quadratic_motor=0.0025,
        quadratic_external=0.0020,
    ),
    "erob80_50": Friction(
        viscous=4.0,
        coulomb=1.0,
        stribeck_coulomb=2.5,
        stribeck_velocity=1.6,
        stribeck_exponent=1.6,
        load_motor=0.08,
        load_external=0.04,
        load_motor_stribeck=0.05,
        load_external_stribeck=0.07,
        quadratic_motor=0.0035,
        quadratic_external=0.0030,
    ),
}
SERVOS = tuple(_FRICTION)
"""Names of the drives that are emulated."""


def typical_drive(name: str) -> HiddenServo:
    """Return the drive of this name as if made without tolerances; raises BamError for an unknown name."""
    if name not in _FRICTION:
        raise UnknownName("servo", name, SERVOS)
    model = load_servo(name)
    return HiddenServo(
        motor=DcMotor(
            torque_constant=model.motor.torque_constant,
            resistance=model.motor.resistance,
            armature=model.motor.armature,
        ),
        friction=_FRICTION[name],
        supply_voltage=model.nominal_voltage,
        supply_resistance=0.12,
        ambient=26.0,
        thermal_resistance=0.35,
        thermal_time=600.0,
    )


def draw_hidden_drive(name: str, seed: int) -> HiddenServo:
    """Return one drive off the line: parameters within ±SPREAD of the typical ones, the same for a seed."""
    typical = typical_drive(name)
    random = np.random.default_rng(seed)

    def drawn(value: float, spread: float = SPREAD) -> float:
        return float(value * random.uniform(1.0 - spread, 1.0 + spread))

    motor = typical.motor
    return HiddenServo(
        motor=DcMotor(
            torque_constant=drawn(motor.torque_constant),
            resistance=drawn(motor.resistance),
            armature=drawn(motor.armature),
        ),
        friction=Friction(
            **{key: drawn(value) for key, value in typical.friction.coefficients().items()},
            quadratic_rule="paper",
        ),
        supply_voltage=drawn(typical.supply_voltage, 0.01),
        supply_resistance=drawn(typical.supply_resistance),
        ambient=drawn(typical.ambient, 0.1),
        thermal_resistance=drawn(typical.thermal_resistance),
        thermal_time=drawn(typical.thermal_time),
    )
