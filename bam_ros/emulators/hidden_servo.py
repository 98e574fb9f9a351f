# SPDX-License-Identifier: Apache-2.0
"""What is really inside an emulated servo, on whatever bus: told to nobody but `reveal`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import yaml

from bam_core.servo.friction import Friction
from bam_core.servo.motor import DcMotor

SPREAD = 0.18
"""Largest relative deviation of a drawn parameter from the family's typical value."""


@dataclass(frozen=True, kw_only=True)
class HiddenServo:
    """The physics of one servo and its power supply.

    Attributes:
        motor: constants at the output shaft.
        friction: M6 friction of gearbox and motor.
        supply_voltage: of the unloaded supply, V.
        supply_resistance: of supply and wires, Ω; what makes the voltage sag.
        ambient: air temperature, °C.
        thermal_resistance: from windings to air, K/W.
        thermal_time: time constant of warming up, s.
    """

    motor: DcMotor
    friction: Friction
    supply_voltage: float
    supply_resistance: float
    ambient: float
    thermal_resistance: float
    thermal_time: float

    def to_yaml(self) -> str:
        """Return every parameter as YAML, SI units."""
        return yaml.safe_dump(asdict(self), sort_keys=False)
