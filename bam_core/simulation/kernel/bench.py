# SPDX-License-Identifier: Apache-2.0
"""The pendulum bench: its inertia and gravity, and the state in which a log puts it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.pendulum import GRAVITY
from bam_core.simulation import _vector_math as vm
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import LogRows


@compiled_lanes
def set_up(s: Array, c: Array, lanes: int, logs: LogRows, start: Any) -> None:
    """Put servos where their logs start, and mount the bench's arm and load on them."""
    for i in range(np.uint64(lanes)):
        s[state.POSITION + i] = logs.position[start + i]
        s[state.VELOCITY + i] = logs.velocity[start + i]
        length = logs.arm_length[start + i]
        arm = c[candidate.ARM_MASS + i]
        inertia = logs.inertia[start + i] + arm / 3.0 * length * length
        s[state.BENCH_INERTIA + i] = inertia + logs.load_mass[start + i] * c[candidate.LOAD_GYRATION + i] ** 2
        s[state.GRAVITY + i] = logs.gravity_torque[start + i] + arm / 2.0 * GRAVITY * length


@compiled_lanes
def apply_gravity(s: Array, c: Array, lanes: int, half_step: float) -> None:
    """Gravity torque (eq. 1) of `half_step` s later, and the inertia of the arm."""
    for i in range(np.uint64(lanes)):
        angle = s[state.POSITION + i] + half_step * s[state.VELOCITY + i] - c[candidate.ZERO_OFFSET + i]
        s[state.EXTERNAL + i] = -s[state.GRAVITY + i] * vm.sin(angle)
        s[state.INERTIA + i] += s[state.BENCH_INERTIA + i]


@compiled_lanes
def restart(s: Array, lanes: int, states: Array, start: Any) -> None:
    """Put servos where they were measured, `states` (2, lanes).

    What nobody measured goes on: the winding's warmth, a set-point on its way, the time of overload, and by
    how much the arm is off behind its link.
    """
    for i in range(np.uint64(lanes)):
        position, velocity = states[0, start + i], states[1, start + i]
        s[state.ARM_POSITION + i] += position - s[state.POSITION + i]
        s[state.ARM_VELOCITY + i] += velocity - s[state.VELOCITY + i]
        s[state.POSITION + i] = position
        s[state.VELOCITY + i] = velocity
