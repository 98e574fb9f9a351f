# SPDX-License-Identifier: Apache-2.0
"""One servo step on MuJoCo's arrays, compiled: firmware, motor, and the friction budget of BAM eq. 10.

`ServoActuation` calls `before_solver` between mj_step1 and mj_step2, and `after_solver` behind mj_step2.
Every function works in place on MuJoCo's own memory; nothing is allocated.
"""

from __future__ import annotations

import math

import mujoco
import numba
import numpy as np
from numpy.typing import NDArray

from bam_core.servo.model import ServoModel
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.servo.plugin_attributes import law_constants

Array = NDArray[np.float64]
Indices = NDArray[np.int32]

# Columns of the constants, one row per servo: `law_constants` in their order.
_TORQUE_CONSTANT = 0
_RESISTANCE = 1
_DEMAND_PER_KP_RAD = 2
_DEMAND_PER_ROOT_KP_VELOCITY = 3
_DEMAND_LIMIT = 4
_PERIOD = 5
_REGULATES_CURRENT = 6
_VISCOUS = 7
_COULOMB = 8
_STRIBECK_COULOMB = 9
_STRIBECK_VELOCITY = 10
_STRIBECK_EXPONENT = 11
_LOAD_MOTOR = 12
_LOAD_EXTERNAL = 13
_LOAD_MOTOR_STRIBECK = 14
_LOAD_EXTERNAL_STRIBECK = 15
_QUADRATIC_MOTOR = 16
_QUADRATIC_EXTERNAL = 17
_QUADRATIC_OPPOSING = 18
_TORQUE_SATURATION = 19
_WINDING_HEATING = 20
_FRICTION_TEMPERATURE = 21
_BRIDGE_COASTING = 22
_SENSOR_DELAY = 23
_ENCODER_COUNT = 24  # rad, as the firmware sees it; 0 where it sees angles

# Rows of the command, written by the user; one column per servo.
GOAL_POSITION = 0
ENABLED = 1
KP = 2
SUPPLY_VOLTAGE = 3
CASE_TEMPERATURE_RISE = 4
ENCODER_ZERO = 5
GOAL_DUTY = 6  # NaN: the firmware follows the goal position
COMMANDS = 7

# Rows of the state, one column per servo.
DUTY = 0
MOTOR_TORQUE = 1
EXTERNAL_TORQUE = 2
FRICTION_BUDGET = 3
FRICTION_TORQUE = 4
ACCELERATION = 5
OTHER_TORQUE = 6  # everything but gravity, passive forces, motor and own friction, in the previous step
USER_TORQUE = 7  # what stood in qfrc_applied before the motor torque was added
_HELD_DEMAND = 8  # what the firmware asked for last, duty or A
WAS_ENABLED = 9  # torque enable in the previous step, or UNKNOWN
CURRENT = 10
WINDING_WARMING = 11
_VELOCITY_BEFORE = 12  # MuJoCo's, of the past step
_REVERSAL_CORRECTION = 13  # steps' worth of the budget that the next steps omit
_INVERSE_INERTIA = 14  # as MuJoCo estimates it
STATES = 15

UNKNOWN = -1.0

OK, NO_ROW, NOT_FINITE = 0, 1, 2

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)

# MuJoCo's friction rows are springy, and even at their stiffest setting of 1e-4 a held joint creeps. This is
# their compliance relative to the joint's own inverse inertia. Ten times stiffer still converges in a few
# iterations, a hundred times does not in robots with contacts.
_COMPLIANCE = 1e-7

_SLIDES = 1.0 - 1e-6  # of the budget: friction that much is not holding

_CLOCK_SLACK = 1e-9  # s; rounding of the simulation time


def constants(servo: ServoModel) -> list[float]:
    """Return the row of constants of one servo."""
    return list(law_constants(servo).values())


@numba.njit(cache=True, error_model="numpy")
def budget(
    c: Array, motor: float, external: float, velocity: float, case_temperature_rise: float = 0.0
) -> float:
    """Return τ_f^m in N·m (BAM eq. 10) for one row of constants; the compiled twin of `Friction.budget`."""
    temperature_scale = math.exp(-c[_FRICTION_TEMPERATURE] * case_temperature_rise)
    speed = abs(velocity)
    stribeck_factor = math.exp(-((speed / c[_STRIBECK_VELOCITY]) ** c[_STRIBECK_EXPONENT]))
    quadratic = 0.0
    if c[_QUADRATIC_OPPOSING] == 0.0 or motor * external < 0.0:
        if abs(motor) > abs(external):
            quadratic = c[_QUADRATIC_EXTERNAL] * external * external
        elif abs(motor) < abs(external):
            quadratic = c[_QUADRATIC_MOTOR] * motor * motor
    lubricated = temperature_scale * (c[_VISCOUS] * speed + c[_COULOMB])
    always = lubricated + abs(c[_LOAD_MOTOR] * motor - c[_LOAD_EXTERNAL] * external)
    at_rest = (
        temperature_scale * c[_STRIBECK_COULOMB]
        + abs(c[_LOAD_MOTOR_STRIBECK] * motor - c[_LOAD_EXTERNAL_STRIBECK] * external)
        + quadratic
    )
    return float(always + stribeck_factor * at_rest)


