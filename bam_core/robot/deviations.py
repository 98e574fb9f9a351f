# SPDX-License-Identifier: Apache-2.0
"""How one robot differs from its description, and its bus from one without delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np

from bam_core._checks import require_not_negative


@dataclass(frozen=True, kw_only=True)
class RobotDeviations:
    """What belongs to this robot and not to its servos' type.

    Attributes:
        delay: s from the time of a goal in the recording to when its servo obeys.
        zero: joint -> rad that its encoder says at the description's zero.
        strength: joint -> share by which its motor's torque is larger than its type's.
        mass: body -> share by which it is heavier than described.
        centre: body -> (3,) m by which its centre of mass is off, in the body's frame.
    """

    delay: float = 0.0
    zero: Mapping[str, float] = field(default_factory=dict)
    strength: Mapping[str, float] = field(default_factory=dict)
    mass: Mapping[str, float] = field(default_factory=dict)
    centre: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_not_negative("robot", delay=self.delay)

    def apply(self, spec: mujoco.MjSpec) -> None:
        """Change masses and centres of a description, in place; inertias scale with the mass."""
        for name, share in self.mass.items():
            body = spec.body(name)
            body.mass = float(body.mass) * (1.0 + share)
            body.inertia = np.asarray(body.inertia) * (1.0 + share)
            body.fullinertia = np.asarray(body.fullinertia) * (1.0 + share)
        for name, shift in self.centre.items():
            body = spec.body(name)
            body.ipos = np.asarray(body.ipos) + np.asarray(shift)


NO_DEVIATIONS = RobotDeviations()
