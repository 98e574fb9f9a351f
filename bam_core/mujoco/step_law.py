# SPDX-License-Identifier: Apache-2.0
"""The law of a servo in a step of MuJoCo, in plain Python for compilers: what `native/servo_law.h` is in C++.

NVIDIA Warp compiles these functions and those of `simulation.law`, which Numba compiles as well. A table has
one column per servo and world: `c[Number.resistance, k]`. Only floats, tables and tuples occur, and names of
this file and of `law`, so that any such compiler has them all.

The order in a step is `begin_step`, the solver of MuJoCo, `end_step`. The derivation of half steps and of
reversals is in `native/servo_law.h`; tests hold the two together.
"""

from __future__ import annotations

import math
from enum import IntEnum

from bam_core.arrays import Array
from bam_core.servo.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME
from bam_core.simulation import law
from bam_core.simulation.law import FrictionLaw

Table = Array
"""(rows, servos of all worlds) of floats."""

Number = IntEnum(
    "Number",
    "torque_constant resistance demand_per_kp_rad demand_per_root_kp_velocity demand_limit period"
    " regulates_current viscous coulomb stribeck_coulomb stribeck_velocity stribeck_exponent load_motor"
    " load_external load_motor_stribeck load_external_stribeck quadratic_motor quadratic_external"
    " quadratic_opposing torque_saturation winding_heating friction_temperature bridge_coasting sensor_delay"
    " encoder_count dead_band error_offset goal_speed_limit goal_acceleration_limit kd_scale ki_scale"
    " overload_threshold overload_time overload_limit resolution load_inertia friction_direction armature"
    " kp kd ki supply_voltage case_temperature_rise encoder_zero",
    start=0,
)
"""Rows of a servo's numbers, SI: those of `law_values`, then gains, V, K and rad."""

Memory = IntEnum(
    "Memory",
    "held_demand was_enabled clock winding_warming set_point set_point_speed past_error is_past_known"
    " integral overload unprotected_goal reversal_correction inverse_inertia friction_torque past_budget"
    " other_torque inertial_torque acceleration",
    start=0,
)
"""Rows of what a servo keeps from step to step; `clock` is the time since the firmware's period began, s."""

Drive = IntEnum(
    "Drive",
    "duty current motor_torque external_torque friction_budget friction_limit start_velocity push",
    start=0,
)
"""Rows of what a servo does in a step; `push` is the external torque without that of the step before, N·m."""

FIRST_STEP = -1.0
"""`was_enabled` before the first step."""

MEMORY_SIZE = len(Memory)
_CLOCK_SLACK = 1e-5  # of a period; rounding of float32
_HELD = 1.0 - 1e-6  # of the budget; less is friction that holds


def start(c: Table, memory: Table, k: int) -> None:
    """Begin an episode of servo k: nothing of the steps before counts."""
    for row in range(MEMORY_SIZE):
        memory[row, k] = 0.0
    memory[Memory.was_enabled, k] = FIRST_STEP
    if c[Number.winding_heating, k] > 0.0:
        memory[Memory.winding_warming, k] = c[Number.case_temperature_rise, k]


def begin_step(
    c: Table,
    memory: Table,
    s: Table,
    drive: Table,
    k: int,
    goal: float,
    enabled: float,
    position: float,
    velocity: float,
    push: float,
    dt: float,
) -> None:
    """Compute motor torque and friction limit of servo k into `drive`, and what it will keep into `s`.

    Args:
        c: (Number, servos).
        memory: (Memory, servos) of the step before.
        s: (Memory, servos), written.
        drive: (Drive, servos), written.
        k: the servo's column.
        goal: rad.
        enabled: 1 with torque on, 0 without.
        position: rad.
        velocity: rad/s.
        push: external torque but for what only the step before knows, N·m.
        dt: step, s.
    """
    for row in range(MEMORY_SIZE):
        s[row, k] = memory[row, k]
    present = velocity + 0.5 * dt * memory[Memory.acceleration, k]
    demand = mean_demand(c, memory, s, k, goal, enabled, position, present, dt)
    share = enabled_share(memory, k, enabled)
    motor = drive_motor(c, s, drive, k, share, demand, present, dt)
    external = push + memory[Memory.other_torque, k]
    gear_load = external - c[Number.load_inertia, k] * memory[Memory.inertial_torque, k]
    free = present + dt * memory[Memory.inverse_inertia, k] * (motor + external)
    budget = friction_budget(c, k, motor, gear_load, present) * direction_scale(c, k, free)
    drive[Drive.external_torque, k] = external
    drive[Drive.friction_budget, k] = budget
    drive[Drive.start_velocity, k] = velocity
    drive[Drive.push, k] = push
    correction = min(memory[Memory.reversal_correction, k], 1.0)
    s[Memory.reversal_correction, k] = memory[Memory.reversal_correction, k] - correction
    drive[Drive.friction_limit, k] = (1.0 - correction) * budget
    if (
        share > 0.0
        and share < 1.0
        and is_held(memory[Memory.friction_torque, k], memory[Memory.past_budget, k])
    ):
        hold_until_switch(c, drive, k, share, enabled < memory[Memory.was_enabled, k])


