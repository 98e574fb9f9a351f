# SPDX-License-Identifier: Apache-2.0
"""The law of many servos at once, as pure functions of arrays: NumPy, JAX and PyTorch run the same text.

Every function takes `xp`, the module whose arrays are given: `numpy`, `jax.numpy` or `torch`. Nothing is
changed in place and no branch depends on a value. So `jax.jit`, `vmap` and `lax.scan` apply, and gradients
exist everywhere. Where friction sticks, they are those of the stopping torque (BAM eq. 5).
"""

from __future__ import annotations

import logging
import os
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bam_core.errors import Unsupported
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.identification.uncertainty.drawn_servos import draw_servos
from bam_core.servo.firmware import SLACK
from bam_core.servo.friction import FRICTION_PARAMETERS
from bam_core.servo.model import ServoModel, load_servo

Numbers: TypeAlias = Any
"""A number, or an array of NumPy, JAX or PyTorch."""

log = logging.getLogger(__name__)

_LARGEST_LOG = 4.6  # of (θ̇/v_s)^α: exp(-exp(4.6)) is 1e-43, and no gradient overflows


class ServoArrays(NamedTuple):
    """Servos as numbers or arrays that broadcast, such as one value per world; SI. JAX takes it as a tree.

    Attributes:
        current_law: 1 with the current law (BAM eq. 14), 0 with the voltage law (eqs. 12, 13).
        torque_constant: k_t, N·m/A.
        resistance: R, Ω.
        torque_saturation: s, 1/A: the torque of a current I is k_t·I/(1 + s·|I|).
        supply: V.
        stiffness: demand (duty, or A) per rad of error.
        damping: demand per rad/s.
        limit: largest demand.
        rate_time: T of a derivative gain, s.
        integral_rate: by how much an error of 1 rad makes the integral grow in a second, 1/s.
        dead_band: error up to which the demand is zero, rad.
        error_offset: added to larger errors, in their direction, rad.
        goal_speed_limit: of the set-point, rad/s; `NO_LIMIT` where it jumps.
        goal_acceleration_limit: of the set-point, rad/s²; `NO_LIMIT` where its speed jumps.
        opposing: 1 with the quadratic rule "opposing" of BAM's program, 0 with that of the paper.
        viscous, coulomb, stribeck_coulomb, stribeck_velocity, stribeck_exponent, load_motor, load_external,
            load_motor_stribeck, load_external_stribeck, quadratic_motor, quadratic_external: of eq. 10.
        armature: kg·m²; the law does not use it, the joint does.
    """

    current_law: Numbers
    torque_constant: Numbers
    resistance: Numbers
    torque_saturation: Numbers
    supply: Numbers
    stiffness: Numbers
    damping: Numbers
    limit: Numbers
    rate_time: Numbers
    integral_rate: Numbers
    dead_band: Numbers
    error_offset: Numbers
    goal_speed_limit: Numbers
    goal_acceleration_limit: Numbers
    opposing: Numbers
    viscous: Numbers
    coulomb: Numbers
    stribeck_coulomb: Numbers
    stribeck_velocity: Numbers
    stribeck_exponent: Numbers
    load_motor: Numbers
    load_external: Numbers
    load_motor_stribeck: Numbers
    load_external_stribeck: Numbers
    quadratic_motor: Numbers
    quadratic_external: Numbers
    armature: Numbers


class FirmwareState(NamedTuple):
    """What the firmware keeps from step to step; a new episode begins with `begin`.

    Attributes:
        set_point: rad.
        set_speed: of the set-point, rad/s.
        error: of the last step, rad.
        integral: of the integral gain, duty or A.
        running: 1 where torque was on in the last step, else 0.
    """

    set_point: Numbers
    set_speed: Numbers
    error: Numbers
    integral: Numbers
    running: Numbers


class Joint(NamedTuple):
    """A joint at the beginning of a step.

    Attributes:
        position: θ, rad.
        velocity: θ̇, rad/s.
        external_torque: τ_e, N·m, signed like the motor's.
        inertia: J with the armature, kg·m².
    """

    position: Numbers
    velocity: Numbers
    external_torque: Numbers
    inertia: Numbers


NO_LIMIT = 1e6
"""rad/s or rad/s²: of set-points that jump; finite, so that gradients are."""

_LACKING = (
    "winding_heating",
    "friction_temperature",
    "bridge_coasting",
    "sensor_delay",
    "encoder_quantisation",
    "load_inertia",
    "friction_direction",
)


