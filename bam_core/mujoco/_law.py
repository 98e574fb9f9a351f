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

from bam_core.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.servo_model import ServoModel

Array = NDArray[np.float64]
Indices = NDArray[np.int32]

# Columns of the constants, one row per servo.
_TORQUE_PER_VOLT = 0
_TORQUE_CONSTANT = 1
_DEMAND_PER_KP_RAD = 2
_DEMAND_LIMIT = 3
_PERIOD = 4
_VISCOUS = 5
_COULOMB = 6
_STRIBECK_COULOMB = 7
_STRIBECK_VELOCITY = 8
_STRIBECK_EXPONENT = 9
_LOAD_MOTOR = 10
_LOAD_EXTERNAL = 11
_LOAD_MOTOR_STRIBECK = 12
_LOAD_EXTERNAL_STRIBECK = 13
_QUADRATIC_MOTOR = 14
_QUADRATIC_EXTERNAL = 15
_OPPOSING = 16
_TORQUE_SATURATION = 17
_WARMING_PER_CURRENT_SQUARED = 18  # of a cold winding
_DEMAND_PER_ROOT_KP_VELOCITY = 19
_REGULATES_CURRENT = 20
_RESISTANCE = 21

# Rows of the command, written by the user; one column per servo.
GOAL_POSITION = 0
ENABLED = 1
KP = 2
SUPPLY_VOLTAGE = 3
CASE_WARMING = 4
COMMANDS = 5

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
STATES = 12

UNKNOWN = -1.0

OK, NO_ROW, NOT_FINITE = 0, 1, 2

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)

# MuJoCo's friction rows are springy, and even at their stiffest setting of 1e-4 a held joint creeps. This is
# their compliance relative to the joint's own inverse inertia. Ten times stiffer still converges in a few
# iterations, a hundred times does not in robots with contacts.
_COMPLIANCE = 1e-7

_CLOCK_SLACK = 1e-9  # s; rounding of the simulation time


def constants(servo: ServoModel) -> list[float]:
    """Return the row of constants of one servo."""
    motor, firmware, friction = servo.motor, servo.firmware, servo.friction
    stiffness, damping = (float(gain) for gain in firmware.gains(1.0))
    return [
        motor.torque_constant / motor.resistance,
        motor.torque_constant,
        stiffness,
        firmware.demand_limit,
        firmware.period,
        *friction.coefficients().values(),
        1.0 if friction.quadratic_rule == "opposing" else 0.0,
        motor.torque_saturation,
        motor.winding_heating * motor.resistance,
        damping,
        1.0 if firmware.regulates_current else 0.0,
        motor.resistance,
    ]


@numba.njit(cache=True, error_model="numpy")
def budget(c: Array, motor: float, external: float, velocity: float) -> float:
    """Return τ_f^m in N·m (BAM eq. 10) for one row of constants; the compiled twin of `Friction.budget`."""
    speed = abs(velocity)
    fade = math.exp(-((speed / c[_STRIBECK_VELOCITY]) ** c[_STRIBECK_EXPONENT]))
    quadratic = 0.0
    if c[_OPPOSING] == 0.0 or motor * external < 0.0:
        if abs(motor) > abs(external):
            quadratic = c[_QUADRATIC_EXTERNAL] * external * external
        elif abs(motor) < abs(external):
            quadratic = c[_QUADRATIC_MOTOR] * motor * motor
    always = c[_VISCOUS] * speed + c[_COULOMB] + abs(c[_LOAD_MOTOR] * motor - c[_LOAD_EXTERNAL] * external)
    at_rest = (
        c[_STRIBECK_COULOMB]
        + abs(c[_LOAD_MOTOR_STRIBECK] * motor - c[_LOAD_EXTERNAL_STRIBECK] * external)
        + quadratic
    )
    return float(always + fade * at_rest)


