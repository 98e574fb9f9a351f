# SPDX-License-Identifier: Apache-2.0
"""The firmware's protection from overload; see `servo/protection.py`."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.kernel import state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import Stepping


@compiled_lanes
def set_up(s: Array, lanes: int) -> None:
    """Keep the limits that servos have without protection."""
    for i in range(np.uint64(lanes)):
        s[state.OWN_LIMIT + i] = s[state.LIMIT + i]


@compiled_lanes
def notice_goal(s: Array, lanes: int, trip: float, count: float) -> None:
    """Let another goal, or torque off, end protection; to be called before set-points follow goals."""
    for i in range(np.uint64(lanes)):
        goal, last_goal = s[state.GOAL + i], s[state.LAST_GOAL + i]
        overload = s[state.OVERLOAD + i]
        is_new = abs(goal - last_goal) > 0.5 * count
        overload = 0.0 if ((overload >= trip) & is_new) | (s[state.ENABLED + i] <= 0.0) else overload
        s[state.OVERLOAD + i] = overload
        s[state.LAST_GOAL + i] = last_goal if overload >= trip else goal


@compiled_lanes
def protect(s: Array, lanes: int, stepping: Stepping, period: float, lead_in_half_steps: float) -> None:
    """Limit the demand that follows where overload has lasted; let it count as overload where it is.

    `period` is the time for which it holds, s. A duty that is commanded in open loop is never overload.
    """
    trip, threshold, share = stepping.overload_trip, stepping.overload_threshold, stepping.overload_limit
    for i in range(np.uint64(lanes)):
        own, overload = s[state.OWN_LIMIT + i], s[state.OVERLOAD + i]
        velocity = s[state.VELOCITY + i] + lead_in_half_steps * s[state.AHEAD + i]
        wanted = (
            s[state.GAIN + i] * (s[state.GOAL + i] - s[state.SEEN + i]) - s[state.RATE_GAIN + i] * velocity
        )
        is_protected = overload >= trip
        is_watched = (s[state.ENABLED + i] > 0.0) & (s[state.FEEDBACK + i] > 0.0)
        is_over = is_watched & (abs(wanted) >= threshold * own)
        longer = overload + period if is_over else 0.0
        s[state.LIMIT + i] = share * own if is_protected else own
        s[state.OVERLOAD + i] = overload if is_protected else longer
