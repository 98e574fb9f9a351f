# SPDX-License-Identifier: Apache-2.0
"""Goals before a run: its first goals, or, before a jump, others that nobody recorded.

A run begins at rest at its first goals, or with a jump to them: an episode of a teleoperated arm begins
where the one before it ended. Then the arm moves to the first goal faster than that goal moves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array

_MIN_ERROR = 0.05  # rad from the first goal; resting servos sag as far, and stay
_WITHIN = 0.15  # s in which a joint that is not at its goal begins to move there
_MOVED = 0.04  # rad towards the first goal, beyond what that moves meanwhile


def begins_elsewhere(time: Array, goal: Array, position: Array) -> NDArray[np.bool_]:
    """Return (joints,) which joints a run begins with a jump of their goal.

    Args:
        time: (n,) s.
        goal: (n, joints) rad.
        position: likewise.
    """
    row = min(int(np.searchsorted(time, time[0] + _WITHIN)), len(time) - 1)
    error = goal[0] - position[0]
    towards = np.sign(error)
    goal_moved = np.maximum(towards * (goal[row] - goal[0]), 0.0)
    moved = towards * (position[row] - position[0]) - goal_moved
    return np.asarray((np.abs(error) > _MIN_ERROR) & (moved > _MOVED))
