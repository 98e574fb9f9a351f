# SPDX-License-Identifier: Apache-2.0
"""What is really inside an emulated servo, on whatever bus: told to nobody but `reveal`."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import yaml
from numpy.typing import NDArray

from bam_core.servo.friction import FRICTION_PARAMETERS, Friction
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

    def parameters(self) -> NDArray[np.float64]:
        """Return the parameters of `bench_physics`, without the load: an inertia of 1 and no gravity."""
        friction = self.friction.coefficients()
        return np.array(
            [
                self.motor.torque_constant,
                self.motor.resistance,
                1.0,
                0.0,
                *(friction[name] for name in FRICTION_PARAMETERS),
                float(self.friction.quadratic_rule == "opposing"),
                self.supply_voltage,
                self.supply_resistance,
                self.ambient,
                self.thermal_resistance,
                self.thermal_time,
            ],
            dtype=np.float64,
        )