@numba.njit(cache=True, error_model="numpy")
def _enabled_share(command: Array, state: Array, i: int) -> float:
    """Return for which share of the step torque is on: its first half belongs to the previous command."""
    now, before = command[ENABLED, i], state[WAS_ENABLED, i]
    return float(now if before == UNKNOWN else 0.5 * (now + before))


@numba.njit(cache=True, error_model="numpy")
def _linear_torque(
    c: Array, command: Array, state: Array, i: int, time: float, dt: float, position: float, velocity: float
) -> float:
    """Let the firmware renew its demand if it is due (BAM eqs. 12, 14); return k_t·I in N·m (eqs. 13, 15).

    A step stands for the time from half a step before `time` to half a step after it, so what changes at
    `time` counts for half of it. The firmware holds its demand for its period, even where that is shorter
    than a step.
    """
    share = _enabled_share(command, state, i)
    is_enabled, was_enabled = command[ENABLED, i] > 0.0, 2.0 * share > command[ENABLED, i]
    state[WAS_ENABLED, i] = command[ENABLED, i]
    held = state[_HELD_DEMAND, i]
    demand = held
    if is_enabled:
        period = c[_PERIOD]
        due = math.floor((time + _CLOCK_SLACK) / period) != math.floor((time - dt + _CLOCK_SLACK) / period)
        if due or not was_enabled:
            wanted = command[GOAL_DUTY, i]
            if math.isnan(wanted):
                kp = command[KP, i]
                seen = _seen(c, position - c[_SENSOR_DELAY] * velocity, command[ENCODER_ZERO, i])
                wanted = c[_DEMAND_PER_KP_RAD] * kp * (command[GOAL_POSITION, i] - seen)
                wanted -= c[_DEMAND_PER_ROOT_KP_VELOCITY] * math.sqrt(abs(kp)) * velocity
            renewed = min(max(wanted, -c[_DEMAND_LIMIT]), c[_DEMAND_LIMIT])
            stale = 0.5 * min(period / dt, 1.0) if was_enabled else 0.0
            demand = renewed + stale * (held - renewed)
            held = renewed
    else:
        held = 0.0
    state[_HELD_DEMAND, i] = held
    state[DUTY, i] = 0.0 if c[_REGULATES_CURRENT] else held
    if share == 0.0:
        return 0.0
    if c[_REGULATES_CURRENT]:
        return share * c[_TORQUE_CONSTANT] * _limited(c, command, state, i, demand, velocity)
    voltage = demand * command[SUPPLY_VOLTAGE, i]
    closed = 1.0 - c[_BRIDGE_COASTING] * (1.0 - abs(demand))
    driving = voltage - closed * c[_TORQUE_CONSTANT] * velocity
    cold = share * (c[_TORQUE_CONSTANT] / c[_RESISTANCE]) * driving
    return float(cold / (1.0 + COPPER_COEFFICIENT * state[WINDING_WARMING, i]))


@numba.njit(cache=True, error_model="numpy")
def _seen(c: Array, position: float, zero: float) -> float:
    """Return a position in rad as the firmware sees it, in whole counts of its encoder where it does."""
    count = c[_ENCODER_COUNT]
    return count * np.rint((position + zero) / count) - zero if count > 0.0 else position


@numba.njit(cache=True, error_model="numpy")
def _limited(c: Array, command: Array, state: Array, i: int, demand: float, velocity: float) -> float:
    """Return the current in A that the supply can push of the one demanded, and note the duty it takes."""
    supply = command[SUPPLY_VOLTAGE, i]
    resistance = c[_RESISTANCE] * (1.0 + COPPER_COEFFICIENT * state[WINDING_WARMING, i])
    back_emf = c[_TORQUE_CONSTANT] * velocity
    current = min(max(demand, (-supply - back_emf) / resistance), (supply - back_emf) / resistance)
    if command[ENABLED, i] != 0.0 and supply > 0.0:
        state[DUTY, i] = (resistance * current + back_emf) / supply
    return float(current)


