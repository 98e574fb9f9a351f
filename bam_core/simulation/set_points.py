# SPDX-License-Identifier: Apache-2.0
"""The set-points of a firmware that slews them, worked out before a simulation.

Where a goal changes within a long step, a simulation that slews there starts with the step, which is too
early. Set-points depend on the goals alone, but where torque comes on: there they start from the measured
position.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.simulation import law


class SetPointLimits(NamedTuple):
    """How fast a firmware's set-point follows its goal.

    Attributes:
        period: of the firmware, s.
        speed: largest, rad/s; may be infinite.
        acceleration: largest, rad/s²; 0: not limited.
    """

    period: float
    speed: float
    acceleration: float

    @property
    def is_limited(self) -> bool:
        """Whether set-points differ from goals."""
        return math.isfinite(self.speed) or self.acceleration > 0.0


def slewed_means(goal: Array, enabled: Array, position: Array, limits: SetPointLimits, periods: int) -> Array:
    """Return the means of set-points over steps of so many periods of the firmware, (steps,) rad.

    Args:
        goal: in each period, rad; (periods · steps,).
        enabled: likewise, above 0 with torque on.
        position: likewise, measured, rad.
        limits: of the set-point.
        periods: per step.
    """
    points = np.empty_like(goal)
    _slew(goal, enabled, position, limits, points)
    return np.asarray(points.reshape(-1, periods).mean(axis=1))


@compiled()
def _slew(goal: Array, enabled: Array, position: Array, limits: SetPointLimits, points: Array) -> None:
    point, speed = goal[0], 0.0
    for k in range(len(goal)):
        is_on = enabled[k] > 0.0
        if is_on:
            point, speed = law.profiled(
                point, speed, goal[k], limits.period, limits.speed, limits.acceleration
            )
        else:
            point, speed = position[k], 0.0
        # Nobody follows a set-point while torque is off, but a late command mixes a step with the one before.
        points[k] = point if is_on or k == 0 else points[k - 1]
