# SPDX-License-Identifier: Apache-2.0
"""A servo joint with physics that no friction model of BAM has: the truth behind synthetic recordings.

Friction is a bristle (LuGre; Canudas de Wit, Olsson, Åström, Lischinsky, IEEE TAC 40, 1995) whose level in
steady motion is the budget of BAM eq. 10, more in one direction than in the other; the motor's torque
ripples with the angle. Nothing of the suite's simulation is in it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bam_core.compilation import compiled

STEP = 5e-5
"""s; of semi-implicit Euler. Bristles here follow within half a millisecond or slower."""

PERIOD = 1e-3
"""s; of the servo's position controller."""


class Joint(NamedTuple):
    """Motor at the output shaft, controller, friction and what is beyond the models; SI.

    Attributes:
        torque_constant: k_t, N·m/A.
        resistance: R, Ω.
        armature: J_m, kg·m².
        viscous: K_v; and so on, the coefficients of `servo.Friction`.
        gain: of the error, duty or A per rad.
        damping: of the velocity, A·s/rad; current law alone.
        limit: of duty, or of current, A.
        supply: V.
        is_current: 1 where the controller asks for a current, BAM eq. 14; 0: for a voltage, eq. 12.
        presliding: over which bristles bend, rad.
        asymmetry: share of dry friction, more in one direction and less in the other.
        ripple: amplitude, N·m.
        harmonic: of the ripple, per turn of the output shaft.
    """

    torque_constant: float
    resistance: float
    armature: float
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
    gain: float
    damping: float
    limit: float
    supply: float
    is_current: float
    presliding: float
    asymmetry: float
    ripple: float
    harmonic: float


@compiled()
def demanded(joint: Joint, error: float, velocity: float) -> float:
    """Return the duty, or the current in A, that the controller asks for."""
    asked = joint.gain * error - joint.damping * velocity
    return min(max(asked, -joint.limit), joint.limit)


@compiled()
def motor_torque(joint: Joint, demand: float, position: float, velocity: float, enabled: float) -> float:
    """Return the motor's torque, ripple included, N·m (BAM eqs. 13, 15)."""
    torque = 0.0
    if enabled > 0.0:
        if joint.is_current > 0.0:
            largest = (joint.supply - joint.torque_constant * velocity) / joint.resistance
            least = (-joint.supply - joint.torque_constant * velocity) / joint.resistance
            torque = joint.torque_constant * min(max(demand, least), largest)
        else:
            voltage = demand * joint.supply - joint.torque_constant * velocity
            torque = joint.torque_constant * voltage / joint.resistance
    return torque + joint.ripple * math.sin(joint.harmonic * position + 0.7)


@compiled()
def dry_friction(joint: Joint, motor: float, external: float, velocity: float) -> float:
    """Return the level of dry friction in steady motion, N·m (BAM eq. 10 without its viscous part)."""
    speed = abs(velocity)
    stribeck = math.exp(-((speed / joint.stribeck_velocity) ** joint.stribeck_exponent))
    always = joint.coulomb + abs(joint.load_motor * motor - joint.load_external * external)
    at_rest = joint.stribeck_coulomb
    at_rest += abs(joint.load_motor_stribeck * motor - joint.load_external_stribeck * external)
    if abs(motor) > abs(external):
        at_rest += joint.quadratic_external * external**2
    else:
        at_rest += joint.quadratic_motor * motor**2
    level = always + stribeck * at_rest
    if velocity > 0.0:
        level *= 1.0 + joint.asymmetry
    elif velocity < 0.0:
        level *= 1.0 - joint.asymmetry
    return level


@compiled()
def friction_torque(
    joint: Joint, level: float, strain: float, velocity: float, inertia: float
) -> tuple[float, float]:
    """Return friction, N·m, and the rate of the bristles' strain, rad/s (LuGre).

    Args:
        joint: whose it is.
        level: of dry friction in steady motion, N·m.
        strain: of the bristles, rad.
        velocity: rad/s.
        inertia: that the joint feels, kg·m²; it scales the bristles' damping, half the critical one.
    """
    stiffness = level / joint.presliding
    rate = velocity - abs(velocity) * strain / joint.presliding
    damping = math.sqrt(stiffness * inertia) * math.exp(-((velocity / 0.1) ** 2))
    return -(stiffness * strain + damping * rate + joint.viscous * velocity), rate
