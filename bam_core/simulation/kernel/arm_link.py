# SPDX-License-Identifier: Apache-2.0
"""An arm behind a link with play and spring, not the rigid one of `bench.py`; see `servo/arm_link.py`."""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.arm_link import (
    DAMPING_RATIO,
    LEAST_COMPLIANCE,
    LEAST_INNER_SHARE,
    LEAST_SLOPE,
    REST_ITERATIONS,
)
from bam_core.simulation import _vector_math as vm
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import VELOCITY_LIMIT


@compiled_lanes
def has_link(s: Array, c: Array, lanes: int) -> bool:
    """Note which candidates' arms are on a link that matters; return whether any is."""
    on = False
    for i in range(np.uint64(lanes)):
        linked = (
            c[candidate.ARM_COMPLIANCE + i] > LEAST_COMPLIANCE
            or c[candidate.ARM_BACKLASH + i] > LEAST_COMPLIANCE
        )
        linked = linked and s[state.BENCH_INERTIA + i] > 0.0
        s[state.LINKED + i] = 1.0 if linked else 0.0
        on = on or linked
    return on


@compiled_lanes
def start_link(s: Array, c: Array, lanes: int, dt: float) -> None:
    """Hang the arm on its link at rest, and work out the link's constants."""
    for i in range(np.uint64(lanes)):
        bench = s[state.BENCH_INERTIA + i]
        inner = max(c[candidate.ARMATURE + i], LEAST_INNER_SHARE * bench)
        reduced = inner * bench / (inner + bench)
        compliance = max(c[candidate.ARM_COMPLIANCE + i], dt * dt / reduced)
        stiffness = 1.0 / compliance
        damping = 2.0 * DAMPING_RATIO * math.sqrt(stiffness * reduced)
        softening = 1.0 + 0.5 * dt * (damping + 0.5 * dt * stiffness) / reduced
        s[state.LINK_STIFFNESS + i] = stiffness / softening
        s[state.LINK_DAMPING + i] = damping / softening
        s[state.BENCH_MOBILITY + i] = 1.0 / bench
        held = s[state.POSITION + i] - c[candidate.ZERO_OFFSET + i]
        hangs = held
        play = 0.5 * c[candidate.ARM_BACKLASH + i]
        taken = held - min(max(held, -play), play)  # where the play is taken up
        for _ in range(REST_ITERATIONS):
            excess = hangs + compliance * s[state.GRAVITY + i] * math.sin(hangs) - taken
            slope = 1.0 + compliance * s[state.GRAVITY + i] * math.cos(hangs)
            hangs -= excess / max(slope, LEAST_SLOPE)
        s[state.ARM_POSITION + i] = hangs + c[candidate.ZERO_OFFSET + i]
        s[state.ARM_VELOCITY + i] = s[state.VELOCITY + i]


@compiled_lanes
def apply_link_torque(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """Torque of an arm that swings behind a link with play and spring.

    Lanes whose link is rigid are as in `bench.apply_gravity`: candidates do not affect each other.
    """
    for i in range(np.uint64(lanes)):
        linked = s[state.LINKED + i] != 0.0
        arm = s[state.ARM_POSITION + i]
        speed = s[state.ARM_VELOCITY + i]
        slip = s[state.VELOCITY + i] - speed
        twist = s[state.POSITION + i] - arm + half_step * slip
        bent = max(abs(twist) - 0.5 * c[candidate.ARM_BACKLASH + i], 0.0)
        bent = bent if twist > 0.0 else -bent
        damping = s[state.LINK_DAMPING + i] if bent != 0.0 else 0.0
        torque = s[state.LINK_STIFFNESS + i] * bent + damping * slip
        outer = arm + half_step * speed
        inner = s[state.POSITION + i] + half_step * s[state.VELOCITY + i]
        angle = (outer if linked else inner) - c[candidate.ZERO_OFFSET + i]
        gravity = -s[state.GRAVITY + i] * vm.sin(angle)
        gained = (torque + gravity) * s[state.BENCH_MOBILITY + i] * dt
        s[state.ARM_POSITION + i] = arm + (speed + 0.5 * gained) * dt
        s[state.ARM_VELOCITY + i] = min(max(speed + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        s[state.EXTERNAL + i] = -torque if linked else gravity
        s[state.INERTIA + i] += 0.0 if linked else s[state.BENCH_INERTIA + i]
