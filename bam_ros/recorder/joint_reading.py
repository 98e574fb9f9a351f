# SPDX-License-Identifier: Apache-2.0
"""What motions are steered by: one servo's last state, without ROS."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class JointReading:
    """What a servo measured.

    Attributes:
        time: of acquisition, s on the clock that also paces the motion.
        position: rad.
        torque_enabled: False where the servo is released.
    """

    time: float
    position: float
    torque_enabled: bool
