# SPDX-License-Identifier: Apache-2.0
"""Which velocity, current or duty a joint gets of what a client commands."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.joint_limits import Range

_LEAD = 0.3
"""Time that a joint keeps to its limit at its velocity, s: about what a servo takes to stop."""


@dataclass(frozen=True, kw_only=True)
class JointMotion:
    """How a joint moves; NaN where that is not measured.

    Attributes:
        position: rad.
        velocity: rad/s.
    """

    position: float
    velocity: float


def limited_setpoint(
    kind: CommandKind, wanted: float, motion: JointMotion, *, limits: Range, largest: float, speed: float
) -> float:
    """Return the set-point nearest to the wanted one that is allowed; 0 where none is wanted.

    A velocity fades out towards a limit, such that the joint stops there. A current or duty is 0 where it
    would drive the joint beyond a limit, or faster than allowed; gravity may still do so.

    Args:
        kind: velocity, current or duty.
        wanted: set-point of the client: rad/s, A or duty; NaN: none.
        motion: of the joint, as measured.
        limits: lowest and highest position, rad.
        largest: of the servo, in the unit of the set-point.
        speed: highest, rad/s.
    """
    if not math.isfinite(wanted) or not math.isfinite(motion.position):
        return 0.0
    value = min(max(wanted, -largest), largest)
    low, high = limits
    if kind is CommandKind.VELOCITY:
        down, up = (low - motion.position) / _LEAD, (high - motion.position) / _LEAD
        return min(max(value, -speed, min(down, 0.0)), speed, max(up, 0.0))
    velocity = motion.velocity if math.isfinite(motion.velocity) else 0.0
    ahead = motion.position + _LEAD * velocity
    leads_out = ahead >= high or velocity >= speed if value > 0.0 else ahead <= low or velocity <= -speed
    return 0.0 if leads_out else value
