# SPDX-License-Identifier: Apache-2.0
"""What friction does to a joint at this moment: it holds, or is overcome by motor or load."""

from __future__ import annotations

import math
from dataclasses import dataclass

REST = 1e-3
"""rad/s; slower counts as standing still."""


@dataclass(frozen=True, kw_only=True)
class JointPlace:
    """Where a joint is on the robot.

    Attributes:
        name: of the joint.
        frame: of the body that it moves, as in the robot's description.
        anchor: (3,) a point of its axis in that frame, m.
        axis: (3,) unit vector in that frame.
    """

    name: str
    frame: str
    anchor: tuple[float, float, float]
    axis: tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class FrictionState:
    """Torques on a joint in one step.

    Attributes:
        motor_torque: τ_m, N·m.
        external_torque: τ_e, N·m.
        friction_torque: applied, N·m.
        budget: τ_f^m, the most that friction can apply, N·m.
        velocity: rad/s.
    """

    motor_torque: float
    external_torque: float
    friction_torque: float
    budget: float
    velocity: float

    @property
    def regime(self) -> str:
        """Which area of the drive/backdrive diagram this is: "static", "drive" or "backdrive"."""
        if abs(self.velocity) > REST:
            direction = math.copysign(1.0, self.velocity)
        elif abs(self.motor_torque + self.external_torque) > self.budget:
            direction = math.copysign(1.0, self.motor_torque + self.external_torque)
        else:
            return "static"
        is_driven = direction * self.motor_torque >= direction * self.external_torque
        return "drive" if is_driven else "backdrive"
