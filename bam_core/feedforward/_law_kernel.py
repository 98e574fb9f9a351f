# SPDX-License-Identifier: Apache-2.0
"""The motor torques of feed-forward laws, compiled: they are found anew in every cycle of a bus."""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REST_SPEED = 0.02
"""rad/s; below it friction is helped in proportion, since a motion at rest has no direction."""

LAW_SIZE = 15
"""Of a law as a vector: torque constant, resistance, armature, FRICTION_PARAMETERS, whether the quadratic
rule is "opposing"."""

_TOLERANCE = 1e-4  # N·m
_ITERATIONS = 60

_compiled = numba.njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def torques(laws: Array, velocity: Array, next_velocity: Array, dt: float, output: Array) -> Array:
    """Return τ_o + τ_a + τ_f, (n,) N·m; see `FeedForwardLaw`.

    Args:
        laws: (n, LAW_SIZE), or (1, LAW_SIZE) for all.
        velocity: (n,) rad/s.
        next_velocity: (n,) rad/s.
        dt: s.
        output: (n,) τ_o, N·m.
    """
    found = np.empty_like(velocity)
    for i in range(velocity.size):
        law = laws[i % laws.shape[0]]
        wanted = output[i] + law[2] * (next_velocity[i] - velocity[i]) / dt
        mean = 0.5 * (velocity[i] + next_velocity[i])
        direction = min(max(mean / REST_SPEED, -1.0), 1.0)
        torque = wanted + direction * _budget(law, wanted, -output[i], mean)
        for _ in range(_ITERATIONS):
            before = torque
            torque = wanted + direction * _budget(law, before, -output[i], mean)
            if abs(torque - before) <= _TOLERANCE:
                break
        found[i] = torque
    return found


@_compiled
def _budget(law: Array, motor: float, external: float, velocity: float) -> float:
    """Size of friction (BAM eq. 10), N·m; torques in N·m, velocity in rad/s."""
    viscous, coulomb, stribeck_coulomb, stribeck_velocity, exponent = law[3:8]
    load_motor, load_external, motor_stribeck, external_stribeck, motor_square, external_square = law[8:14]
    speed = abs(velocity)
    quadratic = 0.0
    if law[14] == 0.0 or motor * external < 0.0:
        if abs(motor) > abs(external):
            quadratic = external_square * external * external
        elif abs(motor) < abs(external):
            quadratic = motor_square * motor * motor
    at_rest = stribeck_coulomb + abs(motor_stribeck * motor - external_stribeck * external) + quadratic
    always = viscous * speed + coulomb + abs(load_motor * motor - load_external * external)
    return always + math.exp(-((speed / stribeck_velocity) ** exponent)) * at_rest
