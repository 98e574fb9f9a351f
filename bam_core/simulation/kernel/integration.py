# SPDX-License-Identifier: Apache-2.0
"""The integrators: friction applied within its budget, and one step of the servo's state."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import VELOCITY_LIMIT


@compiled_lanes
def advance(s: Array, c: Array, lanes: int, dt: float, rate: float, semi_implicit: float) -> None:
    """Applied friction (eqs. 4, 5) and the update of the state (Algorithm 1, lines 5-9); `rate` is 1/dt."""
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        budget = s[state.BUDGET + i]
        inertia = s[state.INERTIA + i]
        net = s[state.MOTOR + i] + s[state.EXTERNAL + i]
        stop = -(inertia * rate * velocity + net)
        lean = c[candidate.FRICTION_DIRECTION + i] * budget
        friction = min(max(stop, -budget - lean), budget - lean)
        gained = (net + friction) / inertia * dt
        s[state.POSITION + i] += (velocity + (0.5 + semi_implicit) * gained) * dt
        s[state.VELOCITY + i] = min(max(velocity + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)


@compiled_lanes
def advance_in_pieces(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """`advance` of second order: friction changes where the velocity reaches zero, not at the step's end.

    Up to that instant it opposes the old motion; from then on it holds the arm or opposes the new motion.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        budget = s[state.BUDGET + i]
        mobility = 1.0 / s[state.INERTIA + i]
        net = s[state.MOTOR + i] + s[state.EXTERNAL + i]
        lean = c[candidate.FRICTION_DIRECTION + i] * budget
        slowed = (net - (budget + lean if velocity > 0.0 else lean - budget)) * mobility
        turned = (net - min(max(net, lean - budget), budget + lean)) * mobility
        free = velocity + slowed * dt
        turns = free * velocity <= 0.0
        until = min(max(-velocity / slowed, 0.0), dt)
        until = until if velocity != 0.0 else 0.0
        until = until if turns else dt
        rest = (dt - until) * s[state.DRIVEN_SHARE + i]
        onward = turned * rest
        s[state.POSITION + i] += (velocity + 0.5 * slowed * until) * until + 0.5 * onward * rest
        after = onward if turns else free
        s[state.VELOCITY + i] = min(max(after, -VELOCITY_LIMIT), VELOCITY_LIMIT)
        s[state.AHEAD + i] = half_step * (turned if turns else slowed)


@compiled_lanes
def is_switching(s: Array, lanes: int) -> bool:
    """Return whether torque goes on or off in any lane during this step."""
    count = 0
    for i in range(np.uint64(lanes)):
        enabled = s[state.ENABLED + i]
        count += int((enabled > 0.0) & (enabled < 1.0))
    return count > 0


@compiled_lanes
def hold_until_switched(s: Array, lanes: int) -> None:
    """Where torque is switched on an arm at rest: friction holds it until then, see `stop_holding`.

    For the rest of the step it gets what the new torque leaves, and not what the mean torque would: that
    might not even let it go, which would start every fall later by a part of a step.
    """
    for i in range(np.uint64(lanes)):
        enabled = s[state.ENABLED + i]
        before = s[state.WAS_ENABLED + i]
        waits = (enabled > 0.0) & (enabled < 1.0) & (enabled != before) & (s[state.VELOCITY + i] == 0.0)
        is_released = enabled < before
        renewed = 0.0 if is_released else s[state.MOTOR + i] / enabled
        share = 1.0 - enabled if is_released else enabled
        s[state.MOTOR + i] = renewed if waits else s[state.MOTOR + i]
        s[state.MIDDLE + i] = renewed if waits else s[state.MIDDLE + i]
        s[state.DRIVEN_SHARE + i] = share if waits else 1.0


@compiled_lanes
def stop_holding(s: Array, lanes: int) -> None:
    """Let the next step be driven as a whole again."""
    for i in range(np.uint64(lanes)):
        s[state.DRIVEN_SHARE + i] = 1.0
