# SPDX-License-Identifier: Apache-2.0
"""The simulation of a block of lanes from the start of its logs to their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.integrators import INTEGRATORS
from bam_core.simulation.kernel import (
    arm_link,
    bench,
    firmware,
    friction,
    integration,
    joint_load,
    motor,
    protection,
    state,
)
from bam_core.simulation.kernel.lanes import BLOCK, compiled_lanes
from bam_core.simulation.kernel.parts import parts_of
from bam_core.simulation.rows import LaneArrays, LogRows, Stepping, SteppingValues

_MIDPOINT = INTEGRATORS.index("midpoint")
_SEMI_IMPLICIT = INTEGRATORS.index("semi_implicit")


@compiled_lanes
def _set_up(
    s: Array,
    c: Array,
    lanes: int,
    candidates: Array,
    now: Array,
    logs: LogRows,
    start: Any,
    stepping: Stepping,
) -> None:
    """Fill in candidates and the state in which they start; `now` is (4, lanes) of the first step."""
    for i in range(np.uint64(lanes)):
        for row in range(np.uint64(candidates.shape[1])):
            c[np.uint64(row * np.uint64(BLOCK)) + i] = candidates[i, row]
        s[state.LENGTH + i] = logs.length[start + i]
    firmware.set_up(s, c, lanes, now, logs, start, stepping)
    protection.set_up(s, lanes)
    motor.set_up(s, c, lanes, logs, start)
    bench.set_up(s, c, lanes, logs, start)
    friction.set_up(s, c, lanes, logs, start)
    integration.stop_holding(s, lanes)


@compiled_lanes
def simulate_block(
    candidates: Array,
    first: int,
    lanes: int,
    lane_arrays: LaneArrays,
    stepping_values: SteppingValues,
    mae: Array,
    trace: Array,
) -> None:
    """Simulate one block of lanes, each one candidate on one log.

    The demand is computed in every `stepping.renewal`-th substep, at first in that with which a step starts,
    and held until the next time; the integrator runs once per substep.

    Args:
        candidates: (lanes, PARAMETERS): a row of `rollout.PARAMETERS` for every lane.
        first: first lane of the block, counted over all lanes of the packed logs.
        lanes: count, a multiple of LANES, at most BLOCK.
        lane_arrays: all lanes, as of `LaneInputs`.
        stepping_values: how to follow them, as of `Stepping`.
        mae: (lanes,) rad; receives the mean absolute error over the length of each log.
        trace: (2, steps, lanes); receives positions and velocities, unless it is empty.
    """
    signals, ripple, log_rows, restarts, loads = lane_arrays
    logs, stepping = LogRows(*log_rows), Stepping(*stepping_values)
    dt, substeps, regulates_current = stepping.dt, stepping.substeps, stepping.regulates_current
    renewal, lead = stepping.renewal, stepping.lead
    s = np.zeros(state.ROWS * BLOCK)
    c = np.zeros(candidates.shape[1] * BLOCK)
    start = np.uint64(first)
    _set_up(s, c, lanes, candidates, signals[0], logs, start, stepping)
    late, late_share = firmware.command_delays(c, lanes, dt, signals.shape[0])
    on = parts_of(s, c, lanes, ripple.size > 0, stepping)
    has_link = arm_link.has_link(s, c, lanes)
    is_joint = loads.size > 0
    opposing = 1.0 if stepping.opposing_only else 0.0
    substep = dt / substeps
    is_midpoint = stepping.integrator == _MIDPOINT
    # `slew_share` is ½(1 + period / dt).
    periods = round(1.0 / (2.0 * stepping.slew_share - 1.0)) if on.profile else 1
    half_step = 0.5 * substep if is_midpoint else 0.0
    semi_implicit = 1.0 if stepping.integrator == _SEMI_IMPLICIT else 0.0
    # Integrators but midpoint know nothing of the velocity ahead: `state.AHEAD` stays zero there.
    lead_in_half_steps = lead / half_step if is_midpoint else 0.0
    if has_link:
        arm_link.start_link(s, c, lanes, substep)
    for k in range(int(logs.length[first : first + lanes].max())):
        if stepping.restart > 0 and k % stepping.restart == stepping.restart // 2:
            bench.restart(s, lanes, restarts[k // stepping.restart], start)
            if on.rate:
                firmware.forget_rate(s, lanes)
            if on.integral:
                firmware.restart_integral(s, lanes)
        if trace.size > 0:
            for i in range(np.uint64(lanes)):
                trace[0, k, i] = s[state.POSITION + i]
                trace[1, k, i] = s[state.VELOCITY + i]
        if on.plain_firmware:
            firmware.demand_voltage_in_time(s, lanes, signals[k], start, float(k), lead)
        else:
            firmware.command(s, lanes, signals, start, k, late, late_share)
            if on.protection:
                protection.notice_goal(s, lanes, stepping.overload_trip, stepping.resolution)
            if on.profile:
                firmware.profile_goal(s, lanes, dt, periods)
            elif on.slew:
                firmware.follow_goal(s, lanes, stepping.slew_share)
            if on.integral and stepping.restart > 0:
                firmware.integrate_measured(s, lanes, signals[k], start, dt, stepping.dead_band)
            if on.ripple:
                firmware.add_ripple(s, c, lanes, ripple[k], start)
        if is_joint:
            middle = float(k % stepping.knot) + (0.5 if is_midpoint else 0.0)
            joint_load.take_load(s, lanes, loads, k // stepping.knot, middle / stepping.knot, start)
        switches = is_midpoint and integration.is_switching(s, lanes)
        for j in range(substeps):
            if not on.plain_firmware and j % renewal == 0:
                firmware.see(s, c, lanes, lead)
                if on.counts:
                    firmware.count(s, c, lanes, stepping.resolution)
                if on.rate:
                    firmware.differentiate(s, lanes, substep * renewal)
                if on.integral:
                    firmware.integrate(s, lanes, substep * renewal, stepping.dead_band)
                if on.error_shape:
                    firmware.shape_error(s, lanes, stepping.dead_band, stepping.error_offset)
                if on.rate:
                    firmware.add_rate(s, lanes)
                if on.integral:
                    firmware.add_integral(s, lanes)
                if on.protection:
                    protection.protect(s, lanes, stepping, substep * renewal, lead_in_half_steps)
                if regulates_current:
                    firmware.demand_current(s, lanes, lead_in_half_steps)
                else:
                    firmware.demand_voltage(s, c, lanes)
            if regulates_current:
                motor.drive_by_current(s, c, lanes, substep, half_step)
            elif on.motor_effects:
                motor.drive_warm(s, c, lanes, substep, half_step)
            else:
                motor.drive(s, c, lanes, half_step)
            if has_link:
                arm_link.apply_link_torque(s, c, lanes, substep, half_step)
            elif is_joint:
                joint_load.apply_load(s, lanes, half_step)
            else:
                bench.apply_gravity(s, c, lanes, half_step)
            if on.load_inertia:
                friction.apply_inertial_load(s, c, lanes)
            if switches:
                integration.hold_until_switched(s, lanes)
            if on.load:
                friction.add_load(s, c, lanes)
            if on.stribeck:
                friction.add_stribeck(s, c, lanes, opposing)
            if on.load_inertia:
                friction.remove_inertial_load(s, lanes)
            if is_joint:
                joint_load.add_across(s, lanes)
            if is_midpoint:
                integration.advance_in_pieces(s, c, lanes, substep, half_step)
            else:
                integration.advance(s, c, lanes, substep, 1.0 / substep, semi_implicit)
            if switches:
                integration.stop_holding(s, lanes)
            if on.load_inertia:
                friction.note_acceleration(s, lanes, 1.0 / substep)
    for i in range(np.uint64(lanes)):
        mae[i] = s[state.ERROR + i] / s[state.LENGTH + i]
