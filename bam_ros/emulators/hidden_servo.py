# SPDX-License-Identifier: Apache-2.0
"""What is really inside an emulated servo, on whatever bus: known to `reveal` alone."""

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

    def drawn(self, seed: int) -> HiddenServo:
        """Return one servo off the line: parameters within ±SPREAD of these, the same for a seed."""
        random = np.random.default_rng(seed)

        def near(value: float, spread: float = SPREAD) -> float:
            return float(value * random.uniform(1.0 - spread, 1.0 + spread))

        return HiddenServo(
            motor=DcMotor(**{key: near(value) for key, value in asdict(self.motor).items()}),
            friction=Friction(
                **{key: near(value) for key, value in self.friction.coefficients().items()},
                quadratic_rule="paper",
            ),
            supply_voltage=near(self.supply_voltage, 0.01),
            supply_resistance=near(self.supply_resistance),
            ambient=near(self.ambient, 0.1),
            thermal_resistance=near(self.thermal_resistance),
            thermal_time=near(self.thermal_time),
        )

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
