# SPDX-License-Identifier: Apache-2.0
"""The motor simulator of Dynaban, compiled: candidates on open-loop voltage logs, with (4) or with M1-M6."""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.simulation import law


@compiled()
def simulate(
    candidate: Array,
    inertia: float,
    gravity: float,
    voltage: Array,
    start: float,
    start_velocity: float,
    dt: float,
    position: Array,
) -> None:
    """Fill `position` (n,) rad from the state at the start; one step per sample, second order in dt.

    Back-EMF and viscous friction are taken as the mean over the step, gravity in its middle; the rest of
    friction stops the shaft within a step where it can.

    Args:
        candidate: (14,) torque constant, resistance and armature, then FRICTION_PARAMETERS.
        inertia: of the bench, kg·m².
        gravity: of the bench: torque is -gravity·sin θ, N·m.
        voltage: (n,) V.
        start: rad.
        start_velocity: rad/s.
        dt: s.
        position: (n,) to be filled.
    """
    torque_constant, resistance, armature = candidate[:3]
    viscous = candidate[3]
    rest = candidate[3:14].copy()
    rest[0] = 0.0
    friction = law.friction_law(rest, 0.0)  # but for viscous friction
    drive, back_emf = torque_constant / resistance, torque_constant**2 / resistance
    total, damping = inertia + armature, back_emf + viscous
    kept, scale = total - 0.5 * dt * damping, 1.0 / (total + 0.5 * dt * damping)
    place, speed = start, start_velocity
    for k in range(voltage.size):
        position[k] = place
        push = drive * voltage[k]
        load = -gravity * math.sin(place + 0.5 * dt * speed) if gravity > 0.0 else 0.0
        momentum = kept * speed + dt * (push + load)
        limit = law.budget(friction, push - back_emf * speed, load, speed)
        after = math.copysign(max(abs(momentum) - dt * limit, 0.0) * scale, momentum)
        place += 0.5 * dt * (speed + after)
        speed = after


@compiled()
def errors(
    candidates: Array,
    inertia: Array,
    gravity: Array,
    start_velocity: Array,
    voltage: Array,
    measured: Array,
    dt: float,
) -> Array:
    """Return RMS errors of position, (candidates, logs) rad.

    Args:
        candidates: (candidates, 14), see `simulate`.
        inertia: (logs,) of the benches, kg·m².
        gravity: (logs,) likewise, N·m.
        start_velocity: (logs,) rad/s.
        voltage: (logs, n) V.
        measured: (logs, n) rad; runs begin where they do.
        dt: s.
    """
    result = np.empty((candidates.shape[0], voltage.shape[0]))
    position = np.empty(voltage.shape[1])
    for c in range(candidates.shape[0]):
        for log in range(voltage.shape[0]):
            simulate(
                candidates[c],
                inertia[log],
                gravity[log],
                voltage[log],
                measured[log, 0],
                start_velocity[log],
                dt,
                position,
            )
            squares = 0.0
            for k in range(position.size):
                squares += (position[k] - measured[log, k]) ** 2
            result[c, log] = math.sqrt(squares / position.size)
    return result