def end_step(
    c: Table,
    memory: Table,
    s: Table,
    drive: Table,
    k: int,
    velocity: float,
    acceleration: float,
    friction: float,
    residual: float,
    dt: float,
) -> None:
    """Let `s`, completed with the results of the solver, become the memory of servo k.

    Args:
        c: as of `begin_step`, and likewise memory, s, drive and k.
        memory: written.
        s: written.
        drive: of this step.
        k: the servo's column.
        velocity: behind the step, rad/s.
        acceleration: of the step, rad/s².
        friction: of the servo's row, N·m.
        residual: torque on the joint but for `push`, motor and friction, N·m, such as that of contacts.
        dt: step, s.
    """
    budget, motor = drive[Drive.friction_budget, k], drive[Drive.motor_torque, k]
    before = drive[Drive.start_velocity, k]
    correction = s[Memory.reversal_correction, k]
    gain = dt * s[Memory.inverse_inertia, k]
    if gain > 0.0 and not is_held(drive[Drive.friction_limit, k], budget):
        correction += reversal_correction(before, velocity, friction, budget, gain)
    whole = motor + friction + drive[Drive.push, k] + residual
    for row in range(MEMORY_SIZE):
        memory[row, k] = s[row, k]
    memory[Memory.reversal_correction, k] = correction
    memory[Memory.friction_torque, k] = friction
    memory[Memory.past_budget, k] = budget
    memory[Memory.acceleration, k] = acceleration
    memory[Memory.inertial_torque, k] = whole - c[Number.armature, k] * acceleration
    memory[Memory.other_torque, k] = residual


def reversal_correction(before: float, velocity: float, friction: float, budget: float, gain: float) -> float:
    """Return the excess of friction in a step in which motion reverses, in budgets of a step.

    `servo_law.h` derives it. The next steps leave it out.

    Args:
        before: velocity in front of the step, rad/s.
        velocity: behind it, rad/s.
        friction: of the step, N·m.
        budget: of friction, N·m.
        gain: time step by inertia, rad/s per N·m.
    """
    if not is_held(friction, budget):
        if before * velocity < 0.0 and friction * velocity < 0.0:
            return 2.0 * abs(before) / (abs(velocity - before) + 2.0 * gain * abs(friction))
        return 0.0
    along = friction
    if before < 0.0:
        along = -friction
    push = along + abs(before) / gain
    if push <= budget:
        return 0.0
    share = abs(before) / (gain * (push + budget))
    return (1.0 - share) * (push - budget) / budget


def whole_step(
    c: Table,
    memory: Table,
    drive: Table,
    k: int,
    goal: float,
    enabled: float,
    position: float,
    velocity: float,
    external: float,
    inertia: float,
    dt: float,
) -> tuple[float, float]:
    """Return motor and friction torque of servo k, N·m, in a step of BAM's Algorithm 1, as of golden cases.

    It is `begin_step` without half steps; the law computes friction, not a solver. Arguments are as there;
    `external` is the whole external torque, N·m, and `inertia` is in kg·m². Memory of zeros begins.
    """
    if memory[Memory.was_enabled, k] == 0.0:
        begin_set_point(memory, k, position)
    memory[Memory.was_enabled, k] = enabled
    motor = 0.0
    if enabled == 0.0:
        forget_demand(memory, k)
    else:
        demand = renewed_demand(c, memory, k, goal, position, velocity, dt)
        memory[Memory.held_demand, k] = demand
        motor = drive_motor(c, memory, drive, k, 1.0, demand, velocity, dt)
    budget = friction_budget(c, k, motor, external, velocity)
    stop = -(inertia / dt * velocity + motor + external)
    return motor, min(max(stop, -budget), budget)