def servo_arrays(
    servo: str | os.PathLike[str], gains: DriveGains, *, draws: int | None = None, seed: int = 0
) -> ServoArrays:
    """Return a servo as numbers, or draws of it as arrays.

    Args:
        servo: library name, or path of a file that `bam identify` wrote.
        gains: and supply.
        draws: random servos, see `draw_servos`; None: the servo itself.
        seed: of the draws.

    Returns:
        Numbers (), or arrays (draws,) of float64.

    Raises:
        BamError: the servo has a gear, or knows no errors to draw.
    """
    model = load_servo(servo)
    if model.gear is not None:
        raise Unsupported(
            f"servo '{model.name}'",
            "has a gear, which the law of arrays lacks",
            expected="M1 to M6",
            advice="identify one of them",
        )
    if lacking := arrays_leave_out(model):
        log.warning("servo '%s': the law of arrays lacks %s; it is left out", model.name, ", ".join(lacking))
    if draws is None:
        return _numbers(model, gains)
    rows = [_numbers(drawn, gains) for drawn in draw_servos(servo, count=draws, seed=seed)]
    return ServoArrays(*(np.array(column) for column in zip(*rows, strict=True)))


def arrays_leave_out(servo: ServoModel) -> tuple[str, ...]:
    """Return the effects of a servo that this law lacks, by name; `bam simulate` has all of them."""
    values = servo.effect_values
    protection = () if servo.firmware.protection is None else ("protection",)
    return (*(name for name in _LACKING if values.get(name)), *protection)


def begin(position: Numbers, *, xp: Any = np) -> FirmwareState:
    """Return the state of an episode that begins, in the shape of the positions."""
    zero = xp.zeros_like(position)
    return FirmwareState(set_point=zero, set_speed=zero, error=zero, integral=zero, running=zero)


def reset(state: FirmwareState, done: Numbers, *, xp: Any = np) -> FirmwareState:
    """Return the state with those worlds begun anew where `done`, in its shape, is true."""
    return FirmwareState(*(xp.where(done, xp.zeros_like(value), value) for value in state))


def motor_torque(
    servo: ServoArrays,
    state: FirmwareState,
    goal: Numbers,
    enabled: Numbers,
    joint: Joint,
    dt: float,
    *,
    xp: Any = np,
) -> tuple[FirmwareState, Numbers]:
    """Return the next state and τ_m, N·m.

    Args:
        servo: numbers or arrays.
        state: of the step before.
        goal: rad, arrays of the joints' shape.
        enabled: true where torque is on; elsewhere the H-bridge is released.
        joint: at the beginning of the step.
        dt: control period, s.
        xp: module of the arrays.
    """
    running = state.running > 0.5
    start = xp.where(running, state.set_point, joint.position)
    set_point, set_speed = _set_point(servo, start, xp.where(running, state.set_speed, 0.0), goal, dt, xp)
    error = set_point - joint.position
    rate = xp.where(running, (error - state.error) / dt, -joint.velocity)
    counted = xp.where(xp.abs(error) <= servo.dead_band, 0.0, error)
    shaped = counted + servo.error_offset * xp.sign(counted)
    growth = servo.stiffness * servo.integral_rate * counted * dt
    integral = _clipped(xp.where(running, state.integral, 0.0) + growth, servo.limit, xp)
    wanted = servo.stiffness * (shaped + servo.rate_time * rate) - servo.damping * joint.velocity
    demand = _clipped(wanted + integral, servo.limit, xp)
    back_emf = servo.torque_constant * joint.velocity
    regulated = _clipped(servo.resistance * demand + back_emf, servo.supply, xp)
    current_law = xp.zeros_like(demand) + servo.current_law > 0.5
    voltage = xp.where(current_law, regulated, demand * servo.supply)
    current = (voltage - back_emf) / servo.resistance
    torque = servo.torque_constant * current / (1.0 + servo.torque_saturation * xp.abs(current))
    zero = xp.zeros_like(torque)
    new = FirmwareState(
        set_point=xp.where(enabled, set_point, zero),
        set_speed=xp.where(enabled, set_speed, zero),
        error=xp.where(enabled, error, zero),
        integral=xp.where(enabled, integral, zero),
        running=xp.where(enabled, zero + 1.0, zero),
    )
    return new, xp.where(enabled, torque, zero)


def friction_torque(servo: ServoArrays, motor: Numbers, joint: Joint, dt: float, *, xp: Any = np) -> Numbers:
    """Return τ_f, N·m: the torque that stops the motion in one step, within the budget (BAM eqs. 4, 5)."""
    stop = -(joint.inertia / dt * joint.velocity + motor + joint.external_torque)
    return _clipped(stop, friction_budget(servo, motor, joint.external_torque, joint.velocity, xp=xp), xp)


