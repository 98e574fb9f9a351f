# SPDX-License-Identifier: Apache-2.0
"""The motor: torque at a voltage or a current, back-EMF, and the heat of its winding."""

from __future__ import annotations

from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import LogRows

_COOLING_RATE = 1.0 / WINDING_COOLING_TIME


@compiled_lanes
def set_up(s: Array, c: Array, lanes: int, logs: LogRows, start: Any) -> None:
    """Work out the conductance and how warm the winding is at the start."""
    for i in range(np.uint64(lanes)):
        s[state.CONDUCTANCE + i] = 1.0 / c[candidate.RESISTANCE + i]
        case = logs.case_temperature_rise[start + i] if c[candidate.WINDING_HEATING + i] > 0.0 else 0.0
        s[state.CASE + i] = case
        s[state.WARMING + i] = case
        s[state.CLOSED + i] = 1.0


@compiled_lanes
def drive(s: Array, c: Array, lanes: int, half_step: float) -> None:
    """Motor torque (eq. 13), inertia of the servo, and the terms of the budget that are never off.

    Back-EMF is that of `half_step` s later, as `integrators.INTEGRATORS` explains; friction is that of the
    velocity expected there.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        ahead = s[state.AHEAD + i]
        torque_constant = c[candidate.TORQUE_CONSTANT + i]
        torque_per_volt = torque_constant * s[state.CONDUCTANCE + i]
        enabled = s[state.ENABLED + i]
        damping = torque_per_volt * torque_constant * enabled
        motor = torque_per_volt * (s[state.DEMAND + i] - torque_constant * velocity) * enabled
        s[state.MOTOR + i] = motor
        s[state.MIDDLE + i] = motor - damping * ahead
        s[state.INERTIA + i] = c[candidate.ARMATURE + i] + half_step * damping
        s[state.BUDGET + i] = c[candidate.VISCOUS + i] * abs(velocity + ahead) + c[candidate.COULOMB + i]


@compiled_lanes
def drive_warm(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """`drive` with saturation, winding heat (see `motor.DcMotor`) and bridge coasting (`ServoEffects`)."""
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        torque_constant = c[candidate.TORQUE_CONSTANT + i]
        back_emf = torque_constant * s[state.CLOSED + i]
        enabled = s[state.ENABLED + i]
        warming = s[state.WARMING + i]
        warm = c[candidate.RESISTANCE + i] * (1.0 + COPPER_COEFFICIENT * warming)
        conductance = enabled / warm
        current = (s[state.DEMAND + i] - back_emf * velocity) * conductance
        share = 1.0 / (1.0 + c[candidate.TORQUE_SATURATION + i] * abs(current))
        damping = torque_constant * back_emf * conductance * share * share
        ahead = s[state.AHEAD + i]
        s[state.MOTOR + i] = torque_constant * current * share
        s[state.MIDDLE + i] = torque_constant * current * share - damping * ahead
        s[state.INERTIA + i] = c[candidate.ARMATURE + i] + half_step * damping
        s[state.BUDGET + i] = c[candidate.VISCOUS + i] * abs(velocity + ahead) + c[candidate.COULOMB + i]
        loss = c[candidate.WINDING_HEATING + i] * warm * current * current
        s[state.WARMING + i] = warming + dt * (loss - (warming - s[state.CASE + i]) * _COOLING_RATE)


@compiled_lanes
def drive_by_current(s: Array, c: Array, lanes: int, dt: float, half_step: float) -> None:
    """As `drive_warm`, with the current that the firmware asks for as far as the supply allows (eq. 15).

    A current that is kept up has no back-EMF; one that the supply limits has that of the voltage law.
    """
    for i in range(np.uint64(lanes)):
        velocity = s[state.VELOCITY + i]
        torque_constant = c[candidate.TORQUE_CONSTANT + i]
        enabled = s[state.ENABLED + i]
        warming = s[state.WARMING + i]
        warm = c[candidate.RESISTANCE + i] * (1.0 + COPPER_COEFFICIENT * warming)
        conductance = 1.0 / warm
        highest = (s[state.SUPPLY + i] - torque_constant * velocity) * conductance
        lowest = (-s[state.SUPPLY + i] - torque_constant * velocity) * conductance
        demand = s[state.DEMAND + i]
        current = min(max(demand, lowest), highest) * enabled
        share = 1.0 / (1.0 + c[candidate.TORQUE_SATURATION + i] * abs(current))
        damping = torque_constant * torque_constant * conductance * enabled * share * share
        damping = damping if (demand <= lowest) | (demand >= highest) else 0.0
        ahead = s[state.AHEAD + i]
        s[state.MOTOR + i] = torque_constant * current * share
        s[state.MIDDLE + i] = torque_constant * current * share - damping * ahead
        s[state.INERTIA + i] = c[candidate.ARMATURE + i] + half_step * damping
        s[state.BUDGET + i] = c[candidate.VISCOUS + i] * abs(velocity + ahead) + c[candidate.COULOMB + i]
        loss = c[candidate.WINDING_HEATING + i] * warm * current * current
        s[state.WARMING + i] = warming + dt * (loss - (warming - s[state.CASE + i]) * _COOLING_RATE)
