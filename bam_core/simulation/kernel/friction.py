# SPDX-License-Identifier: Apache-2.0
"""The budget of friction (eq. 10): what temperature, load and Stribeck effect make of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation import _vector_math as vm
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import LogRows


@compiled_lanes
def set_up(s: Array, c: Array, lanes: int, logs: LogRows, start: Any) -> None:
    """Scale friction without load by the temperature of the motor's case; take the Stribeck velocity."""
    for i in range(np.uint64(lanes)):
        warmth = logs.case_temperature_rise[start + i]
        temperature_scale = math.exp(-c[candidate.FRICTION_TEMPERATURE + i] * warmth)
        c[candidate.VISCOUS + i] *= temperature_scale
        c[candidate.COULOMB + i] *= temperature_scale
        c[candidate.STRIBECK_COULOMB + i] *= temperature_scale
        s[state.SPEED_SCALE + i] = 1.0 / c[candidate.STRIBECK_VELOCITY + i]


@compiled_lanes
def apply_inertial_load(s: Array, c: Array, lanes: int) -> None:
    """Add the torque that accelerates the load to τ_e, for it loads the gear and its friction.

    It is that of the step before. An arm on a link loads the gear with its inertia anyway.
    """
    for i in range(np.uint64(lanes)):
        external = s[state.EXTERNAL + i]
        carried = s[state.BENCH_INERTIA + i] * s[state.ACCELERATION + i]
        s[state.ACTING + i] = external
        s[state.STARTING_VELOCITY + i] = s[state.VELOCITY + i]
        s[state.EXTERNAL + i] = external - (
            0.0 if s[state.LINKED + i] != 0.0 else c[candidate.LOAD_INERTIA + i] * carried
        )


@compiled_lanes
def remove_inertial_load(s: Array, lanes: int) -> None:
    """Restore τ_e, which moves the arm."""
    for i in range(np.uint64(lanes)):
        s[state.EXTERNAL + i] = s[state.ACTING + i]


@compiled_lanes
def note_acceleration(s: Array, lanes: int, rate: float) -> None:
    """Keep the acceleration of the step that was made; `rate` is 1/dt."""
    for i in range(np.uint64(lanes)):
        s[state.ACCELERATION + i] = (s[state.VELOCITY + i] - s[state.STARTING_VELOCITY + i]) * rate


@compiled_lanes
def add_load(s: Array, c: Array, lanes: int) -> None:
    """Load-dependent friction, |K_m τ_m - K_e τ_e|."""
    for i in range(np.uint64(lanes)):
        s[state.BUDGET + i] += abs(
            c[candidate.LOAD_MOTOR + i] * s[state.MIDDLE + i]
            - c[candidate.LOAD_EXTERNAL + i] * s[state.EXTERNAL + i]
        )


@compiled_lanes
def add_stribeck(s: Array, c: Array, lanes: int, opposing_only: float) -> None:
    """Friction that fades with speed, s·[K_c^s + |K_m^s τ_m - K_e^s τ_e| + Q] with s = exp(-|θ̇/v_s|^α)."""
    for i in range(np.uint64(lanes)):
        motor = s[state.MIDDLE + i]
        external = s[state.EXTERNAL + i]
        ratio = max(abs(s[state.VELOCITY + i] + s[state.AHEAD + i]) * s[state.SPEED_SCALE + i], vm.SMALLEST)
        stribeck_factor = vm.exp(-vm.exp(c[candidate.STRIBECK_EXPONENT + i] * vm.log(ratio)))
        drives = c[candidate.QUADRATIC_EXTERNAL + i] * external * external
        driven = c[candidate.QUADRATIC_MOTOR + i] * motor * motor
        quadratic = drives if abs(motor) > abs(external) else 0.0
        quadratic = driven if abs(motor) < abs(external) else quadratic
        quadratic = 0.0 if opposing_only * motor * external > 0.0 else quadratic
        load = abs(
            c[candidate.LOAD_MOTOR_STRIBECK + i] * motor - c[candidate.LOAD_EXTERNAL_STRIBECK + i] * external
        )
        s[state.BUDGET + i] += stribeck_factor * (c[candidate.STRIBECK_COULOMB + i] + load + quadratic)
