# SPDX-License-Identifier: Apache-2.0
"""What a port of the servo law gets: numbers of a servo, and steps one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bam_core.arrays import Array


@dataclass(frozen=True, kw_only=True)
class ServoNumbers:
    """A servo as plain numbers, SI.

    Attributes:
        law: "voltage" (BAM eqs. 12, 13) or "current" (eq. 14).
        torque_constant: k_t, N·m/A.
        resistance: R, Ω.
        supply: V.
        stiffness: demand per rad of error: duty, or A.
        damping: demand per rad/s, 0 but for the current law.
        limit: largest demand.
        rate_time: T of a derivative gain, s: the demand is stiffness·(e + T·ė).
        integral_rate: of an integral gain, 1/s: an error e adds stiffness·integral_rate·e·dt to the demand in
            every step, while torque is on. The sum is limited to ±limit, and is 0 where torque comes on.
        dead_band: error up to which the demand is zero, rad.
        error_offset: what is added to larger errors, in their direction, rad.
        goal_speed_limit: at which the set-point follows the goal, rad/s.
        goal_acceleration_limit: of the set-point, rad/s²; see `bam_core.servo.firmware.profiled`.
        friction_model: "m1" to "m6".
        friction: the eleven coefficients of eq. 10 by name, as of `bam_core.Friction`.
    """

    law: str = "voltage"
    torque_constant: float = 1.2
    resistance: float = 3.0
    supply: float = 12.0
    stiffness: float = 2.0
    damping: float = 0.0
    limit: float = 0.9
    rate_time: float = 0.0
    integral_rate: float = 0.0
    dead_band: float = 0.0
    error_offset: float = 0.0
    goal_speed_limit: float = float("inf")
    goal_acceleration_limit: float = float("inf")
    friction_model: str = "m1"
    friction: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One control period, during which the demand is held.

    Attributes:
        goal: rad, in force in this step.
        enabled: False where the H-bridge is released: no motor torque, no back-EMF.
        position: θ, rad, at the beginning of the step.
        velocity: θ̇, rad/s, likewise.
        external_torque: τ_e, N·m, signed like the motor's.
        inertia: J, kg·m².
        dt: s.
    """

    goal: float
    enabled: bool
    position: float
    velocity: float
    external_torque: float
    inertia: float
    dt: float


@dataclass(frozen=True, kw_only=True)
class GoldenCase:
    """Steps of one servo and the torques that the law has in them.

    Attributes:
        name: what it shows.
        servo: whose law.
        steps: one after the other.
        resets: before which steps, by index, an episode begins anew; 0 is one of them.
        expected: (steps, 2) motor torque and friction torque, N·m.
    """

    name: str
    servo: ServoNumbers
    steps: tuple[Step, ...]
    resets: frozenset[int]
    expected: Array
