# SPDX-License-Identifier: Apache-2.0
"""The load of a robot's joint while the other joints move on known paths, instead of the bench's pendulum.

Inertia and torque are known at knots of the time grid, and linear between them. The torque is also linear in
the joint's own angle and velocity; see `bam_core/robot/joint_loads.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.kernel import state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import ACROSS, DAMPING, INERTIA, SLOPE, TORQUE


@compiled_lanes
def take_load(s: Array, lanes: int, loads: Array, knot: int, share: float, start: Any) -> None:
    """Take the load of this step, `share` of the way from a knot to the next one."""
    for i in range(np.uint64(lanes)):
        lane = start + i
        inertia, torque = loads[knot, INERTIA, lane], loads[knot, TORQUE, lane]
        slope, damping = loads[knot, SLOPE, lane], loads[knot, DAMPING, lane]
        across = loads[knot, ACROSS, lane]
        s[state.BENCH_INERTIA + i] = inertia + share * (loads[knot + 1, INERTIA, lane] - inertia)
        s[state.LOAD_TORQUE + i] = torque + share * (loads[knot + 1, TORQUE, lane] - torque)
        s[state.LOAD_SLOPE + i] = slope + share * (loads[knot + 1, SLOPE, lane] - slope)
        s[state.LOAD_DAMPING + i] = damping + share * (loads[knot + 1, DAMPING, lane] - damping)
        s[state.LOAD_ACROSS + i] = across + share * (loads[knot + 1, ACROSS, lane] - across)


@compiled_lanes
def apply_load(s: Array, lanes: int, half_step: float) -> None:
    """Torque of the load `half_step` s later, and its inertia."""
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        angle = s[state.POSITION + i] + half_step * velocity
        s[state.EXTERNAL + i] = (
            s[state.LOAD_TORQUE + i] + s[state.LOAD_SLOPE + i] * angle + s[state.LOAD_DAMPING + i] * velocity
        )
        s[state.INERTIA + i] += s[state.BENCH_INERTIA + i]


@compiled_lanes
def add_across(s: Array, lanes: int) -> None:
    """Add the torque by which other joints accelerate this one; as in MuJoCo, it is no load of friction."""
    for i in range(np.uint64(lanes)):
        s[state.EXTERNAL + i] += s[state.LOAD_ACROSS + i]
