# SPDX-License-Identifier: Apache-2.0
"""The bench: a pendulum, or a balanced load (a flywheel), on the servo's output shaft."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_not_negative

# What a servo can turn. Values beyond are another unit, not another bench.
_LARGEST = {
    "mass": (100.0, "kg", "grams"),
    "arm_mass": (20.0, "kg", "grams"),
    "length": (5.0, "m", "millimetres or centimetres"),
    "gyration": (5.0, "m", "millimetres or centimetres"),
    "flywheel": (10.0, "kg·m²", "g·cm² or kg·cm²"),
}
_LIGHTEST = 1e-3  # kg; lighter than any arm that a servo turns
_SHORTEST = 1e-3  # m

GRAVITY = 9.80665
"""Standard gravity, m/s²."""


@dataclass(frozen=True, kw_only=True)
class PendulumBench:
    """Geometry of a pendulum; θ = 0 is the arm hanging straight down, counter-clockwise positive.

    Attributes:
        mass: of the load, m, kg.
        arm_mass: of the uniform arm, m_arm, kg.
        length: from the axis to the load, l, m.
        gyration: radius of gyration of the load about its own centre, r_g, m; 0: the load is a point. That of
            a disc of radius r that lies in the plane of the motion is r/√2.
        flywheel: inertia about the axis of what gravity does not turn, kg·m²: a balanced load, or any on an
            upright axis.

    Raises:
        BamError: a value is negative, not finite, or so large or small that it is in another unit.
    """

    mass: float
    length: float
    arm_mass: float = 0.0
    gyration: float = 0.0
    flywheel: float = 0.0

    def __post_init__(self) -> None:
        require_not_negative(
            "bench",
            mass=self.mass,
            arm_mass=self.arm_mass,
            length=self.length,
            gyration=self.gyration,
            flywheel=self.flywheel,
        )
        for name, (most, unit, usual_mistake) in _LARGEST.items():
            value = getattr(self, name)
            if value > most:
                raise OutOfRange(
                    name,
                    value,
                    f"{unit}, at most {most:g}",
                    printed=f"{value:g}",
                    advice=f"convert it, it looks like {usual_mistake}",
                )
        weight = self.mass + self.arm_mass
        if 0.0 < weight < _LIGHTEST:
            raise OutOfRange(
                "mass and arm_mass together",
                weight,
                f"at least {_LIGHTEST:g} kg, or 0",
                printed=f"{weight:g} kg",
                advice="write what hangs on the bench, in kilograms",
            )
        if 0.0 < self.length < _SHORTEST:
            raise OutOfRange(
                "length",
                self.length,
                f"at least {_SHORTEST:g} m, or 0",
                printed=f"{self.length:g} m",
                advice="write the distance from the axis to the load, in metres",
            )

    @property
    def inertia(self) -> float:
        """Inertia of load, arm and flywheel, m·(l² + r_g²) + m_arm·l²/3 + J_w, kg·m², without the motor's."""
        pendulum = (self.mass + self.arm_mass / 3.0) * self.length**2 + self.mass * self.gyration**2
        return pendulum + self.flywheel

    @property
    def words(self) -> str:
        """What is on the shaft, in words."""
        if self.gravity_torque == 0.0:
            return f"{self.inertia:g} kg·m²"
        arm = f" + {self.arm_mass:g} kg of arm" if self.arm_mass else ""
        flywheel = f" + {self.flywheel:g} kg·m²" if self.flywheel else ""
        return f"{self.mass:g} kg at {self.length:g} m{arm}{flywheel}"

    @property
    def gravity_torque(self) -> float:
        """Gravity torque with the arm level, (m + m_arm/2)·g·l, N·m."""
        return (self.mass + self.arm_mass / 2.0) * GRAVITY * self.length

    def external_torque(self, position: ArrayLike) -> NDArray[np.float64]:
        """Return τ_e(θ) = -(m + m_arm/2)·g·l·sin θ in N·m for a position in rad (BAM eq. 1)."""
        return np.asarray(-self.gravity_torque * np.sin(position))