@numba.njit(cache=True, error_model="numpy")
def _saturate_and_heat(c: Array, command: Array, state: Array, i: int, dt: float, linear: float) -> float:
    """Turn k_t·I into τ_m of a motor that saturates, and let the winding warm on; see `motor.DcMotor`.

    Both are exactly off at zero.
    """
    warming = state[WINDING_WARMING, i]
    current = linear / c[_TORQUE_CONSTANT]
    loss = c[_WINDING_HEATING] * c[_RESISTANCE] * (1.0 + COPPER_COEFFICIENT * warming) * current * current
    state[CURRENT, i] = current
    case = command[CASE_TEMPERATURE_RISE, i] if c[_WINDING_HEATING] > 0.0 else 0.0
    state[WINDING_WARMING, i] = warming + dt * (loss - (warming - case) / WINDING_COOLING_TIME)
    return float(linear / (1.0 + c[_TORQUE_SATURATION] * abs(current)))


@numba.njit(cache=True, error_model="numpy")
def _holds(state: Array, i: int) -> bool:
    """Return whether friction had more to give in the past step."""
    return bool(abs(state[FRICTION_TORQUE, i]) < _SLIDES * state[FRICTION_BUDGET, i])


@numba.njit(cache=True, error_model="numpy")
def _partly_held(
    c: Array, share: float, is_released: bool, motor: float, external: float, case_temperature_rise: float
) -> tuple[float, float]:
    """Return motor torque and limit of friction, N·m, where torque is switched on a joint that friction held.

    Friction holds it until the switch. For the rest of the step it gets what the new torque leaves, and not
    what the mean torque would: that might not even let it go, which would start every fall half a step late.

    Args:
        c: constants of the servo.
        share: of the step with torque on.
        is_released: torque goes off.
        motor: mean torque of the step, N·m.
        external: N·m.
        case_temperature_rise: K.
    """
    renewed, rest = (0.0, 1.0 - share) if is_released else (motor / share, share)
    push = renewed + external
    left = rest * math.copysign(
        max(abs(push) - budget(c, renewed, external, 0.0, case_temperature_rise), 0.0), push
    )
    friction = left - motor - external
    if friction * push < 0.0:
        return motor, abs(friction)
    return motor + friction, 0.0


@numba.njit(cache=True, error_model="numpy")
def _torques(
    c: Array,
    command: Array,
    state: Array,
    i: int,
    time: float,
    dt: float,
    position: float,
    v: float,
    push: float,
) -> tuple[float, float, float]:
    """Return and note τ_m, τ_e and τ_f^m of a step, N·m; `push` is what acts on the joint without its servo.

    MuJoCo's velocity belongs to the middle of the past step, its position to the end. What depends on the
    velocity is taken at the position's time, so that the whole step is second-order accurate.
    """
    velocity = v + 0.5 * dt * state[ACCELERATION, i]
    linear = _linear_torque(c, command, state, i, time, dt, position, velocity)
    motor = _saturate_and_heat(c, command, state, i, dt, linear)
    external = push + state[OTHER_TORQUE, i]
    available = budget(c, motor, external, velocity, command[CASE_TEMPERATURE_RISE, i])
    state[MOTOR_TORQUE, i] = motor
    state[EXTERNAL_TORQUE, i] = external
    state[FRICTION_BUDGET, i] = available
    return motor, external, available


@numba.njit(cache=True, error_model="numpy")
def before_gears(
    constants: Array,
    command: Array,
    state: Array,
    position_address: Indices,
    dof: Indices,
    time: float,
    dt: float,
    qpos: Array,
    qvel: Array,
    qfrc_bias: Array,
    qfrc_passive: Array,
    qfrc_applied: Array,
) -> int:
    """Note motor torques and friction budgets, and leave the rest to whoever steps; arguments as below."""
    status = OK
    for i in range(dof.size):
        d = dof[i]
        push = qfrc_passive[d] - qfrc_bias[d] + qfrc_applied[d]
        state[USER_TORQUE, i] = qfrc_applied[d]
        motor, _, available = _torques(
            constants[i], command, state, i, time, dt, qpos[position_address[i]], qvel[d], push
        )
        if not math.isfinite(motor + available):
            status = NOT_FINITE
    return status


