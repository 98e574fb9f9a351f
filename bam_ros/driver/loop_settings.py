# SPDX-License-Identifier: Apache-2.0
"""Settings of the loop that owns a bus."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bam_ros.driver.joint_limits import HALF_TURN, Range


@dataclass(frozen=True, kw_only=True)
class LoopSettings:
    """How a loop runs. Times that concern the servos are on the clock of the bus.

    Attributes:
        rate: exchanges per second of the wall clock, 1/s; 0 is as fast as the bus allows.
        command_timeout: torque of a joint goes off when no command named it for this long, s.
        torque_on_speed: speed of the goal from torque on until it has caught up, rad/s.
        speed_limit: of the goal at any time, rad/s.
        following_error: largest distance between position and goal, rad; where it is exceeded for 0.5 s,
            torque goes off on all joints. 0: not checked.
        velocity_error: likewise of joints commanded by velocity, between velocity and goal, rad/s.
        limits: lowest and highest goal of each joint, rad; a single pair is for all.
        groups: groups of joints that a fault of one of their servos stops alone: name -> places on the bus;
            any other joint stops all.
        failures: lost samples in a row after which the bus counts as lost.
        retry_period: time between attempts to reopen a lost bus, s of the wall clock.
    """

    rate: float = 0.0
    command_timeout: float = 0.5
    torque_on_speed: float = 2.0
    speed_limit: float = 20.0
    following_error: float = 2.0
    velocity_error: float = 0.0
    limits: Sequence[Range] = (HALF_TURN,)
    groups: Mapping[str, Collection[int]] = field(default_factory=dict)
    failures: int = 5
    retry_period: float = 1.0
