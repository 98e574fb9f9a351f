# SPDX-License-Identifier: Apache-2.0
"""The motor torques of feed-forward laws, compiled: they are found anew in every cycle of a bus."""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.simulation import law
from bam_core.simulation.law import FrictionLaw

REST_SPEED = 0.02
"""rad/s; below it friction is helped in proportion, since a motion at rest has no direction."""

# A law as a vector: torque constant, resistance, armature, FRICTION_PARAMETERS, whether the quadratic rule is
# "opposing".
_ARMATURE, _FRICTION, _OPPOSING = 2, 3, 14

_HALVINGS = 60  # of the bracket around a torque: its width ends below the last digits of a double


@compiled()
def torques(laws: Array, velocity: Array, next_velocity: Array, dt: float, output: Array) -> Array:
    """Return τ_o + τ_a + τ_f, (n,) N·m; see `FeedForwardLaw`.

    Args:
        laws: (n, 15), or (1, 15) for all.
        velocity: (n,) rad/s.
        next_velocity: (n,) rad/s.
        dt: s.
        output: (n,) τ_o, N·m.
    """
    result = np.empty_like(velocity)
    for i in range(velocity.size):
        row = laws[i % laws.shape[0]]
        friction = law.friction_law(row[_FRICTION:_OPPOSING], row[_OPPOSING])
        wanted = output[i] + row[_ARMATURE] * (next_velocity[i] - velocity[i]) / dt
        mean = 0.5 * (velocity[i] + next_velocity[i])
        direction = min(max(mean / REST_SPEED, -1.0), 1.0)
        result[i] = _solution(friction, wanted, direction, -output[i], abs(mean))
    return result


@compiled()
def _solution(friction: FrictionLaw, wanted: float, direction: float, external: float, speed: float) -> float:
    """Return the motor torque τ with τ - direction·budget(τ) = wanted, N·m.

    The quadratic term jumps at |τ| = |τ_e|, from K_m^q·τ_e² below to K_e^q·τ_e² above. Where friction
    becomes smaller there, no torque may satisfy the equation: |τ_e| itself is returned then, between torques
    that are too small and torques that are too large. Where friction becomes larger, two torques may: the
    smaller one is returned.

    Args:
        friction: law of friction.
        wanted: N·m.
        direction: share and sign of friction that is compensated, -1 to 1.
        external: τ_e, N·m.
        speed: rad/s, zero or more.

    Returns:
        N·m; NaN where a state is NaN or infinite.
    """
    if not math.isfinite(wanted + external + speed):
        return math.nan
    factor = law.stribeck_factor(friction, speed)
    edge = abs(external)
    if _excess(friction, edge, wanted, direction, external, speed, factor, False) < 0.0:
        low, outside = edge, True
        # Friction grows by less than the torque does (`FeedForwardLaw.from_servo`): there is an upper end.
        high = max(2.0 * edge, 1.0)
        while _excess(friction, high, wanted, direction, external, speed, factor, True) < 0.0:
            high *= 2.0
    elif _excess(friction, -edge, wanted, direction, external, speed, factor, False) > 0.0:
        high, outside = -edge, True
        low = -max(2.0 * edge, 1.0)
        while _excess(friction, low, wanted, direction, external, speed, factor, True) > 0.0:
            low *= 2.0
    else:
        low, high, outside = -edge, edge, False
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _excess(friction, middle, wanted, direction, external, speed, factor, outside) < 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled()
def _excess(
    friction: FrictionLaw,
    motor: float,
    wanted: float,
    direction: float,
    external: float,
    speed: float,
    factor: float,
    outside: bool,
) -> float:
    """Return τ - direction·budget(τ) - wanted, N·m, with friction of BAM eq. 10.

    Args:
        friction: law of friction.
        motor: τ, N·m.
        wanted: N·m.
        direction: -1 to 1.
        external: τ_e, N·m.
        speed: rad/s, zero or more.
        factor: exp(-|ω/v_s|^α), dimensionless.
        outside: whether the quadratic term is that of |τ| > |τ_e|, else that of |τ| < |τ_e|.
    """
    quadratic = law.quadratic_term(friction, motor, external, outside)
    always = law.always_available(friction, motor, external, speed)
    at_rest = law.available_at_rest(friction, motor, external, quadratic)
    return motor - direction * (always + factor * at_rest) - wanted