@numba.njit(cache=True, error_model="numpy")
def _linear_torque(
    c: Array, command: Array, state: Array, i: int, time: float, dt: float, position: float, velocity: float
) -> float:
    """Let the firmware renew its demand if it is due (BAM eqs. 12, 14); return k_t·I in N·m (eqs. 13, 15).

    A step stands for the time from half a step before `time` to half a step after it, so what changes at
    `time` counts for half of it. The firmware holds its demand for its period, even where that is shorter
    than a step.
    """
    is_enabled = command[ENABLED, i] != 0.0
    was_enabled = is_enabled if state[WAS_ENABLED, i] == UNKNOWN else state[WAS_ENABLED, i] != 0.0
    state[WAS_ENABLED, i] = 1.0 if is_enabled else 0.0
    held = state[_HELD_DEMAND, i]
    demand = held
    if is_enabled:
        period = c[_PERIOD]
        due = math.floor((time + _CLOCK_SLACK) / period) != math.floor((time - dt + _CLOCK_SLACK) / period)
        if due or not was_enabled:
            kp = command[KP, i]
            wanted = c[_DEMAND_PER_KP_RAD] * kp * (command[GOAL_POSITION, i] - position)
            wanted -= c[_DEMAND_PER_ROOT_KP_VELOCITY] * math.sqrt(abs(kp)) * velocity
            renewed = min(max(wanted, -c[_DEMAND_LIMIT]), c[_DEMAND_LIMIT])
            stale = 0.5 * min(period / dt, 1.0) if was_enabled else 0.0
            demand = renewed + stale * (held - renewed)
            held = renewed
    else:
        held = 0.0
    state[_HELD_DEMAND, i] = held
    state[DUTY, i] = 0.0 if c[_REGULATES_CURRENT] else held
    if not (is_enabled or was_enabled):
        return 0.0
    share = 1.0 if is_enabled and was_enabled else 0.5
    if c[_REGULATES_CURRENT]:
        return share * c[_TORQUE_CONSTANT] * _limited(c, command, state, i, demand, velocity)
    voltage = demand * command[SUPPLY_VOLTAGE, i]
    cold = share * c[_TORQUE_PER_VOLT] * (voltage - c[_TORQUE_CONSTANT] * velocity)
    return float(cold / (1.0 + COPPER_COEFFICIENT * state[WINDING_WARMING, i]))


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
    loss = c[_WARMING_PER_CURRENT_SQUARED] * (1.0 + COPPER_COEFFICIENT * warming) * current * current
    state[CURRENT, i] = current
    case = command[CASE_WARMING, i] if c[_WARMING_PER_CURRENT_SQUARED] > 0.0 else 0.0
    state[WINDING_WARMING, i] = warming + dt * (loss - (warming - case) / WINDING_COOLING_TIME)
    return float(linear / (1.0 + c[_TORQUE_SATURATION] * abs(current)))


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
        constants: (servos, 22), see `constants`.
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
        # MuJoCo's velocity belongs to the middle of the past step, its position to the end. What depends on
        # the velocity is taken at the position's time, so that the whole step is second-order accurate.
        velocity = v + 0.5 * dt * state[ACCELERATION, i]
        position = qpos[position_address[i]]
        linear = _linear_torque(c, command, state, i, time, dt, position, velocity)
        motor = _saturate_and_heat(c, command, state, i, dt, linear)
        applied = qfrc_applied[dof[i]]
        external = qfrc_passive[dof[i]] - qfrc_bias[dof[i]] + applied + state[OTHER_TORQUE, i]
        available = budget(c, motor, external, velocity)
        state[MOTOR_TORQUE, i] = motor
        state[EXTERNAL_TORQUE, i] = external
        state[FRICTION_BUDGET, i] = available
        state[USER_TORQUE, i] = applied
        if not math.isfinite(motor + available):
            status = max(status, NOT_FINITE)
            continue
        qfrc_applied[dof[i]] = applied + motor
        row = _row_of(dof[i], first_row, rows, efc_type, efc_id)
        if row < 0:
            status = max(status, NO_ROW)
            continue
        compliance = _COMPLIANCE * efc_diagonal[row]
        efc_frictionloss[row] = available
        efc_R[row] = compliance
        efc_D[row] = 1.0 / compliance
        # To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
        stop = -v / dt + compliance * state[FRICTION_TORQUE, i]
        efc_aref[row] = stop
        if to_island.size > 0:
            copy = to_island[row]
            iefc_frictionloss[copy] = available
            iefc_R[copy] = compliance
            iefc_D[copy] = 1.0 / compliance
            iefc_aref[copy] = stop
    return status


@numba.njit(cache=True, error_model="numpy")
def after_solver(
    state: Array,
    dof: Indices,
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
        state[ACCELERATION, i] = qacc[d]
        other_smooth = qfrc_smooth[d] - qfrc_passive[d] + qfrc_bias[d] - qfrc_applied[d]
        state[OTHER_TORQUE, i] = other_smooth + qfrc_constraint[d] - state[FRICTION_TORQUE, i]
        qfrc_applied[d] = state[USER_TORQUE, i]


@numba.njit(cache=True, error_model="numpy")
def _row_of(dof: int, first_row: int, rows: int, efc_type: Indices, efc_id: Indices) -> int:
    """Return the friction row of a degree of freedom, or -1; tendons have friction rows too."""
    for row in range(first_row, first_row + rows):
        if efc_type[row] == _FRICTION_DOF and efc_id[row] == dof:
            return row
    return -1
