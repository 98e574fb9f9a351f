# SPDX-License-Identifier: Apache-2.0
"""The firmware of a position servo: commands in force, set-point, the position it sees, its demand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.servo.firmware import SLACK
from bam_core.simulation.delay import whole_steps
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import ENABLED, GOAL, MEASURED, SUPPLY, LogRows, Stepping

# Adding 1.5·2^52 to a double rounds it to an integer.
_ROUNDER = 6755399441055744.0


@compiled_lanes
def set_up(s: Array, c: Array, lanes: int, now: Array, logs: LogRows, start: Any, stepping: Stepping) -> None:
    """Work out gains, limits and the set-point at the start; `now` is (4, lanes) of the first step."""
    for i in range(np.uint64(lanes)):
        feedback = logs.feedback[start + i]
        s[state.FEEDBACK + i] = feedback
        gain = 1.0 + feedback * c[candidate.FIRMWARE_GAIN + i]
        s[state.GAIN + i] = logs.stiffness[start + i] * gain
        s[state.RATE_GAIN + i] = logs.damping[start + i] * math.sqrt(gain)
        s[state.LIMIT + i] = logs.demand_limit[start + i] * (1.0 - c[candidate.LIMIT_SHORTFALL + i])
        s[state.ENABLED + i] = now[ENABLED, start + i]
        s[state.SET_POINT + i] = now[GOAL, start + i]
        slew_time = c[candidate.GOAL_SLEW_TIME + i]
        s[state.RATE_TIME + i] = logs.rate_time[start + i]
        s[state.PAST_ERROR + i] = math.nan
        s[state.INTEGRAL_RATE + i] = logs.integral_rate[start + i]
        s[state.INTEGRAL + i] = s[state.MEASURED_INTEGRAL + i] = logs.integral[start + i]
        stiffness = s[state.GAIN + i]
        s[state.INTEGRAL_LIMIT + i] = s[state.LIMIT + i] / stiffness if stiffness > 0.0 else 0.0
        s[state.SET_ACCELERATION + i] = logs.goal_acceleration[start + i] * feedback
        speed = 1.0 / slew_time if slew_time > 0.0 else stepping.goal_speed_limit
        s[state.FARTHEST + i] = stepping.dt * (speed if feedback > 0.0 else math.inf)


@compiled_lanes
def command_delays(c: Array, lanes: int, dt: float, steps: int) -> tuple[NDArray[np.int64], Array]:
    """Return by how many whole steps commands are late, and the share of one step beyond, each (lanes,)."""
    late = np.zeros(lanes, dtype=np.int64)
    late_share = np.zeros(lanes)
    for i in range(np.uint64(lanes)):
        delay = c[candidate.COMMAND_DELAY + i] / dt
        late[i] = whole_steps(delay, steps)
        late_share[i] = delay - late[i]
    return late, late_share


@compiled_lanes
def command(
    s: Array,
    lanes: int,
    signals: Array,
    start: Any,
    k: int,
    late: NDArray[np.int64],
    late_share: Array,
) -> None:
    """Add this step's error, then read the commands in force.

    They are those of `late` steps before; to a share `late_share`, those of one more.
    """
    now = float(k)
    last = signals.shape[0] - 1
    for i in range(np.uint64(lanes)):
        error = abs(s[state.POSITION + i] - signals[k, MEASURED, start + i])
        s[state.ERROR + i] += error if now < s[state.LENGTH + i] else 0.0
        step = min(max(k - late[i], 0), last)
        earlier = min(max(k - late[i] - 1, 0), last)
        share = late_share[i]
        goal = signals[step, GOAL, start + i]
        s[state.GOAL + i] = goal + share * (signals[earlier, GOAL, start + i] - goal)
        s[state.SUPPLY + i] = signals[k, SUPPLY, start + i]
        s[state.WAS_ENABLED + i] = s[state.ENABLED + i]
        enabled = signals[step, ENABLED, start + i]
        s[state.ENABLED + i] = enabled + share * (signals[earlier, ENABLED, start + i] - enabled)


@compiled_lanes
def follow_goal(s: Array, lanes: int, share: float) -> None:
    """Let the set-point follow the goal as far as it may in this step; with torque off it is the servo's.

    The firmware works with the mean of its set-points in the step: `share` of the way where the set-point is
    under way throughout, and the more of it the sooner it arrives.
    """
    for i in range(np.uint64(lanes)):
        goal, before, most = s[state.GOAL + i], s[state.SET_POINT + i], s[state.FARTHEST + i]
        ahead = goal - before
        moved = min(max(ahead, -most), most)
        point = before + moved if abs(ahead) > most else goal
        is_off = s[state.ENABLED + i] <= 0.0
        s[state.SET_POINT + i] = s[state.POSITION + i] if is_off else point
        s[state.GOAL + i] = (
            s[state.POSITION + i] if is_off else point - (1.0 - share) * moved * (abs(moved) / most)
        )


@compiled_lanes
def profile_goal(s: Array, lanes: int, dt: float, periods: int) -> None:
    """Let the set-point follow the goal with limited acceleration, see `PositionFirmware.profiled`.

    The firmware works with the mean of its set-points in the step, one for each of its `periods`.
    """
    time = dt / periods
    for i in range(np.uint64(lanes)):
        goal, acceleration = s[state.GOAL + i], s[state.SET_ACCELERATION + i]
        point, speed, most = s[state.SET_POINT + i], s[state.SET_SPEED + i], s[state.FARTHEST + i] / periods
        change = acceleration * time
        half, fastest, total = 0.5 * change, most / time, 0.0
        for _ in range(periods):
            ahead = goal - point
            if acceleration > 0.0:
                way = 2.0 * acceleration * abs(ahead)
                wanted = math.copysign(min(fastest, way / (half + math.sqrt(half * half + way))), ahead)
                speed += min(max(wanted - speed, -change), change)
                moved = speed * time
                arrives = (
                    (abs(speed) <= change * (1.0 + SLACK))
                    & (speed * ahead >= 0.0)
                    & (abs(moved) >= abs(ahead))
                )
                point = goal if arrives else point + moved
                speed = 0.0 if arrives else speed
            else:
                point = point + min(max(ahead, -most), most) if abs(ahead) > most else goal
            total += point
        is_off = s[state.ENABLED + i] <= 0.0
        s[state.SET_POINT + i] = s[state.POSITION + i] if is_off else point
        s[state.SET_SPEED + i] = 0.0 if is_off else speed
        s[state.GOAL + i] = s[state.POSITION + i] if is_off else total / periods


@compiled_lanes
def add_ripple(s: Array, c: Array, lanes: int, ripple: Array, start: Any) -> None:
    """Let a share of the ripple of the supply count; `ripple` is (lanes,) of this step."""
    for i in range(np.uint64(lanes)):
        s[state.SUPPLY + i] += c[candidate.SUPPLY_RIPPLE + i] * ripple[start + i]


@compiled_lanes
def see(s: Array, c: Array, lanes: int, lead: float) -> None:
    """Let the firmware see the position `lead` s from now, as old as it may be."""
    for i in range(np.uint64(lanes)):
        s[state.SEEN + i] = (
            s[state.POSITION + i] + (lead - c[candidate.SENSOR_DELAY + i]) * s[state.VELOCITY + i]
        )


@compiled_lanes
def count(s: Array, c: Array, lanes: int, resolution: float) -> None:
    """Let the firmware see whole counts of its encoder, where it does."""
    for i in range(np.uint64(lanes)):
        seen = s[state.SEEN + i]
        counts = (seen / resolution + _ROUNDER) - _ROUNDER
        s[state.SEEN + i] = seen + c[candidate.ENCODER_QUANTISATION + i] * (resolution * counts - seen)


@compiled_lanes
def differentiate(s: Array, lanes: int, period: float) -> None:
    """Let the firmware find by how much its error has changed since its last demand, `period` s before."""
    for i in range(np.uint64(lanes)):
        error, before = s[state.GOAL + i] - s[state.SEEN + i], s[state.PAST_ERROR + i]
        s[state.RATE + i] = -s[state.VELOCITY + i] if math.isnan(before) else (error - before) / period
        s[state.PAST_ERROR + i] = math.nan if s[state.ENABLED + i] <= 0.0 else error


@compiled_lanes
def add_rate(s: Array, lanes: int) -> None:
    """Let the firmware see what its derivative gain adds to the error, as another position."""
    for i in range(np.uint64(lanes)):
        s[state.SEEN + i] -= s[state.RATE_TIME + i] * s[state.RATE + i]


@compiled_lanes
def forget_rate(s: Array, lanes: int) -> None:
    """Let the next error be the first one: positions start anew."""
    for i in range(np.uint64(lanes)):
        s[state.PAST_ERROR + i] = math.nan


@compiled_lanes
def integrate(s: Array, lanes: int, period: float, dead_band: float) -> None:
    """Let the firmware sum its error for a demand of `period` s; see `PositionFirmware.integrated`."""
    for i in range(np.uint64(lanes)):
        error = s[state.GOAL + i] - s[state.SEEN + i]
        grown = _grown(s, i, s[state.INTEGRAL + i], error, period, dead_band)
        s[state.INTEGRAL + i] = 0.0 if s[state.ENABLED + i] <= 0.0 else grown


@compiled_lanes
def integrate_measured(s: Array, lanes: int, now: Array, start: Any, dt: float, dead_band: float) -> None:
    """Sum the errors that the servo had in the recording, with which its simulation starts anew.

    `now` is (4, lanes) of this step.
    """
    for i in range(np.uint64(lanes)):
        error = s[state.GOAL + i] - now[MEASURED, start + i]
        grown = _grown(s, i, s[state.MEASURED_INTEGRAL + i], error, dt, dead_band)
        s[state.MEASURED_INTEGRAL + i] = 0.0 if s[state.ENABLED + i] <= 0.0 else grown


@compiled_lanes
def restart_integral(s: Array, lanes: int) -> None:
    """Let the integral be that of the measured errors: positions start anew."""
    for i in range(np.uint64(lanes)):
        s[state.INTEGRAL + i] = s[state.MEASURED_INTEGRAL + i]


@compiled_lanes
def _grown(s: Array, i: Any, integral: float, error: float, period: float, dead_band: float) -> float:
    counted = error if abs(error) > dead_band else 0.0
    most = s[state.INTEGRAL_LIMIT + i]
    return min(max(integral + s[state.INTEGRAL_RATE + i] * counted * period, -most), most)


@compiled_lanes
def add_integral(s: Array, lanes: int) -> None:
    """Let the firmware see what its integral gain adds to the error, as another position."""
    for i in range(np.uint64(lanes)):
        s[state.SEEN + i] -= s[state.INTEGRAL + i]


@compiled_lanes
def shape_error(s: Array, lanes: int, dead_band: float, offset: float) -> None:
    """Let the firmware see an error that its dead band and offset have shaped, as another position."""
    for i in range(np.uint64(lanes)):
        error = s[state.GOAL + i] - s[state.SEEN + i]
        more = offset if error > 0.0 else -offset
        shaped = error + more if abs(error) > dead_band else 0.0
        s[state.SEEN + i] = s[state.GOAL + i] - shaped


@compiled_lanes
def demand_voltage(s: Array, c: Array, lanes: int) -> None:
    """Let the firmware set the voltage (eq. 12)."""
    for i in range(np.uint64(lanes)):
        limit = s[state.LIMIT + i]
        duty = s[state.GAIN + i] * (s[state.GOAL + i] - s[state.FEEDBACK + i] * s[state.SEEN + i])
        duty = min(max(duty, -limit), limit)
        s[state.CLOSED + i] = 1.0 - c[candidate.BRIDGE_COASTING + i] * (1.0 - abs(duty))
        s[state.DEMAND + i] = duty * s[state.SUPPLY + i]


@compiled_lanes
def demand_current(s: Array, lanes: int, lead_in_half_steps: float) -> None:
    """Let the firmware ask for a current (eq. 14), which the supply may not be able to bring about."""
    for i in range(np.uint64(lanes)):
        limit = s[state.LIMIT + i]
        velocity = s[state.VELOCITY + i] + lead_in_half_steps * s[state.AHEAD + i]
        current = (
            s[state.GAIN + i] * (s[state.GOAL + i] - s[state.SEEN + i]) - s[state.RATE_GAIN + i] * velocity
        )
        s[state.DEMAND + i] = min(max(current, -limit), limit)


@compiled_lanes
def demand_voltage_in_time(s: Array, lanes: int, now: Array, start: Any, step: float, lead: float) -> None:
    """`command` to `demand_voltage` in one, where the firmware is as in its law and nothing is late.

    `now` is (4, lanes) of this step.
    """
    for i in range(np.uint64(lanes)):
        position = s[state.POSITION + i]
        error = abs(position - now[MEASURED, start + i])
        s[state.ERROR + i] += error if step < s[state.LENGTH + i] else 0.0
        seen = position + lead * s[state.VELOCITY + i]
        duty = s[state.GAIN + i] * (now[GOAL, start + i] - s[state.FEEDBACK + i] * seen)
        limit = s[state.LIMIT + i]
        s[state.DEMAND + i] = min(max(duty, -limit), limit) * now[SUPPLY, start + i]
        s[state.WAS_ENABLED + i] = s[state.ENABLED + i]
        s[state.ENABLED + i] = now[ENABLED, start + i]
