# SPDX-License-Identifier: Apache-2.0
"""One servo step on MuJoCo's arrays, compiled: firmware, motor, and the friction budget of BAM eq. 10.

`ServoActuation` calls `before_solver` between mj_step1 and mj_step2, and `after_solver` behind mj_step2.
Every function works in place on MuJoCo's own memory; nothing is allocated.

Groups of arrays come as plain tuples: Numba takes those at once, and has to ask Python about NamedTuples,
which would cost as much as the whole law.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.simulation import law

Indices = NDArray[np.int32]

_compiled = compiled(nogil=False)  # other threads would not get far within a microsecond

# Columns of the constants, one row per servo.
_TORQUE_PER_VOLT = 0
_TORQUE_CONSTANT = 1
_DEMAND_PER_KP_RAD = 2
_DEMAND_LIMIT = 3
_PERIOD = 4
_FRICTION = 5  # the first of FRICTION_PARAMETERS
_OPPOSING = 16
_TORQUE_SATURATION = 17
_WARMING_PER_CURRENT_SQUARED = 18  # of a cold winding
_DEMAND_PER_ROOT_KP_VELOCITY = 19
_REGULATES_CURRENT = 20
_RESISTANCE = 21
_FRICTION_TEMPERATURE = 22
_BRIDGE_COASTING = 23
_SENSOR_DELAY = 24
_COUNT = 25  # of the encoder as the firmware sees it, rad; 0 where it sees angles
_DEAD_BAND = 26
_ERROR_OFFSET = 27
_GOAL_SPEED_LIMIT = 28
_LOAD_INERTIA = 29
_ARMATURE = 30
_FRICTION_DIRECTION = 31
_OVERLOAD_THRESHOLD = 32  # of the firmware's protection, share of the largest demand
_OVERLOAD_TRIP = 33  # s; infinite where it has none
_OVERLOAD_LIMIT = 34  # share of the largest demand
_RESOLUTION = 35  # one encoder count, rad

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
SET_POINT = 15  # that follows the goal, rad
_INERTIAL_TORQUE = 16  # what accelerated the load in the past step
_OVERLOAD = 17  # time for which demands have been overload, s
_TOLD = 18  # the last goal before the servo was protected, rad
STATES = 19

UNKNOWN = -1.0

OK, NO_ROW, NOT_FINITE = 0, 1, 2

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)

# MuJoCo's friction rows are springy, and even at their stiffest setting of 1e-4 a held joint creeps. This is
# their compliance relative to the joint's own inverse inertia. Ten times stiffer still converges in a few
# iterations, a hundred times does not in robots with contacts.
_COMPLIANCE = 1e-7

_SLIDES = 1.0 - 1e-6  # of the budget: friction that much is not holding

_CLOCK_SLACK = 1e-9  # s; rounding of the simulation time


class Servos(NamedTuple):
    """The servos of a model.

    Attributes:
        constants: (servos, 36).
        command: (COMMANDS, servos).
        state: (STATES, servos).
        position_address: (servos,) into qpos.
        dof: (servos,) into qvel.
    """

    constants: Array
    command: Array
    state: Array
    position_address: Indices
    dof: Indices


class Robot(NamedTuple):
    """MuJoCo's memory before the solver."""

    qpos: Array
    qvel: Array
    qfrc_bias: Array
    qfrc_passive: Array
    qfrc_applied: Array


class Solved(NamedTuple):
    """MuJoCo's memory behind the solver."""

    qvel: Array
    qacc: Array
    qfrc_bias: Array
    qfrc_passive: Array
    qfrc_applied: Array
    qfrc_smooth: Array
    qfrc_constraint: Array


class FrictionRows(NamedTuple):
    """Where the friction rows are among the constraints.

    Attributes:
        first: of them.
        total: how many.
        kinds: efc_type of all constraints.
        ids: efc_id likewise.
    """

    first: int
    total: int
    kinds: Indices
    ids: Indices


class RowSettings(NamedTuple):
    """What the solver is to do in each row: efc_diagA, efc_frictionloss, efc_R, efc_D and efc_aref."""

    diagonal: Array
    frictionloss: Array
    R: Array
    D: Array
    aref: Array


class IslandSettings(NamedTuple):
    """The same in the solver's copy per island; all empty where it has none.

    Attributes:
        to_island: row -> row of the copy.
        frictionloss: iefc_frictionloss, and so on.
    """

    to_island: Indices
    frictionloss: Array
    R: Array
    D: Array
    aref: Array


