# SPDX-License-Identifier: Apache-2.0
"""The physics of an emulated servo on its bench, compiled: friction, pendulum, supply and heat.

It is written independently of the simulations of `bam_core` on purpose. Recorder, drivers and identification
are tested on emulated servos, so this is the oracle: were it to share code with what it tests, it would share
the mistakes as well. Both emulators share it; what differs is the firmware, which is theirs.

State and parameters are float64 vectors in SI units; the constants below name their elements.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.compilation import compiled

STEP = 1e-4
"""Physics step, s."""

# The first elements of the state; those of the firmware follow.
(
    POSITION,  # θ, rad
    VELOCITY,  # θ̇, rad/s
    CURRENT,  # of the motor, A
    SUPPLY,  # voltage at the servo, V
    TEMPERATURE,  # °C
    PHYSICS_SIZE,
) = range(6)

# parameters
(
    TORQUE_CONSTANT,
    RESISTANCE,
    INERTIA,  # J of eq. 1, armature included, kg·m²
    GRAVITY_TORQUE,  # with the arm level, N·m
    VISCOUS,
    COULOMB,
    STRIBECK_COULOMB,
    STRIBECK_VELOCITY,
    STRIBECK_EXPONENT,
    LOAD_MOTOR,
    LOAD_EXTERNAL,
    LOAD_MOTOR_STRIBECK,
    LOAD_EXTERNAL_STRIBECK,
    QUADRATIC_MOTOR,
    QUADRATIC_EXTERNAL,
    OPPOSING_ONLY,  # 1: the quadratic term acts only where motor and load torque oppose
    SUPPLY_VOLTAGE,
    SUPPLY_RESISTANCE,
    AMBIENT,
    THERMAL_RESISTANCE,
    THERMAL_TIME,
    PARAMETER_SIZE,
) = range(22)

_SUPPLY_LAG = 2e-3  # time constant of the supply's capacitors, s


@compiled()
def budget(p: NDArray[np.float64], motor: float, external: float, velocity: float) -> float:
    """Friction budget τ_f^m of BAM eq. 10; torques in N·m, velocity in rad/s."""
    speed = abs(velocity)
    s = math.exp(-((speed / p[STRIBECK_VELOCITY]) ** p[STRIBECK_EXPONENT]))
    quadratic = 0.0
    if p[OPPOSING_ONLY] == 0.0 or motor * external <= 0.0:
        if abs(motor) > abs(external):
            quadratic = p[QUADRATIC_EXTERNAL] * external * external
        elif abs(motor) < abs(external):
            quadratic = p[QUADRATIC_MOTOR] * motor * motor
    always = p[VISCOUS] * speed + p[COULOMB] + abs(p[LOAD_MOTOR] * motor - p[LOAD_EXTERNAL] * external)
    at_rest = (
        p[STRIBECK_COULOMB]
        + abs(p[LOAD_MOTOR_STRIBECK] * motor - p[LOAD_EXTERNAL_STRIBECK] * external)
        + quadratic
    )
    return always + s * at_rest


@compiled()
def move(state: NDArray[np.float64], p: NDArray[np.float64], current: float) -> None:
    """One step, drift-kick-drift: the gravity of the step's middle, then friction as in BAM eqs. 4 and 5.

    The bench stands for reality, so it must not add or take energy of its own, as BAM's Algorithm 1 does in
    proportion to the step.
    """
    velocity = state[VELOCITY]
    position = state[POSITION] + 0.5 * STEP * velocity
    state[CURRENT] = current
    motor = p[TORQUE_CONSTANT] * current
    external = -p[GRAVITY_TORQUE] * math.sin(position)
    stop = -(p[INERTIA] / STEP * velocity + motor + external)
    limit = budget(p, motor, external, velocity)
    friction = min(max(stop, -limit), limit)
    velocity += (motor + external + friction) / p[INERTIA] * STEP
    state[VELOCITY] = velocity
    state[POSITION] = position + 0.5 * STEP * velocity


@compiled()
def draw(state: NDArray[np.float64], p: NDArray[np.float64], current: float, ripple: float) -> None:
    """Let the supply sag for one step under a current in A that is drawn from it; `ripple` is in V."""
    supply = p[SUPPLY_VOLTAGE] - p[SUPPLY_RESISTANCE] * current + ripple
    state[SUPPLY] += (supply - state[SUPPLY]) * (STEP / _SUPPLY_LAG)


@compiled()
def warm(state: NDArray[np.float64], p: NDArray[np.float64], duration: float) -> None:
    """Let copper loss heat the servo for some seconds."""
    heat = state[CURRENT] * state[CURRENT] * p[RESISTANCE] * p[THERMAL_RESISTANCE]
    state[TEMPERATURE] += (p[AMBIENT] + heat - state[TEMPERATURE]) * (duration / p[THERMAL_TIME])