def mean_demand(
    c: Table,
    memory: Table,
    s: Table,
    k: int,
    goal: float,
    enabled: float,
    position: float,
    velocity: float,
    dt: float,
) -> float:
    """Return the mean demand in a step, duty or A (BAM eqs. 12, 14): it is renewed once per period."""
    held, was = memory[Memory.held_demand, k], memory[Memory.was_enabled, k]
    period, clock = c[Number.period, k], memory[Memory.clock, k]
    is_due = clock < dt * (1.0 - _CLOCK_SLACK)
    ahead = clock + dt
    s[Memory.clock, k] = max(ahead - period * math.floor(ahead / period + _CLOCK_SLACK), 0.0)
    if was == FIRST_STEP:
        s[Memory.set_point, k] = goal  # it has reached the goal before
    s[Memory.was_enabled, k] = enabled
    if enabled <= 0.0:
        forget_demand(s, k)
        return held
    if was != 0.0 and not is_due:
        return held
    if was == 0.0:
        begin_set_point(s, k, position)
    renewed = renewed_demand(c, s, k, goal, position, velocity, max(period, dt))
    s[Memory.held_demand, k] = renewed
    stale = 0.0 if was == 0.0 else 0.5 * min(period / dt, 1.0)
    return renewed + stale * (held - renewed)


def forget_demand(s: Table, k: int) -> None:
    """Forget what firmware forgets with torque off."""
    s[Memory.held_demand, k] = 0.0
    s[Memory.overload, k] = 0.0
    s[Memory.is_past_known, k] = 0.0
    s[Memory.integral, k] = 0.0


def begin_set_point(s: Table, k: int, position: float) -> None:
    """Let the set-point start where the servo is, rad."""
    s[Memory.set_point, k] = position
    s[Memory.set_point_speed, k] = 0.0


def renewed_demand(
    c: Table, s: Table, k: int, goal: float, position: float, velocity: float, period: float
) -> float:
    """Return a new demand of the firmware, duty or A; arguments as of `begin_step`, `period` in s."""
    fastest = c[Number.goal_speed_limit, k]
    point, speed = law.profiled(
        s[Memory.set_point, k],
        s[Memory.set_point_speed, k],
        goal,
        period,
        fastest if fastest > 0.0 else NO_LIMIT,
        c[Number.goal_acceleration_limit, k],
    )
    s[Memory.set_point, k] = point
    s[Memory.set_point_speed, k] = speed
    error = point - measured_position(c, k, position - c[Number.sensor_delay, k] * velocity)
    kp = c[Number.kp, k]
    stiffness = c[Number.demand_per_kp_rad, k] * kp
    damping = c[Number.demand_per_root_kp_velocity, k] * math.sqrt(abs(kp))
    limit = c[Number.demand_limit, k]
    ahead = law.shaped_error(error, c[Number.dead_band, k], c[Number.error_offset, k])
    rate_time = c[Number.kd_scale, k] * c[Number.kd, k] / kp
    if rate_time != 0.0:
        rate = -velocity
        if s[Memory.is_past_known, k] != 0.0:
            rate = (error - s[Memory.past_error, k]) / period
        s[Memory.past_error, k] = error
        s[Memory.is_past_known, k] = 1.0
        ahead += rate_time * rate
    growth = c[Number.ki_scale, k] * c[Number.ki, k] / kp * period
    if growth > 0.0:
        s[Memory.integral, k] = law.integrated(
            s[Memory.integral, k], error, growth, limit / stiffness, c[Number.dead_band, k]
        )
    wanted = law.demand(ahead + s[Memory.integral, k], velocity, stiffness, damping, limit)
    return limited_by_overload(c, s, k, wanted, goal, period)


def limited_by_overload(c: Table, s: Table, k: int, wanted: float, goal: float, period: float) -> float:
    """Return a demand as protection from overload leaves it, duty or A."""
    trip = c[Number.overload_time, k]
    if trip <= 0.0:
        return wanted
    trip -= _CLOCK_SLACK * period
    limit = c[Number.demand_limit, k]
    last_goal = s[Memory.unprotected_goal, k]
    overload = law.overload_after_goal(s[Memory.overload, k], last_goal, goal, trip, c[Number.resolution, k])
    if overload >= trip:
        s[Memory.overload, k] = overload
        allowed = c[Number.overload_limit, k] * limit
        return min(max(wanted, -allowed), allowed)
    s[Memory.unprotected_goal, k] = goal
    threshold = c[Number.overload_threshold, k] * limit
    s[Memory.overload, k] = law.overload_after_demand(overload, wanted, threshold, trip, period)
    return wanted


