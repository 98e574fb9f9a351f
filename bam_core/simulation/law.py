# SPDX-License-Identifier: Apache-2.0
"""The law of a servo for one state, compiled: what simulations other than the kernel of rollouts call.

`Friction`, `DcMotor` and `PositionFirmware` are its specification; tests hold them together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.servo.firmware import SLACK


class FrictionLaw(NamedTuple):
    """The coefficients of `Friction` in their order, SI; its field `opposing` is 1 for that rule, else 0."""

    viscous: float
    coulomb: float
    stribeck_coulomb: float
    stribeck_velocity: float
    stribeck_exponent: float
    load_motor: float
    load_external: float
    load_motor_stribeck: float
    load_external_stribeck: float
    quadratic_motor: float
    quadratic_external: float
    opposing: float


@compiled()
def friction_law(row: Array, opposing: float) -> FrictionLaw:
    """Return the law of a row of FRICTION_PARAMETERS."""
    return FrictionLaw(
        row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9], row[10], opposing
    )


@compiled()
def without_load(row: Array) -> FrictionLaw:
    """Return the law of the first five of FRICTION_PARAMETERS, all that do not depend on the load."""
    return FrictionLaw(row[0], row[1], row[2], row[3], row[4], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@compiled()
def budget(law: FrictionLaw, motor: float, external: float, velocity: float) -> float:
    """Return τ_f^m (BAM eq. 10), N·m: the friction torque available in a state.

    Args:
        law: friction.
        motor: τ_m, N·m.
        external: τ_e, N·m.
        velocity: rad/s.
    """
    speed = abs(velocity)
    always = always_available(law, motor, external, speed)
    quadratic = 0.0
    if abs(motor) != abs(external):
        quadratic = quadratic_term(law, motor, external, abs(motor) > abs(external))
    at_rest = available_at_rest(law, motor, external, quadratic)
    return always + stribeck_factor(law, speed) * at_rest if at_rest != 0.0 else always


@compiled()
def stribeck_factor(law: FrictionLaw, speed: float) -> float:
    """Return exp(-|θ̇/v_s|^α), by which friction at rest is scaled."""
    ratio = speed / law.stribeck_velocity
    return math.exp(-ratio if law.stribeck_exponent == 1.0 else -(ratio**law.stribeck_exponent))


@compiled()
def always_available(law: FrictionLaw, motor: float, external: float, speed: float) -> float:
    """Return the terms of eq. 10 without the Stribeck factor, N·m; arguments as of `budget`."""
    return law.viscous * speed + law.coulomb + abs(law.load_motor * motor - law.load_external * external)


@compiled()
def available_at_rest(law: FrictionLaw, motor: float, external: float, quadratic: float) -> float:
    """Return the terms of eq. 10 that the Stribeck factor scales, N·m; `quadratic` is one of them."""
    load = abs(law.load_motor_stribeck * motor - law.load_external_stribeck * external)
    return law.stribeck_coulomb + load + quadratic


@compiled()
def quadratic_term(law: FrictionLaw, motor: float, external: float, drives: bool) -> float:
    """Return the quadratic term of eq. 10, N·m, where the motor drives (|τ_m| > |τ_e|) or is driven."""
    if law.opposing != 0.0 and motor * external >= 0.0:
        return 0.0
    return law.quadratic_external * external * external if drives else law.quadratic_motor * motor * motor


@compiled()
def set_point(before: float, goal: float, most: float) -> float:
    """Return the set-point, rad, that follows a goal by `most` rad; see `firmware.followed`."""
    ahead = goal - before
    return before + math.copysign(most, ahead) if abs(ahead) > most else goal


@compiled()
def profiled(
    before: float, speed: float, goal: float, time: float, fastest: float, acceleration: float
) -> tuple[float, float]:
    """Return set-point, rad, and its speed, rad/s, after `time` s; see `firmware.profiled`.

    An acceleration of 0 means that it is not limited.
    """
    if acceleration <= 0.0:
        return set_point(before, goal, fastest * time), 0.0
    ahead = goal - before
    change = acceleration * time
    half, way = 0.5 * change, 2.0 * acceleration * abs(ahead)
    wanted = math.copysign(min(fastest, way / (half + math.sqrt(half * half + way))), ahead)
    speed += min(max(wanted - speed, -change), change)
    moved = speed * time
    if abs(speed) <= change * (1.0 + SLACK) and speed * ahead >= 0.0 and abs(moved) >= abs(ahead):
        return goal, 0.0
    return before + moved, speed


@compiled()
def shaped_error(error: float, dead_band: float, offset: float) -> float:
    """Return what a firmware multiplies with its gain, rad; see `PositionFirmware.shaped_error`."""
    return 0.0 if abs(error) <= dead_band else error + math.copysign(offset, error)


@compiled()
def integrated(integral: float, error: float, growth: float, most: float, dead_band: float) -> float:
    """Return the integral of a firmware, rad, after a period; see `PositionFirmware.integrated`.

    Args:
        integral: before, rad.
        error: rad.
        growth: integral per rad of error in a period.
        most: largest integral, rad.
        dead_band: error that does not count, rad.
    """
    counted = 0.0 if abs(error) <= dead_band else error
    return min(max(integral + growth * counted, -most), most)


@compiled()
def demand(error: float, velocity: float, stiffness: float, damping: float, limit: float) -> float:
    """Return what a firmware asks for (eqs. 12, 14), duty or A, for an error in rad and a velocity in rad/s.

    Args:
        error: rad, shaped.
        velocity: rad/s.
        stiffness: demand per rad.
        damping: demand per rad/s.
        limit: largest demand.
    """
    return min(max(stiffness * error - damping * velocity, -limit), limit)


@compiled()
def overload_after_goal(overload: float, last_goal: float, goal: float, trip: float, count: float) -> float:
    """Return the time of overload, s, that counts once a goal is known; see `OverloadProtection.after_goal`.

    Args:
        overload: time so far, s.
        last_goal: the last one before the servo was protected, rad.
        goal: rad.
        trip: time at which it is protected, s.
        count: of the encoder, rad.
    """
    return 0.0 if overload >= trip and abs(goal - last_goal) > 0.5 * count else overload


@compiled()
def overload_after_demand(
    overload: float, wanted: float, threshold: float, trip: float, period: float
) -> float:
    """Return the time of overload, s, behind a demand; see `OverloadProtection.after_demand`.

    Args:
        overload: time so far, s.
        wanted: demand before it is limited.
        threshold: demand that is overload.
        trip: time at which the servo is protected, s.
        period: for which the demand holds, s.
    """
    if overload >= trip:
        return overload
    return overload + period if abs(wanted) >= threshold else 0.0


@compiled()
def limited_current(wanted: float, supply: float, back_emf: float, resistance: float) -> float:
    """Return the wanted current, A, limited to what the supply, V, can drive (eq. 15)."""
    return min(max(wanted, (-supply - back_emf) / resistance), (supply - back_emf) / resistance)


@compiled()
def voltage_torque(torque_per_volt: float, voltage: float, back_emf: float) -> float:
    """Return the torque of a motor at a voltage (eq. 13), N·m; `torque_per_volt` is k_t/R."""
    return torque_per_volt * (voltage - back_emf)
