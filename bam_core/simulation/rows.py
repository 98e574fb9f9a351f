# SPDX-License-Identifier: Apache-2.0
"""What compiled simulations of recordings are given: commands, a log per lane, and how steps are made."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.servo.firmware import PositionFirmware

GOAL, SUPPLY, ENABLED, MEASURED = range(4)
"""Rows of `LaneInputs.signals`."""

INERTIA, TORQUE, SLOPE, DAMPING, ACROSS = range(5)
"""Rows of `LaneInputs.loads`: kg·m²; N·m at angle and velocity zero; N·m/rad; N·m·s/rad; N·m by which other
joints accelerate this one."""

NO_LOADS = np.empty((0, 5, 0))
"""Of recordings from a pendulum bench."""

VELOCITY_LIMIT = 1000.0
"""rad/s; far beyond any servo, it only keeps diverging candidates finite."""


class LogRows(NamedTuple):
    """What is constant in a recording, each (lanes,).

    Attributes:
        length: steps.
        inertia: of the bench, kg·m².
        gravity_torque: with the arm level, N·m.
        stiffness: demand (duty or A) per rad.
        position: at the start, rad.
        velocity: at the start, rad/s.
        case_temperature_rise: of the motor above `motor.REFERENCE_TEMPERATURE`, K.
        damping: demand per rad/s.
        arm_length: m.
        demand_limit: largest demand.
        load_mass: kg, without the arm.
        feedback: 1; 0 in open loop, where GOAL is the demand itself.
        rate_time: of the derivative gain, s; see `PositionFirmware.rate_time`.
        integral_rate: of the integral gain, 1/s; see `PositionFirmware.integral_rate`.
        integral: of the integral gain at the start, rad; see `run_start.initial_integral`.
        goal_acceleration: of the firmware's set-point at most, rad/s²; 0: it is not limited.
    """

    length: Array
    inertia: Array
    gravity_torque: Array
    stiffness: Array
    position: Array
    velocity: Array
    case_temperature_rise: Array
    damping: Array
    arm_length: Array
    demand_limit: Array
    load_mass: Array
    feedback: Array
    rate_time: Array
    integral_rate: Array
    integral: Array
    goal_acceleration: Array


class LaneInputs(NamedTuple):
    """Recordings on a time grid t_k, one per lane.

    Attributes:
        signals: (steps, 4, lanes): GOAL, mean goal in rad (in open loop: duty), SUPPLY, mean supply in V, and
            ENABLED, the share of the time with torque on, from t_k to t_{k+1}; MEASURED, the position in rad
            at t_k.
        ripple: (steps, lanes): what the supply reads beyond its mean during a step, V, of a firmware whose
            readings are aliased; of others it is empty.
        logs: what is constant.
        restarts: (restarts, 2, lanes): position in rad and velocity in rad/s as measured when a simulation
            starts anew; empty where none does.
        loads: (knots, 5, lanes): of a robot's joint, every `Stepping.knot` steps of the grid and once beyond
            its end; NO_LOADS of a pendulum.
    """

    signals: Array
    ripple: Array
    logs: LogRows
    restarts: Array
    loads: Array = NO_LOADS


LaneArrays = tuple[Array, Array, tuple[Array, ...], Array, Array]
"""`LaneInputs` as plain tuples: Numba takes those at once, and has to ask Python about NamedTuples."""


SteppingValues = tuple[
    float, int, bool, float, int, bool, int, float, float, float, float, float, float, int, float, float, int
]
"""`Stepping` as a plain tuple."""


class Stepping(NamedTuple):
    """How a recording is followed.

    Attributes:
        dt: period of the firmware and of the time grid, s.
        substeps: of the integrator per period.
        regulates_current: the firmware asks for a current, not for a duty.
        resolution: one encoder count, rad.
        integrator: index in `integrators.INTEGRATORS`.
        opposing_only: quadratic friction only where motor and load torque oppose.
        restart: steps from one restart to the next, the first after half as many; 0: none.
        dead_band: of the firmware, rad.
        error_offset: likewise.
        goal_speed_limit: likewise, rad/s; infinite where its set-point jumps.
        overload_threshold: of the firmware's protection, share of the largest demand.
        overload_trip: time of overload at which it protects, s; infinite where it never does.
        overload_limit: of demands from then on, share of the largest.
        renewal: substeps for which the firmware holds what it demands.
        lead: s, by how much later than it renews its demand the firmware sees positions; above zero where a
            step stands for several periods of a firmware, which renews its demand within it.
        slew_share: of what a slewed set-point moves in a step, how much it has moved on the mean of those
            periods where it is under way throughout.
        knot: steps of the grid between two knots of `LaneInputs.loads`.
    """

    dt: float
    substeps: int
    regulates_current: bool
    resolution: float
    integrator: int
    opposing_only: bool
    restart: int
    dead_band: float
    error_offset: float
    goal_speed_limit: float
    overload_threshold: float
    overload_trip: float
    overload_limit: float
    renewal: int
    lead: float
    slew_share: float
    knot: int = 1


def firmware_stepping(firmware: PositionFirmware) -> dict[str, Any]:
    """Return the fields of `Stepping` that depend on the firmware alone."""
    protection = firmware.protection
    return {
        "regulates_current": firmware.regulates_current,
        "resolution": firmware.resolution,
        "dead_band": firmware.dead_band,
        "error_offset": firmware.error_offset,
        "goal_speed_limit": firmware.goal_speed_limit,
        "overload_threshold": protection.threshold if protection else 1.0,
        "overload_trip": protection.trip_time if protection else math.inf,
        "overload_limit": protection.limit if protection else 1.0,
    }
