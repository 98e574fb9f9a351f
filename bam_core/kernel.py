# SPDX-License-Identifier: Apache-2.0
"""BAM Algorithm 1 and its variants, compiled: one candidate on a block of logs, a log per lane.

The loops over lanes hold nothing but arithmetic, in groups of LANES, so that they become vector code; what a
candidate leaves off (load terms, Stribeck terms) is skipped for all its lanes at once. Nothing is allocated
in the step loop, and the interpreter lock is released. `reference.py` is the executable specification.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from bam_core import _vector_math as vm
from bam_core.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.reference import INTEGRATORS, VELOCITY_LIMIT

Array = NDArray[np.float64]
_Function = TypeVar("_Function", bound=Callable[..., Any])

LANES = 8
"""Lanes come in groups of this many: one 512-bit vector of doubles."""

BLOCK = 64
"""Most lanes in one block, so that its state stays in the first-level cache."""

# Rows of the state buffer, each BLOCK lanes long. One buffer with constant offsets lets the compiler prove
# that rows do not overlap; unsigned offsets spare it the test for negative indices.
_POSITION = np.uint64(0 * BLOCK)
_VELOCITY = np.uint64(1 * BLOCK)
_VOLTAGE = np.uint64(2 * BLOCK)
_ENABLED = np.uint64(3 * BLOCK)
_MOTOR = np.uint64(4 * BLOCK)
_EXTERNAL = np.uint64(5 * BLOCK)
_BUDGET = np.uint64(6 * BLOCK)
_INERTIA = np.uint64(7 * BLOCK)
_GRAVITY = np.uint64(8 * BLOCK)
_GAIN = np.uint64(9 * BLOCK)
_LENGTH = np.uint64(10 * BLOCK)
_ERROR = np.uint64(11 * BLOCK)
_BENCH_INERTIA = np.uint64(12 * BLOCK)
_WARMING = np.uint64(13 * BLOCK)
_ROWS = 14

_MIDPOINT = INTEGRATORS.index("midpoint")
_SEMI_IMPLICIT = INTEGRATORS.index("semi_implicit")

# Columns of a candidate, in the order of `rollout.PARAMETERS`.
(
    _TORQUE_CONSTANT,
    _RESISTANCE,
    _ARMATURE,
    _VISCOUS,
    _COULOMB,
    _STRIBECK_COULOMB,
    _STRIBECK_VELOCITY,
    _STRIBECK_EXPONENT,
    _LOAD_MOTOR,
    _LOAD_EXTERNAL,
    _LOAD_MOTOR_STRIBECK,
    _LOAD_EXTERNAL_STRIBECK,
    _QUADRATIC_MOTOR,
    _QUADRATIC_EXTERNAL,
    _TORQUE_SATURATION,
    _WINDING_HEATING,
    _ZERO_OFFSET,
    _COMMAND_DELAY,
) = range(18)


def _compiled(function: _Function) -> _Function:
    # "contract" merges a multiplication and an addition into one instruction that rounds once; it changes
    # the last digit only, whereas the other relaxations would break the rounding tricks of exp, log and sin.
    compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function)
    return cast("_Function", compiled)


@_compiled
def _control(
    s: Array,
    lanes: int,
    signals: Array,
    commands: Array,
    earlier: Array,
    late: float,
    start: Any,
    k: int,
    duty_limit: float,
) -> None:
    """Add this step's error, then let the firmware set the voltage (eq. 12).

    The commands in force are those of one step to a share `late`, those of the next one for the rest.
    """
    now = float(k)
    for i in range(np.uint64(lanes)):
        position = s[_POSITION + i]
        error = abs(position - signals[3, start + i])
        s[_ERROR + i] += error if now < s[_LENGTH + i] else 0.0
        goal = commands[0, start + i] + late * (earlier[0, start + i] - commands[0, start + i])
        duty = s[_GAIN + i] * (goal - position)
        s[_VOLTAGE + i] = min(max(duty, -duty_limit), duty_limit) * signals[1, start + i]
        s[_ENABLED + i] = commands[2, start + i] + late * (earlier[2, start + i] - commands[2, start + i])


@_compiled
def _motor_and_gravity(s: Array, lanes: int, candidate: Array, half_step: float) -> None:
    """Motor torque (eq. 13), gravity torque (eq. 1), and the terms of the budget that are never off.

    Gravity and back-EMF are those of `half_step` s later, as `reference.INTEGRATORS` explains.
    """
    torque_constant = candidate[_TORQUE_CONSTANT]
    torque_per_volt = torque_constant / candidate[_RESISTANCE]
    viscous = candidate[_VISCOUS]
    coulomb = candidate[_COULOMB]
    armature = candidate[_ARMATURE]
    zero_offset = candidate[_ZERO_OFFSET]
    added_inertia = half_step * torque_per_volt * torque_constant
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        back_emf = torque_constant * velocity
        s[_MOTOR + i] = torque_per_volt * (s[_VOLTAGE + i] - back_emf) * s[_ENABLED + i]
        s[_EXTERNAL + i] = -s[_GRAVITY + i] * vm.sin(s[_POSITION + i] + half_step * velocity - zero_offset)
        s[_INERTIA + i] = s[_BENCH_INERTIA + i] + armature + added_inertia * s[_ENABLED + i]
        s[_BUDGET + i] = viscous * abs(velocity) + coulomb


@_compiled
def _saturate_and_heat(s: Array, lanes: int, candidate: Array, dt: float, half_step: float) -> None:
    """Motor torque anew, with saturation and a warm winding; see `motor.DcMotor`."""
    torque_constant = candidate[_TORQUE_CONSTANT]
    resistance = candidate[_RESISTANCE]
    armature = candidate[_ARMATURE]
    saturation = candidate[_TORQUE_SATURATION]
    heating = candidate[_WINDING_HEATING]
    for i in range(np.uint64(lanes)):
        warming = s[_WARMING + i]
        warm = resistance * (1.0 + COPPER_COEFFICIENT * warming)
        back_emf = torque_constant * s[_VELOCITY + i]
        current = (s[_VOLTAGE + i] - back_emf) / warm * s[_ENABLED + i]
        share = 1.0 / (1.0 + saturation * abs(current))
        damping = torque_constant * torque_constant / warm * share * share * s[_ENABLED + i]
        s[_MOTOR + i] = torque_constant * current * share
        s[_INERTIA + i] = s[_BENCH_INERTIA + i] + armature + half_step * damping
        s[_WARMING + i] = warming + dt * (heating * warm * current * current - warming / WINDING_COOLING_TIME)


@_compiled
def _add_load(s: Array, lanes: int, candidate: Array) -> None:
    """Load-dependent friction, |K_m τ_m - K_e τ_e|."""
    load_motor = candidate[_LOAD_MOTOR]
    load_external = candidate[_LOAD_EXTERNAL]
    for i in range(np.uint64(lanes)):
        s[_BUDGET + i] += abs(load_motor * s[_MOTOR + i] - load_external * s[_EXTERNAL + i])


@_compiled
def _add_stribeck(s: Array, lanes: int, candidate: Array, opposing_only: float) -> None:
    """Friction that fades with speed, s·[K_c^s + |K_m^s τ_m - K_e^s τ_e| + Q] with s = exp(-|θ̇/v_s|^α)."""
    coulomb = candidate[_STRIBECK_COULOMB]
    speed_scale = 1.0 / candidate[_STRIBECK_VELOCITY]
    exponent = candidate[_STRIBECK_EXPONENT]
    load_motor = candidate[_LOAD_MOTOR_STRIBECK]
    load_external = candidate[_LOAD_EXTERNAL_STRIBECK]
    quadratic_motor = candidate[_QUADRATIC_MOTOR]
    quadratic_external = candidate[_QUADRATIC_EXTERNAL]
    for i in range(np.uint64(lanes)):
        motor = s[_MOTOR + i]
        external = s[_EXTERNAL + i]
        ratio = max(abs(s[_VELOCITY + i]) * speed_scale, vm.SMALLEST)
        fade = vm.exp(-vm.exp(exponent * vm.log(ratio)))
        quadratic = quadratic_external * external * external if abs(motor) > abs(external) else 0.0
        quadratic = quadratic_motor * motor * motor if abs(motor) < abs(external) else quadratic
        quadratic = 0.0 if opposing_only * motor * external > 0.0 else quadratic
        at_rest = coulomb + abs(load_motor * motor - load_external * external) + quadratic
        s[_BUDGET + i] += fade * at_rest


@_compiled
def _advance(s: Array, lanes: int, dt: float, semi_implicit: float) -> None:
    """Applied friction (eqs. 4, 5) and the update of the state (Algorithm 1, lines 5-9)."""
    for i in range(np.uint64(lanes)):
        velocity = s[_VELOCITY + i]
        budget = s[_BUDGET + i]
        inertia = s[_INERTIA + i]
        net = s[_MOTOR + i] + s[_EXTERNAL + i]
        stop = -(inertia / dt * velocity + net)
        friction = min(max(stop, -budget), budget)
        gained = (net + friction) / inertia * dt
        s[_POSITION + i] += (velocity + (0.5 + semi_implicit) * gained) * dt
        s[_VELOCITY + i] = min(max(velocity + gained, -VELOCITY_LIMIT), VELOCITY_LIMIT)


@_compiled
def simulate_block(
    candidate: Array,
    first: int,
    lanes: int,
    signals: Array,
    logs: Array,
    duty_limit: float,
    dt: float,
    substeps: int,
    integrator: int,
    opposing_only: bool,
    mae: Array,
    trace: Array,
) -> None:
    """Simulate one candidate on one block of logs.

    The duty is computed at the start of every step and held for its substeps, as a firmware with period dt
    does; the integrator runs once per substep.

    Args:
        candidate: one row of `rollout.PARAMETERS`.
        first: first lane of the block, counted over all lanes of the packed logs.
        lanes: count, a multiple of LANES, at most BLOCK.
        signals: (steps, 4, all lanes) as in `packing.PackedLogs`.
        logs: (6, all lanes) as in `packing.PackedLogs`.
        duty_limit: largest duty.
        dt: step, s.
        substeps: count per step.
        integrator: index in `reference.INTEGRATORS`.
        opposing_only: quadratic term only where motor and load torque oppose.
        mae: (all lanes) rad; receives the mean absolute error over the length of each log.
        trace: (2, steps, all lanes); receives positions and velocities, unless it is empty.
    """
    s = np.zeros(_ROWS * BLOCK)
    start = np.uint64(first)
    longest = 0
    for i in range(np.uint64(lanes)):
        s[_LENGTH + i] = logs[0, start + i]
        s[_BENCH_INERTIA + i] = logs[1, start + i]
        s[_GRAVITY + i] = logs[2, start + i]
        s[_GAIN + i] = logs[3, start + i]
        s[_POSITION + i] = logs[4, start + i]
        s[_VELOCITY + i] = logs[5, start + i]
        longest = max(longest, int(logs[0, start + i]))
    has_load = candidate[_LOAD_MOTOR] != 0.0 or candidate[_LOAD_EXTERNAL] != 0.0
    at_rest = candidate[_LOAD_MOTOR_STRIBECK : _QUADRATIC_EXTERNAL + 1]
    has_stribeck = candidate[_STRIBECK_COULOMB] != 0.0 or np.any(at_rest != 0.0)
    has_effects = candidate[_TORQUE_SATURATION] != 0.0 or candidate[_WINDING_HEATING] != 0.0
    delay = candidate[_COMMAND_DELAY] / dt
    delay_steps = math.floor(delay)
    late = delay - delay_steps
    opposing = 1.0 if opposing_only else 0.0
    substep = dt / substeps
    half_step = 0.5 * substep if integrator == _MIDPOINT else 0.0
    semi_implicit = 1.0 if integrator == _SEMI_IMPLICIT else 0.0
    for k in range(longest):
        if trace.size > 0:
            for i in range(np.uint64(lanes)):
                trace[0, k, start + i] = s[_POSITION + i]
                trace[1, k, start + i] = s[_VELOCITY + i]
        commands = signals[min(max(k - delay_steps, 0), longest - 1)]
        earlier = signals[min(max(k - delay_steps - 1, 0), longest - 1)] if late > 0.0 else commands
        _control(s, lanes, signals[k], commands, earlier, late, start, k, duty_limit)
        for _ in range(substeps):
            _motor_and_gravity(s, lanes, candidate, half_step)
            if has_effects:
                _saturate_and_heat(s, lanes, candidate, substep, half_step)
            if has_load:
                _add_load(s, lanes, candidate)
            if has_stribeck:
                _add_stribeck(s, lanes, candidate, opposing)
            _advance(s, lanes, substep, semi_implicit)
    for i in range(np.uint64(lanes)):
        mae[start + i] = s[_ERROR + i] / s[_LENGTH + i]