ServosArrays = tuple[Array, Array, Array, Indices, Indices]
RobotArrays = tuple[Array, Array, Array, Array, Array]


@_compiled
def budget(
    c: Array, motor: float, external: float, velocity: float, case_temperature_rise: float = 0.0
) -> float:
    """Return τ_f^m in N·m (BAM eq. 10) for one row of constants."""
    temperature_scale = math.exp(-c[_FRICTION_TEMPERATURE] * case_temperature_rise)
    friction = law.friction_law(c[_FRICTION:_OPPOSING], c[_OPPOSING])
    return law.budget(friction, motor, external, velocity, temperature_scale)


@_compiled
def _direction_scale(c: Array, velocity: float) -> float:
    """Return by what the budget scales in a servo that is about to turn with this velocity."""
    if velocity == 0.0:
        return 1.0
    return float(1.0 + c[_FRICTION_DIRECTION] if velocity > 0.0 else 1.0 - c[_FRICTION_DIRECTION])


@_compiled
def _enabled_share(command: Array, state: Array, i: int) -> float:
    """Return for which share of the step torque is on: its first half belongs to the previous command."""
    now, before = command[ENABLED, i], state[WAS_ENABLED, i]
    return float(now if before == UNKNOWN else 0.5 * (now + before))


@_compiled
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
    if state[WAS_ENABLED, i] == UNKNOWN:  # the servo has had time to get to its first goal
        state[SET_POINT, i] = command[GOAL_POSITION, i]
    state[WAS_ENABLED, i] = command[ENABLED, i]
    held = state[_HELD_DEMAND, i]
    demand = held
    if is_enabled:
        period = c[_PERIOD]
        due = math.floor((time + _CLOCK_SLACK) / period) != math.floor((time - dt + _CLOCK_SLACK) / period)
        if due or not was_enabled:
            limit = c[_DEMAND_LIMIT]
            renewed = min(max(command[GOAL_DUTY, i], -limit), limit)
            if math.isnan(command[GOAL_DUTY, i]):
                kp = command[KP, i]
                seen = _seen(c, position - c[_SENSOR_DELAY] * velocity, command[ENCODER_ZERO, i])
                stiffness = c[_DEMAND_PER_KP_RAD] * kp
                damping = c[_DEMAND_PER_ROOT_KP_VELOCITY] * math.sqrt(abs(kp))
                before = state[SET_POINT, i] if was_enabled else position
                most = c[_GOAL_SPEED_LIMIT] * max(period, dt)
                point = law.set_point(before, command[GOAL_POSITION, i], most)
                state[SET_POINT, i] = point
                error = law.shaped_error(point - seen, c[_DEAD_BAND], c[_ERROR_OFFSET])
                wanted = law.demand(error, velocity, stiffness, damping, limit)
                renewed = _protected(c, state, i, wanted, command[GOAL_POSITION, i], max(period, dt))
            else:
                state[SET_POINT, i] = position
                state[_OVERLOAD, i] = 0.0
            stale = 0.5 * min(period / dt, 1.0) if was_enabled else 0.0
            demand = renewed + stale * (held - renewed)
            held = renewed
    else:
        held = 0.0
        state[_OVERLOAD, i] = 0.0
    state[_HELD_DEMAND, i] = held
    state[DUTY, i] = 0.0 if c[_REGULATES_CURRENT] else held
    if share == 0.0:
        return 0.0
    if c[_REGULATES_CURRENT]:
        return share * c[_TORQUE_CONSTANT] * _limited(c, command, state, i, demand, velocity)
    closed = 1.0 - c[_BRIDGE_COASTING] * (1.0 - abs(demand))
    back_emf = closed * c[_TORQUE_CONSTANT] * velocity
    cold = law.voltage_torque(share * c[_TORQUE_PER_VOLT], demand * command[SUPPLY_VOLTAGE, i], back_emf)
    return float(cold / (1.0 + COPPER_COEFFICIENT * state[WINDING_WARMING, i]))