def measured_position(c: Table, k: int, position: float) -> float:
    """Return the position in the firmware, rad: whole counts of its encoder where it works in counts."""
    count, zero = c[Number.encoder_count, k], c[Number.encoder_zero, k]
    if count <= 0.0:
        return position
    return count * math.floor((position + zero) / count + 0.5) - zero


def enabled_share(memory: Table, k: int, enabled: float) -> float:
    """Return the share of the step with torque on; its first half belongs to the command before."""
    was = memory[Memory.was_enabled, k]
    return enabled if was == FIRST_STEP else 0.5 * (enabled + was)


def drive_motor(
    c: Table, s: Table, drive: Table, k: int, share: float, demand: float, velocity: float, dt: float
) -> float:
    """Return the motor torque, N·m, of a demand during a share of the step (BAM eqs. 13, 15).

    It writes duty and current, and into `s` how warm the winding becomes.
    """
    warming = s[Memory.winding_warming, k]
    warm = 1.0 + COPPER_COEFFICIENT * warming
    resistance = c[Number.resistance, k] * warm
    constant, supply = c[Number.torque_constant, k], c[Number.supply_voltage, k]
    back_emf = constant * velocity
    duty, current = 0.0, 0.0
    if c[Number.regulates_current, k] != 0.0:
        limited = law.limited_current(demand, supply, back_emf, resistance)
        current = share * limited
        if s[Memory.was_enabled, k] != 0.0 and supply > 0.0:
            duty = (resistance * limited + back_emf) / supply
    else:
        duty = s[Memory.held_demand, k]
        closed = 1.0 - c[Number.bridge_coasting, k] * (1.0 - abs(demand))
        current = share * (demand * supply - closed * back_emf) / resistance
    loss = c[Number.winding_heating, k] * resistance * current * current
    case = 0.0
    if c[Number.winding_heating, k] > 0.0:
        case = c[Number.case_temperature_rise, k]
    s[Memory.winding_warming, k] = warming + dt * (loss - (warming - case) / WINDING_COOLING_TIME)
    torque = constant * current / (1.0 + c[Number.torque_saturation, k] * abs(current))
    drive[Drive.duty, k] = duty
    drive[Drive.current, k] = current
    drive[Drive.motor_torque, k] = torque
    return torque


def friction_budget(c: Table, k: int, motor: float, external: float, velocity: float) -> float:
    """Return τ_f^m, N·m (BAM eq. 10), for torques in N·m and a velocity in rad/s."""
    scale = math.exp(-c[Number.friction_temperature, k] * c[Number.case_temperature_rise, k])
    friction = FrictionLaw(
        scale * c[Number.viscous, k],
        scale * c[Number.coulomb, k],
        scale * c[Number.stribeck_coulomb, k],
        c[Number.stribeck_velocity, k],
        c[Number.stribeck_exponent, k],
        c[Number.load_motor, k],
        c[Number.load_external, k],
        c[Number.load_motor_stribeck, k],
        c[Number.load_external_stribeck, k],
        c[Number.quadratic_motor, k],
        c[Number.quadratic_external, k],
        c[Number.quadratic_opposing, k],
    )
    return law.budget(friction, motor, external, velocity)


def direction_scale(c: Table, k: int, velocity: float) -> float:
    """Return the factor of the friction budget for the direction of this velocity."""
    if velocity == 0.0:
        return 1.0
    return 1.0 + math.copysign(c[Number.friction_direction, k], velocity)


def is_held(friction: float, budget: float) -> bool:
    """Whether friction was below its budget: it held the joint at rest."""
    return abs(friction) < _HELD * budget


def hold_until_switch(c: Table, drive: Table, k: int, share: float, is_released: bool) -> None:
    """Let friction that held the joint hold it until torque is switched in the middle of the step.

    The joint then gets what exceeds the friction budget of the new state; a mean over the step would not.
    """
    external, motor = drive[Drive.external_torque, k], drive[Drive.motor_torque, k]
    renewed = 0.0 if is_released else motor / share
    rest = 1.0 - share if is_released else share
    push = renewed + external
    available = friction_budget(c, k, renewed, external, 0.0) * direction_scale(c, k, push)
    excess = rest * math.copysign(max(abs(push) - available, 0.0), push)
    friction = excess - motor - external
    if friction * push < 0.0:
        drive[Drive.friction_limit, k] = abs(friction)
    else:
        drive[Drive.motor_torque, k] = motor + friction
        drive[Drive.friction_limit, k] = 0.0


NO_LIMIT = 1e9
"""rad/s: of set-points that jump; its square is finite in float32."""