def friction_budget(
    servo: ServoArrays, motor: Numbers, external: Numbers, velocity: Numbers, *, xp: Any = np
) -> Numbers:
    """Return τ_f^m, N·m (BAM eq. 10), for τ_m and τ_e in N·m and θ̇ in rad/s."""
    speed = xp.abs(velocity)
    moving = speed > 0.0
    log_ratio = xp.log(xp.where(moving, speed, 1.0 + 0.0 * speed) / servo.stribeck_velocity)
    power = servo.stribeck_exponent * log_ratio
    power = xp.where(power < _LARGEST_LOG, power, _LARGEST_LOG + 0.0 * power)
    stribeck = xp.where(moving, xp.exp(-xp.exp(power)), 1.0)
    always = (
        servo.viscous * speed
        + servo.coulomb
        + xp.abs(servo.load_motor * motor - servo.load_external * external)
    )
    size, load = xp.abs(motor), xp.abs(external)
    quadratic = xp.where(
        size > load,
        servo.quadratic_external * external**2,
        xp.where(size < load, servo.quadratic_motor * motor**2, 0.0),
    )
    quadratic = xp.where((servo.opposing < 0.5) | (motor * external < 0.0), quadratic, 0.0)
    at_rest = (
        servo.stribeck_coulomb
        + xp.abs(servo.load_motor_stribeck * motor - servo.load_external_stribeck * external)
        + quadratic
    )
    return always + stribeck * at_rest


def pendulum_step(
    servo: ServoArrays,
    state: FirmwareState,
    goal: Numbers,
    joint: Joint,
    dt: float,
    *,
    xp: Any = np,
) -> tuple[FirmwareState, Joint]:
    """Return state and joint after one step of BAM's Algorithm 1, torque on.

    The external torque of the new joint is that of the old one: the caller knows the load.
    """
    new, motor = motor_torque(servo, state, goal, xp.ones_like(goal) > 0.0, joint, dt, xp=xp)
    friction = friction_torque(servo, motor, joint, dt, xp=xp)
    acceleration = (motor + joint.external_torque + friction) / joint.inertia
    return new, joint._replace(
        position=joint.position + joint.velocity * dt + 0.5 * acceleration * dt**2,
        velocity=joint.velocity + acceleration * dt,
    )


def _set_point(
    servo: ServoArrays, before: Numbers, speed: Numbers, goal: Numbers, dt: float, xp: Any
) -> tuple[Numbers, Numbers]:
    """Return set-point and its speed after a period, as `bam_core.servo.firmware.profiled` has them."""
    ahead = goal - before
    jumps = before + _clipped(ahead, servo.goal_speed_limit * dt, xp)
    change = servo.goal_acceleration_limit * dt
    half, way = 0.5 * change, 2.0 * servo.goal_acceleration_limit * xp.abs(ahead)
    stopping = way / (half + (half * half + way) ** 0.5)
    wanted = xp.sign(ahead) * _clipped(stopping, servo.goal_speed_limit, xp)
    next_speed = speed + _clipped(wanted - speed, change, xp)
    moved = next_speed * dt
    arrives = (
        (xp.abs(next_speed) <= change * (1.0 + SLACK))
        & (next_speed * ahead >= 0.0)
        & (xp.abs(moved) >= xp.abs(ahead))
    )
    zero = xp.zeros_like(ahead)
    limited = xp.zeros_like(ahead) + servo.goal_acceleration_limit < NO_LIMIT
    point = xp.where(limited, xp.where(arrives, goal + zero, before + moved), jumps)
    return point, xp.where(limited, xp.where(arrives, zero, next_speed), zero)


def _clipped(values: Numbers, limit: Numbers, xp: Any) -> Numbers:
    """Return values within ±limit; both broadcast."""
    below = xp.where(values < -limit, -limit + 0.0 * values, values)
    return xp.where(below > limit, limit + 0.0 * values, below)


def _numbers(servo: ServoModel, gains: DriveGains) -> ServoArrays:
    firmware = servo.firmware
    effects = servo.servo_effects
    stiffness, damping = (float(gain) for gain in firmware.gains(gains.kp))
    slewed = firmware.goal_speed_limit if effects.goal_slew_time == 0.0 else 1.0 / effects.goal_slew_time
    supply = servo.nominal_voltage if gains.supply_voltage is None else gains.supply_voltage
    return ServoArrays(
        current_law=float(firmware.regulates_current),
        torque_constant=servo.motor.torque_constant,
        resistance=servo.motor.resistance,
        torque_saturation=servo.motor.torque_saturation,
        supply=supply,
        stiffness=stiffness * (1.0 + effects.firmware_gain),
        damping=damping,
        limit=firmware.demand_limit * (1.0 - effects.limit_shortfall),
        rate_time=firmware.rate_time(gains.kp, gains.kd),
        integral_rate=firmware.integral_rate(gains.kp, gains.ki),
        dead_band=firmware.dead_band,
        error_offset=firmware.error_offset,
        goal_speed_limit=min(slewed, NO_LIMIT),
        goal_acceleration_limit=min(firmware.goal_acceleration_limit, NO_LIMIT),
        armature=servo.motor.armature,
        opposing=float(servo.friction.quadratic_rule == "opposing"),
        **{name: getattr(servo.friction, name) for name in FRICTION_PARAMETERS},
    )