@_compiled
def _protected(c: Array, state: Array, i: int, wanted: float, goal: float, period: float) -> float:
    """Return a demand as protection limits it, and note what the servo remembers; see `OverloadProtection`.

    Args:
        c: constants of the servo.
        state: of all.
        i: the servo.
        wanted: demand within the firmware's own limit, duty or A.
        goal: rad, as commanded.
        period: for which the demand holds, s.
    """
    trip, largest = c[_OVERLOAD_TRIP], c[_DEMAND_LIMIT]
    overload = law.overload_told(state[_OVERLOAD, i], state[_TOLD, i], goal, trip, c[_RESOLUTION])
    is_protected = overload >= trip
    if not is_protected:
        state[_TOLD, i] = goal
    state[_OVERLOAD, i] = law.overload_asked(overload, wanted, c[_OVERLOAD_THRESHOLD] * largest, trip, period)
    allowed = c[_OVERLOAD_LIMIT] * largest if is_protected else largest
    return min(max(wanted, -allowed), allowed)


@_compiled
def _seen(c: Array, position: float, zero: float) -> float:
    """Return a position in rad as the firmware sees it, in whole counts of its encoder where it does."""
    count = c[_COUNT]
    return count * np.rint((position + zero) / count) - zero if count > 0.0 else position


@_compiled
def _limited(c: Array, command: Array, state: Array, i: int, demand: float, velocity: float) -> float:
    """Return the current in A that the supply can push of the one demanded, and note the duty it takes."""
    supply = command[SUPPLY_VOLTAGE, i]
    resistance = c[_RESISTANCE] * (1.0 + COPPER_COEFFICIENT * state[WINDING_WARMING, i])
    back_emf = c[_TORQUE_CONSTANT] * velocity
    current = law.limited_current(demand, supply, back_emf, resistance)
    if command[ENABLED, i] != 0.0 and supply > 0.0:
        state[DUTY, i] = (resistance * current + back_emf) / supply
    return current


@_compiled
def _saturate_and_heat(c: Array, command: Array, state: Array, i: int, dt: float, linear: float) -> float:
    """Turn k_t·I into τ_m of a motor that saturates, and let the winding warm on; see `motor.DcMotor`.

    Both are exactly off at zero.
    """
    warming = state[WINDING_WARMING, i]
    current = linear / c[_TORQUE_CONSTANT]
    loss = c[_WARMING_PER_CURRENT_SQUARED] * (1.0 + COPPER_COEFFICIENT * warming) * current * current
    state[CURRENT, i] = current
    case = command[CASE_TEMPERATURE_RISE, i] if c[_WARMING_PER_CURRENT_SQUARED] > 0.0 else 0.0
    state[WINDING_WARMING, i] = warming + dt * (loss - (warming - case) / WINDING_COOLING_TIME)
    return float(linear / (1.0 + c[_TORQUE_SATURATION] * abs(current)))


@_compiled
def _holds(state: Array, i: int) -> bool:
    """Return whether friction had more to give in the past step."""
    return bool(abs(state[FRICTION_TORQUE, i]) < _SLIDES * state[FRICTION_BUDGET, i])


@_compiled
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
    available = budget(c, renewed, external, 0.0, case_temperature_rise) * _direction_scale(c, push)
    left = rest * math.copysign(max(abs(push) - available, 0.0), push)
    friction = left - motor - external
    if friction * push < 0.0:
        return motor, abs(friction)
    return motor + friction, 0.0


@_compiled
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
    pressing = external - c[_LOAD_INERTIA] * state[_INERTIAL_TORQUE, i]
    available = budget(c, motor, pressing, velocity, command[CASE_TEMPERATURE_RISE, i])
    pushed = velocity + dt * state[_INVERSE_INERTIA, i] * (motor + external)
    available *= _direction_scale(c, pushed)
    state[MOTOR_TORQUE, i] = motor
    state[EXTERNAL_TORQUE, i] = external
    state[FRICTION_BUDGET, i] = available
    return motor, external, available


@_compiled
def before_gears(servos: ServosArrays, robot: RobotArrays, time: float, dt: float) -> int:
    """Note motor torques and friction budgets, and leave the rest to whoever steps.

    Args:
        servos: as of `Servos`.
        robot: as of `Robot`.
        time: of the simulation, s.
        dt: step, s.

    Returns:
        OK or NOT_FINITE.
    """
    s, r = Servos(*servos), Robot(*robot)
    status = OK
    for i in range(s.dof.size):
        d = s.dof[i]
        push = r.qfrc_passive[d] - r.qfrc_bias[d] + r.qfrc_applied[d]
        s.state[USER_TORQUE, i] = r.qfrc_applied[d]
        position = r.qpos[s.position_address[i]]
        c = s.constants[i]
        motor, _, available = _torques(c, s.command, s.state, i, time, dt, position, r.qvel[d], push)
        if not math.isfinite(motor + available):
            status = NOT_FINITE
    return status


