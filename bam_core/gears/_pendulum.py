# SPDX-License-Identifier: Apache-2.0
"""A servo with a gear on the pendulum bench, compiled; see `rollout.py`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.gears.internal_force import friction_range
from bam_core.simulation import law
from bam_core.simulation.delay import whole_steps
from bam_core.simulation.rows import ENABLED, GOAL, MEASURED, SUPPLY, VELOCITY_LIMIT, LaneInputs, Stepping


class Outcome(NamedTuple):
    """What a simulation fills in.

    Attributes:
        ends: (recordings + 1,), where the samples of each recording begin and end in `trace`; given.
        stride: periods between samples of `trace`; given.
        errors: (candidates, recordings) mean absolute error, rad.
        trace: (candidates, samples) rad.
    """

    ends: NDArray[np.intp]
    stride: int
    errors: Array
    trace: Array


@compiled()
def motor(
    demand: float,
    supply: float,
    enabled: float,
    velocity: float,
    torque_constant: float,
    resistance: float,
    by_current: bool,
) -> tuple[float, float]:
    """Return the motor's torque, N·m, and its back-EMF damping, N·m·s/rad (BAM eqs. 12-15)."""
    damping = torque_constant * torque_constant / resistance * enabled
    back_emf = torque_constant * velocity
    if not by_current:
        return law.voltage_torque(torque_constant / resistance, demand * supply, back_emf) * enabled, damping
    current = law.limited_current(demand, supply, back_emf, resistance)
    is_kept = (-supply - back_emf) / resistance < demand < (supply - back_emf) / resistance
    return torque_constant * (current * enabled), 0.0 if is_kept else damping


@compiled()
def simulate(
    candidates: Array, inputs: LaneInputs, lanes: NDArray[np.intp], stepping: Stepping, outcome: Outcome
) -> None:
    """Simulate candidates on recordings, with the "midpoint" integrator.

    Args:
        candidates: (candidates, GEAR_PARAMETERS) SI.
        inputs: packed logs.
        lanes: of the recordings.
        stepping: how to follow them.
        outcome: to be filled in.
    """
    signals, logs = inputs.signals, inputs.logs
    dt, substeps = stepping.dt, stepping.substeps
    h = dt / substeps
    for row in range(candidates.shape[0]):
        kt, resistance, armature = candidates[row, :3]
        u, v, offset, delay = candidates[row, 8:]
        friction = law.without_load(candidates[row, 3:8])
        last = signals.shape[0] - 1
        late = whole_steps(delay / dt, signals.shape[0])
        share = delay / dt - late
        for column in range(len(lanes)):
            lane = lanes[column]
            length, M, gravity = int(logs.length[lane]), logs.inertia[lane], logs.gravity_torque[lane]
            position, speed = logs.position[lane], logs.velocity[lane]
            stiffness, damping, limit = logs.stiffness[lane], logs.damping[lane], logs.demand_limit[lane]
            total = 0.0
            point, point_speed, acceleration = signals[0, GOAL, lane], 0.0, logs.goal_acceleration[lane]
            overload, commanded = 0.0, signals[0, GOAL, lane]
            rate_time, past = logs.rate_time[lane], math.nan
            integral_rate, integral = logs.integral_rate[lane], logs.integral[lane]
            measured_integral = integral
            trip, threshold = stepping.overload_trip, stepping.overload_threshold * limit
            for k in range(length):
                if stepping.restart > 0 and k % stepping.restart == stepping.restart // 2:
                    piece = k // stepping.restart
                    position, speed = inputs.restarts[piece, 0, lane], inputs.restarts[piece, 1, lane]
                    past, integral = math.nan, measured_integral
                if k % outcome.stride == 0:
                    outcome.trace[row, outcome.ends[column] + k // outcome.stride] = position
                total += abs(position - signals[k, MEASURED, lane])
                now, before = min(max(k - late, 0), last), min(max(k - late - 1, 0), last)
                goal = signals[now, GOAL, lane] * (1.0 - share) + signals[before, GOAL, lane] * share
                enabled = signals[now, ENABLED, lane] * (1.0 - share) + signals[before, ENABLED, lane] * share
                if enabled > 0.0:
                    point, point_speed = law.profiled(
                        point, point_speed, goal, dt, stepping.goal_speed_limit, acceleration
                    )
                else:
                    point, point_speed = position, 0.0
                error = law.shaped_error(point - position, stepping.dead_band, stepping.error_offset)
                if rate_time > 0.0:
                    error += rate_time * (-speed if math.isnan(past) else (point - position - past) / dt)
                    past = point - position if enabled > 0.0 else math.nan
                if integral_rate > 0.0:
                    growth, most = integral_rate * dt, limit / stiffness
                    seen = signals[k, MEASURED, lane]
                    integral = law.integrated(integral, point - position, growth, most, stepping.dead_band)
                    measured_integral = law.integrated(
                        measured_integral, point - seen, growth, most, stepping.dead_band
                    )
                    if enabled <= 0.0:
                        integral = measured_integral = 0.0
                    error += integral
                if enabled > 0.0:
                    overload = law.overload_after_goal(overload, commanded, goal, trip, stepping.resolution)
                else:
                    overload = 0.0
                is_protected = overload >= trip
                commanded = commanded if is_protected else goal
                allowed = stepping.overload_limit * limit if is_protected else limit
                wanted = law.demand(error, speed, stiffness, damping, limit)
                if enabled > 0.0:
                    overload = law.overload_after_demand(overload, wanted, threshold, trip, dt)
                demand = min(max(wanted, -allowed), allowed)
                for _ in range(substeps):
                    drive, back_emf_damping = motor(
                        demand,
                        signals[k, SUPPLY, lane],
                        enabled,
                        speed,
                        kt,
                        resistance,
                        stepping.regulates_current,
                    )
                    load = gravity * math.sin(position + 0.5 * h * speed - offset)
                    m = armature + 0.5 * h * back_emf_damping
                    inertia = m + M
                    feedback = (u * m - v * M) / inertia
                    phi = u * drive + v * load - feedback * (drive - load)
                    extra = law.budget(friction, 0.0, 0.0, speed)
                    lowest, highest = friction_range(phi, feedback, extra)
                    needed = inertia / h * speed + (drive - load)
                    left = needed - min(max(needed, lowest), highest)
                    after = min(max(left * h / inertia, -VELOCITY_LIMIT), VELOCITY_LIMIT)
                    position += 0.5 * (speed + after) * h
                    speed = after
            outcome.errors[row, column] = total / length
