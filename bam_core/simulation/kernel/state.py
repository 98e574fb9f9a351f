# SPDX-License-Identifier: Apache-2.0
"""Rows of a block's states, and of what one part of a step leaves for another; see `lanes.py`."""

from __future__ import annotations

import numpy as np

from bam_core.simulation.kernel.lanes import BLOCK

ROWS = 55

(
    POSITION,
    VELOCITY,
    DEMAND,
    ENABLED,
    MOTOR,
    EXTERNAL,
    BUDGET,
    INERTIA,
    GRAVITY,
    GAIN,
    LENGTH,
    ERROR,
    BENCH_INERTIA,
    WARMING,
    CASE,
    ARM_POSITION,
    ARM_VELOCITY,
    LINK_STIFFNESS,
    LINK_DAMPING,
    BENCH_MOBILITY,
    CONDUCTANCE,
    SPEED_SCALE,
    GOAL,
    SUPPLY,
    RATE_GAIN,
    SEEN,
    LIMIT,
    CLOSED,
    LINKED,
    ACTING,
    STARTING_VELOCITY,
    ACCELERATION,
    SET_POINT,
    FARTHEST,
    AHEAD,
    MIDDLE,
    WAS_ENABLED,
    DRIVEN_SHARE,
    FEEDBACK,
    OVERLOAD,
    LAST_GOAL,
    OWN_LIMIT,
    RATE_TIME,
    RATE,
    PAST_ERROR,
    LOAD_TORQUE,
    LOAD_SLOPE,
    LOAD_DAMPING,
    LOAD_ACROSS,
    SET_SPEED,
    SET_ACCELERATION,
    INTEGRAL_RATE,
    INTEGRAL,
    INTEGRAL_LIMIT,
    MEASURED_INTEGRAL,
) = (np.uint64(row * BLOCK) for row in range(ROWS))
