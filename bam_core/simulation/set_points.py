# SPDX-License-Identifier: Apache-2.0
"""The set-points of a firmware that slews them, worked out before a simulation.

Where a goal changes within a long step, a simulation that slews there starts with the step, which is too
early. Set-points depend on the goals alone, but where torque comes on: there they start from the measured
position.
"""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled


def slewed_means(goal: Array, enabled: Array, position: Array, farthest: float, periods: int) -> Array:
    """Return the means of set-points over steps of so many periods of the firmware, (steps,) rad.

    Args:
        goal: in each period, rad; (periods · steps,).
        enabled: likewise, above 0 with torque on.
        position: likewise, measured, rad.
        farthest: that a set-point moves in a period, rad.
        periods: per step.
    """
    points = np.empty_like(goal)
    _slew(goal, enabled, position, farthest, points)
    return np.asarray(points.reshape(-1, periods).mean(axis=1))


@compiled()
def _slew(goal: Array, enabled: Array, position: Array, farthest: float, points: Array) -> None:
    point = goal[0]
    for k in range(len(goal)):
        is_on = enabled[k] > 0.0
        point = point + min(max(goal[k] - point, -farthest), farthest) if is_on else position[k]
        # Nobody follows a set-point while torque is off, but a late command mixes a step with the one before.
        points[k] = point if is_on or k == 0 else points[k - 1]
