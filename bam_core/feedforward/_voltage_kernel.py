# SPDX-License-Identifier: Apache-2.0
"""The motor simulator of Dynaban, compiled: candidates on open-loop voltage logs, with (4) or with M1-M6."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.compilation import compiled

Array = NDArray[np.float64]


@compiled()
def simulate(
    candidate: Array,
    inertia: float,
    gravity: float,
    voltage: Array,
    start: float,
    dt: float,
    position: Array,
) -> None:
    """Fill `position` (n,) rad from rest at `start`; one step per sample, second order in dt.

    Back-EMF and viscous friction are taken as the mean over the step, gravity in its middle; the rest of
    friction stops the shaft within a step where it can.

    Args:
        candidate: (14,) torque constant, resistance and armature, then FRICTION_PARAMETERS.
        inertia: of the bench, kg·m².
        gravity: of the bench: torque is -gravity·sin θ, N·m.
        voltage: (n,) V.
        start: rad.
        dt: s.
        position: (n,) to be filled.
    """
    torque_constant, resistance, armature, viscous, coulomb = candidate[:5]
    stribeck_coulomb, stribeck_velocity, exponent = candidate[5:8]
    motor_share, load_share, motor_stribeck, load_stribeck, motor_square, load_square = candidate[8:14]
    has_load = np.any(candidate[8:14] != 0.0)
    drive, back_emf = torque_constant / resistance, torque_constant**2 / resistance
    total, damping = inertia + armature, back_emf + viscous
    kept, scale = total - 0.5 * dt * damping, 1.0 / (total + 0.5 * dt * damping)
    place, speed = start, 0.0
    for k in range(voltage.size):
        position[k] = place
        push = drive * voltage[k]
        load = -gravity * math.sin(place + 0.5 * dt * speed) if gravity > 0.0 else 0.0
        momentum = kept * speed + dt * (push + load)
        ratio = abs(speed) / stribeck_velocity
        stribeck_factor = math.exp(-ratio if exponent == 1.0 else -(ratio**exponent))
        friction = coulomb + stribeck_factor * stribeck_coulomb
        if has_load:
            motor = push - back_emf * speed
            square = 0.0
            if abs(motor) > abs(load):
                square = load_square * load * load
            elif abs(motor) < abs(load):
                square = motor_square * motor * motor
            at_rest = abs(motor_stribeck * motor - load_stribeck * load) + square
            friction += abs(motor_share * motor - load_share * load) + stribeck_factor * at_rest
        after = math.copysign(max(abs(momentum) - dt * friction, 0.0) * scale, momentum)
        place += 0.5 * dt * (speed + after)
        speed = after


@compiled()
def errors(
    candidates: Array, inertia: Array, gravity: Array, voltage: Array, measured: Array, dt: float
) -> Array:
    """Return RMS errors of position, (candidates, logs) rad.

    Args:
        candidates: (candidates, 14), see `simulate`.
        inertia: (logs,) of the benches, kg·m².
        gravity: (logs,) likewise, N·m.
        voltage: (logs, n) V.
        measured: (logs, n) rad; runs begin at rest where they do.
        dt: s.
    """
    found = np.empty((candidates.shape[0], voltage.shape[0]))
    position = np.empty(voltage.shape[1])
    for c in range(candidates.shape[0]):
        for log in range(voltage.shape[0]):
            simulate(candidates[c], inertia[log], gravity[log], voltage[log], measured[log, 0], dt, position)
            squares = 0.0
            for k in range(position.size):
                squares += (position[k] - measured[log, k]) ** 2
            found[c, log] = math.sqrt(squares / position.size)
    return found
