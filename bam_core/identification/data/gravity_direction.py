# SPDX-License-Identifier: Apache-2.0
"""Direction of gravity in a log, found before anything is fitted.

While torque is on, what the firmware asks for is what moves the arm: it balances gravity, friction and
inertia, roughly D = a·sin(θ - φ) + b·θ̇ + c·sign θ̇ + d·θ̈. Linear least squares find φ, at which the arm
hangs: near 0 on a bench whose zero is right, near π where the arm hangs up, or where goal and position
are swapped, since then the servo seems to push where it holds. Positions that are off by as much as a
hundredth of a turn, but their goals are not, look like gravity that pulls askew; a constant demand then fits
better than a·cos θ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.packing import set_point_limits
from bam_core.simulation.set_points import slewed_means

_STEP = 0.01  # s
_SMOOTH = 9  # steps; short against the motion, long against encoder counts
_SLOW = 0.1  # rad/s; friction changes its direction within this
_SELDOM = 0.1  # of the time in motion
_FREE = 0.99  # of the largest demand; at the limit it has no information
_CORRELATED = 10.0  # steps that err alike
_ENOUGH = 100  # steps
# Of the squares left over: 0.02 to 0.25 where six real logs were shifted, 0.98 and more where not.
_BETTER = 0.5
_NUDGE = 1e-3  # rad


@dataclass(frozen=True, kw_only=True)
class GravityDirection:
    """Where the arm of a log hangs by itself.

    Attributes:
        angle: φ, rad, within ±π.
        standard_error: rad.
        both_ways: the arm was driven either way. Friction of an arm that only rose looks like gravity that
            pulls askew, by more than the standard error.
        off_goal: rad by which positions are above where their goals would hold them, where that fits much
            better than gravity that pulls askew; else None.
    """

    angle: float
    standard_error: float
    both_ways: bool
    off_goal: float | None = None


def gravity_direction(servo: ServoModel, recording: Recording) -> GravityDirection | None:
    """Return where gravity pulls the arm of a log, or None where the log does not determine it.

    Args:
        servo: whose firmware asked for what moved the arm.
        recording: of it.
    """
    time = np.arange(recording.time[0], recording.time[-1], _STEP)
    driven = np.interp(time, recording.time, recording.torque_enabled) > _FREE
    goal = np.interp(time, recording.time, recording.goal_position)
    position = np.interp(time, recording.time, recording.position)
    smooth = _smoothed(position)
    velocity = np.gradient(smooth, _STEP)
    acceleration = np.gradient(_smoothed(velocity), _STEP)
    firmware = servo.firmware.limited(recording.demand_limit)
    speed = servo.servo_effects.goal_speed_limit(firmware.goal_speed_limit)
    limits = set_point_limits(recording, firmware)._replace(period=_STEP, speed=speed)
    goal = slewed_means(goal, driven.astype(float), position, limits, 1)
    error = goal - position
    integral = firmware.integrals(
        error,
        driven,
        kp=recording.kp,
        rate=firmware.integral_rate(recording.kp, recording.ki),
        time=_STEP,
    )
    demand = firmware.demand(recording.kp, error, velocity, integral=integral) / firmware.demand_limit
    used = driven & (np.abs(demand) < _FREE)
    if used.sum() < _ENOUGH:
        return None
    terms = (np.sin(smooth), np.cos(smooth), velocity, np.tanh(velocity / _SLOW), acceleration)
    design = np.stack(terms, axis=1)[used]
    coefficients, _, rank, _ = np.linalg.lstsq(design, demand[used], rcond=None)
    sine, cosine = coefficients[:2]
    pull = math.hypot(sine, cosine)
    if rank < len(terms) or pull == 0.0:
        return None
    left = demand[used] - design @ coefficients
    design_off = np.insert(np.delete(design, 1, axis=1), 1, 1.0, axis=1)
    found_off, *_ = np.linalg.lstsq(design_off, demand[used], rcond=None)
    left_off = demand[used] - design_off @ found_off
    off_goal = None
    if left_off @ left_off < _BETTER * left @ left:
        nudged = firmware.demand(recording.kp, error + _NUDGE, velocity, integral=integral)
        nudged = nudged / firmware.demand_limit
        off_goal = -float(found_off[1] * _NUDGE / np.median((nudged - demand)[used]))
    variance = float(left @ left) * _CORRELATED / (len(left) - len(terms))
    covariance = variance * np.linalg.inv(design.T @ design)[:2, :2]
    slope = np.array([cosine, -sine]) / pull**2
    moving = velocity[used][np.abs(velocity[used]) > _SLOW]
    rising = np.count_nonzero(moving > 0.0) / max(len(moving), 1)
    return GravityDirection(
        angle=math.atan2(-cosine, sine),
        standard_error=math.sqrt(float(slope @ covariance @ slope)),
        both_ways=bool(_SELDOM < rising < 1.0 - _SELDOM),
        off_goal=off_goal,
    )


def _smoothed(values: Array) -> Array:
    window = np.hanning(_SMOOTH + 2)[1:-1]
    padded = np.pad(values, _SMOOTH // 2, mode="edge")
    return np.convolve(padded, window / window.sum(), "valid")
