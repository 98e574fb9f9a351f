# SPDX-License-Identifier: Apache-2.0
"""A servo with a gear on the pendulum bench, compiled; see `rollout.py`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.gears.internal_force import compiled, friction_range
from bam_core.simulation.kernel import whole_steps
from bam_core.simulation.reference import VELOCITY_LIMIT

Array = NDArray[np.float64]


@compiled
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
    if not by_current:
        driving = demand * supply - torque_constant * velocity
        return torque_constant / resistance * driving * enabled, damping
    highest = (supply - torque_constant * velocity) / resistance
    lowest = (-supply - torque_constant * velocity) / resistance
    current = min(max(demand, lowest), highest) * enabled
    return torque_constant * current, damping if demand <= lowest or demand >= highest else 0.0


@compiled
def simulate(
    candidates: Array,
    signals: Array,
    logs: Array,
    lanes: NDArray[np.intp],
    ends: NDArray[np.intp],
    by_current: bool,
    dt: float,
    substeps: int,
    stride: int,
    errors: Array,
    trace: Array,
) -> None:
    """Simulate candidates on recordings.

    Args:
        candidates: (candidates, GEAR_PARAMETERS) SI.
        signals: as in `packing.PackedLogs`.
        logs: likewise.
        lanes: of the recordings.
        ends: (recordings + 1,), where the samples of each recording begin and end in `trace`.
        by_current: the firmware asks for a current.
        dt: period of the firmware, s.
        substeps: per period.
        stride: periods between samples of `trace`.
        errors: (candidates, recordings) rad, result.
        trace: (candidates, samples) rad, result.
    """
    h = dt / substeps
    for row in range(candidates.shape[0]):
        kt, resistance, armature, viscous, coulomb = candidates[row, :5]
        stribeck, stribeck_velocity, exponent, u, v, offset, delay = candidates[row, 5:]
        last = signals.shape[0] - 1
        late = whole_steps(delay / dt, signals.shape[0])
        share = delay / dt - late
        for column in range(len(lanes)):
            lane = lanes[column]
            length, M, gravity = int(logs[0, lane]), logs[1, lane], logs[2, lane]
            gain, position, speed, rate_gain = logs[3, lane], logs[4, lane], logs[5, lane], logs[7, lane]
            limit = logs[9, lane]
            total = 0.0
            for k in range(length):
                if k % stride == 0:
                    trace[row, ends[column] + k // stride] = position
                total += abs(position - signals[k, 3, lane])
                now, before = min(max(k - late, 0), last), min(max(k - late - 1, 0), last)
                goal = signals[now, 0, lane] * (1.0 - share) + signals[before, 0, lane] * share
                enabled = signals[now, 2, lane] * (1.0 - share) + signals[before, 2, lane] * share
                demand = min(max(gain * (goal - position) - rate_gain * speed, -limit), limit)
                for _ in range(substeps):
                    drive, damping = motor(
                        demand, signals[k, 1, lane], enabled, speed, kt, resistance, by_current
                    )
                    load = gravity * math.sin(position + 0.5 * h * speed - offset)
                    m = armature + 0.5 * h * damping
                    inertia = m + M
                    feedback = (u * m - v * M) / inertia
                    phi = u * drive + v * load - feedback * (drive - load)
                    stribeck_factor = (
                        math.exp(-((abs(speed) / stribeck_velocity) ** exponent)) if stribeck > 0.0 else 0.0
                    )
                    extra = viscous * abs(speed) + coulomb + stribeck * stribeck_factor
                    lowest, highest = friction_range(phi, feedback, extra)
                    wanted = inertia / h * speed + (drive - load)
                    left = wanted - min(max(wanted, lowest), highest)
                    after = min(max(left * h / inertia, -VELOCITY_LIMIT), VELOCITY_LIMIT)
                    position += 0.5 * (speed + after) * h
                    speed = after
            errors[row, column] = total / length