@numba.njit(cache=True, error_model="numpy")
def before_solver(
    constants: Array,
    command: Array,
    state: Array,
    position_address: Indices,
    dof: Indices,
    time: float,
    dt: float,
    qpos: Array,
    qvel: Array,
    qfrc_bias: Array,
    qfrc_passive: Array,
    qfrc_applied: Array,
    first_row: int,
    rows: int,
    efc_type: Indices,
    efc_id: Indices,
    efc_diagonal: Array,
    efc_frictionloss: Array,
    efc_R: Array,
    efc_D: Array,
    efc_aref: Array,
    to_island: Indices,
    iefc_frictionloss: Array,
    iefc_R: Array,
    iefc_D: Array,
    iefc_aref: Array,
) -> int:
    """Apply motor torques and set this step's friction budgets; return OK, NO_ROW or NOT_FINITE.

    Args:
        constants: (servos, 25), see `constants`.
        command: (COMMANDS, servos).
        state: (STATES, servos).
        position_address: (servos,) into qpos.
        dof: (servos,) into qvel.
        time: of the simulation, s.
        dt: step, s.
        first_row: of the constraints, where friction rows begin.
        rows: count of friction rows.
        to_island: row -> row in the solver's copy per island; empty where the solver has none.
    """
    status = OK
    for i in range(dof.size):
        c = constants[i]
        v = qvel[dof[i]]
        position = qpos[position_address[i]]
        share, before, is_held = _enabled_share(command, state, i), state[WAS_ENABLED, i], _holds(state, i)
        applied = qfrc_applied[dof[i]]
        push = qfrc_passive[dof[i]] - qfrc_bias[dof[i]] + applied
        motor, external, available = _torques(c, command, state, i, time, dt, position, v, push)
        correction = min(state[_REVERSAL_CORRECTION, i], 1.0)
        limit = (1.0 - correction) * available
        if 0.0 < share < 1.0 and is_held:
            is_released = command[ENABLED, i] < before
            motor, limit = _partly_held(
                c, share, is_released, motor, external, command[CASE_TEMPERATURE_RISE, i]
            )
        state[MOTOR_TORQUE, i] = motor
        state[USER_TORQUE, i] = applied
        state[_VELOCITY_BEFORE, i] = v
        state[_REVERSAL_CORRECTION, i] -= correction
        if not math.isfinite(motor + available):
            status = max(status, NOT_FINITE)
            continue
        qfrc_applied[dof[i]] = applied + motor
        row = _row_of(dof[i], first_row, rows, efc_type, efc_id)
        if row < 0:
            status = max(status, NO_ROW)
            continue
        state[_INVERSE_INERTIA, i] = efc_diagonal[row]
        compliance = _COMPLIANCE * efc_diagonal[row]
        efc_frictionloss[row] = limit
        efc_R[row] = compliance
        efc_D[row] = 1.0 / compliance
        # To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
        stop = -v / dt + compliance * state[FRICTION_TORQUE, i]
        efc_aref[row] = stop
        if to_island.size > 0:
            copy = to_island[row]
            iefc_frictionloss[copy] = limit
            iefc_R[copy] = compliance
            iefc_D[copy] = 1.0 / compliance
            iefc_aref[copy] = stop
    return status


@numba.njit(cache=True, error_model="numpy")
def after_solver(
    state: Array,
    dof: Indices,
    dt: float,
    qvel: Array,
    qacc: Array,
    qfrc_bias: Array,
    qfrc_passive: Array,
    qfrc_applied: Array,
    qfrc_smooth: Array,
    qfrc_constraint: Array,
    first_row: int,
    rows: int,
    efc_type: Indices,
    efc_id: Indices,
    efc_force: Array,
) -> None:
    """Keep what the next step needs, and take the motor torques out of qfrc_applied again."""
    for i in range(dof.size):
        d = dof[i]
        row = _row_of(d, first_row, rows, efc_type, efc_id)
        state[FRICTION_TORQUE, i] = efc_force[row] if row >= 0 else 0.0
        state[_REVERSAL_CORRECTION, i] += _reversal_correction(state, i, qvel[d], dt)
        state[ACCELERATION, i] = qacc[d]
        other_smooth = qfrc_smooth[d] - qfrc_passive[d] + qfrc_bias[d] - qfrc_applied[d]
        state[OTHER_TORQUE, i] = other_smooth + qfrc_constraint[d] - state[FRICTION_TORQUE, i]
        qfrc_applied[d] = state[USER_TORQUE, i]


@numba.njit(cache=True, error_model="numpy")
def _reversal_correction(state: Array, i: int, velocity: float, dt: float) -> float:
    """Return how much friction a step overdid that ends with another direction of motion, in steps' worth.

    The solver lets friction oppose the new direction throughout the step, but until the joint turned it
    opposed the old one. Without the difference, every turn would cost an error of first order in the step.
    The next steps leave it out: so friction still never drives.
    """
    before = state[_VELOCITY_BEFORE, i]
    turns = before * velocity < 0.0 and state[FRICTION_TORQUE, i] * velocity < 0.0
    if not turns or _holds(state, i):
        return 0.0
    friction = abs(state[FRICTION_TORQUE, i])
    gained_without_turn = abs(velocity - before) + 2.0 * dt * state[_INVERSE_INERTIA, i] * friction
    return 2.0 * abs(before) / gained_without_turn


@numba.njit(cache=True, error_model="numpy")
def _row_of(dof: int, first_row: int, rows: int, efc_type: Indices, efc_id: Indices) -> int:
    """Return the friction row of a degree of freedom, or -1; tendons have friction rows too."""
    for row in range(first_row, first_row + rows):
        if efc_type[row] == _FRICTION_DOF and efc_id[row] == dof:
            return row
    return -1