@_compiled
def before_solver(
    servos: ServosArrays,
    robot: RobotArrays,
    time: float,
    dt: float,
    rows: tuple[int, int, Indices, Indices],
    settings: RobotArrays,
    islands: tuple[Indices, Array, Array, Array, Array],
) -> int:
    """Apply motor torques and set this step's friction budgets.

    Args:
        servos: as of `Servos`.
        robot: as of `Robot`.
        time: of the simulation, s.
        dt: step, s.
        rows: as of `FrictionRows`.
        settings: as of `RowSettings`.
        islands: as of `IslandSettings`.

    Returns:
        OK, NO_ROW or NOT_FINITE.
    """
    s, r = Servos(*servos), Robot(*robot)
    friction_rows, efc, iefc = FrictionRows(*rows), RowSettings(*settings), IslandSettings(*islands)
    command, state = s.command, s.state
    status = OK
    for i in range(s.dof.size):
        d = s.dof[i]
        v = r.qvel[d]
        position = r.qpos[s.position_address[i]]
        share, before, is_held = _enabled_share(command, state, i), state[WAS_ENABLED, i], _holds(state, i)
        applied = r.qfrc_applied[d]
        push = r.qfrc_passive[d] - r.qfrc_bias[d] + applied
        c = s.constants[i]
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
        r.qfrc_applied[d] = applied + motor
        row = _row_of(d, friction_rows)
        if row < 0:
            status = max(status, NO_ROW)
            continue
        state[_INVERSE_INERTIA, i] = efc.diagonal[row]
        compliance = _COMPLIANCE * efc.diagonal[row]
        efc.frictionloss[row] = limit
        efc.R[row] = compliance
        efc.D[row] = 1.0 / compliance
        # To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
        stop = -v / dt + compliance * state[FRICTION_TORQUE, i]
        efc.aref[row] = stop
        if iefc.to_island.size > 0:
            copy = iefc.to_island[row]
            iefc.frictionloss[copy] = limit
            iefc.R[copy] = compliance
            iefc.D[copy] = 1.0 / compliance
            iefc.aref[copy] = stop
    return status


@_compiled
def after_solver(
    servos: ServosArrays,
    solved: tuple[Array, Array, Array, Array, Array, Array, Array],
    dt: float,
    rows: tuple[int, int, Indices, Indices],
    force: Array,
) -> None:
    """Keep what the next step needs, and take the motor torques out of qfrc_applied again.

    Args:
        servos: as of `Servos`.
        solved: as of `Solved`.
        dt: step, s.
        rows: as of `FrictionRows`.
        force: efc_force.
    """
    s, r, friction_rows = Servos(*servos), Solved(*solved), FrictionRows(*rows)
    state = s.state
    for i in range(s.dof.size):
        d = s.dof[i]
        row = _row_of(d, friction_rows)
        state[FRICTION_TORQUE, i] = force[row] if row >= 0 else 0.0
        state[_REVERSAL_CORRECTION, i] += _reversal_correction(state, i, r.qvel[d], dt)
        state[ACCELERATION, i] = r.qacc[d]
        other_smooth = r.qfrc_smooth[d] - r.qfrc_passive[d] + r.qfrc_bias[d] - r.qfrc_applied[d]
        other = other_smooth + r.qfrc_constraint[d] - state[FRICTION_TORQUE, i]
        external = state[EXTERNAL_TORQUE, i] - state[OTHER_TORQUE, i] + other
        through_gear = state[MOTOR_TORQUE, i] + state[FRICTION_TORQUE, i]
        through_gear -= s.constants[i, _ARMATURE] * r.qacc[d]
        state[_INERTIAL_TORQUE, i] = through_gear + external
        state[OTHER_TORQUE, i] = other
        r.qfrc_applied[d] = state[USER_TORQUE, i]


@_compiled
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


@_compiled
def _row_of(dof: int, rows: FrictionRows) -> int:
    """Return the friction row of a degree of freedom, or -1; tendons have friction rows too."""
    for row in range(rows.first, rows.first + rows.total):
        if rows.kinds[row] == _FRICTION_DOF and rows.ids[row] == dof:
            return row
    return -1
