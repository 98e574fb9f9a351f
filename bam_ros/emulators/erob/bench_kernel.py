# SPDX-License-Identifier: Apache-2.0
"""The compiled step behind the drive: its loops and current control on the physics of the bench.

State, commands and parameters are float64 vectors; the constants below and those of `bench_physics` name
their elements. Everything is SI at the output shaft, except encoder counts where noted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bam_core.compilation import compiled
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.bench_physics import (
    PHYSICS_SIZE,
    POSITION,
    RESISTANCE,
    STEP,
    SUPPLY,
    TORQUE_CONSTANT,
    VELOCITY,
)
from bam_ros.erob.objects import COUNTS_PER_TURN

STEP_NS = 100_000
"""Physics step, ns."""
STEPS_PER_TICK = 2
"""Physics steps in one period of the drive's position and velocity loops (0.2 ms)."""
TICK = STEP * STEPS_PER_TICK
COUNTS_PER_RAD = COUNTS_PER_TURN / (2.0 * math.pi)

# state, after that of the physics
(
    DEMAND,  # current that the loops ask for, A
    TRAJECTORY,  # where position control is on its way to the goal, counts
    TRAJECTORY_RATE,  # counts/s
    INTEGRAL,  # of the velocity loop, A
    MEASURED_VELOCITY,  # from the encoder, rad/s
    LAST_COUNT,
    PHASE,  # physics steps since the last tick
    STATE_SIZE,
) = range(PHYSICS_SIZE, 13)

# commands
RELEASED, CURRENT_MODE, VELOCITY_MODE, POSITION_MODE, STOPPING = range(5)
(
    MODE,
    GOAL_CURRENT,  # A
    GOAL_VELOCITY,  # rad/s
    GOAL,  # counts
    PERIOD,  # in which position control goes from one goal to the next, s
    CURRENT_LIMIT,  # A
    DECELERATION,  # of STOPPING, rad/s²
    COMMAND_SIZE,
) = range(8)

_VELOCITY_FILTER = 5e-4  # of the measured velocity, s
_POSITION_GAIN = 15.0  # 1/s
_VELOCITY_GAIN = 20.0  # A per rad/s
_INTEGRAL_TIME = 0.1  # s


@compiled()
def _drive(state: NDArray[np.float64], mode: int, p: NDArray[np.float64]) -> None:
    """One step of the physics at the current that the loops ask for, as far as the supply can push it."""
    current = 0.0
    back_emf = p[TORQUE_CONSTANT] * state[VELOCITY]
    if mode != RELEASED:
        highest = (state[SUPPLY] - back_emf) / p[RESISTANCE]
        lowest = (-state[SUPPLY] - back_emf) / p[RESISTANCE]
        current = min(max(state[DEMAND], lowest), highest)
    physics.move(state, p, current)
    power = (current * p[RESISTANCE] + back_emf) * current
    physics.draw(state, p, max(power, 0.0) / max(state[SUPPLY], 1.0), 0.0)


@compiled()
def _velocity_loop(state: NDArray[np.float64], wanted: float, limit: float) -> None:
    error = wanted - state[MEASURED_VELOCITY]
    integral = state[INTEGRAL] + _VELOCITY_GAIN / _INTEGRAL_TIME * error * TICK
    state[INTEGRAL] = min(max(integral, -limit), limit)
    state[DEMAND] = _VELOCITY_GAIN * error + state[INTEGRAL]


@compiled()
def _control(state: NDArray[np.float64], c: NDArray[np.float64], count: int) -> None:
    """The drive's loops: set the current for the next tick from the encoder."""
    mode = int(c[MODE])
    limit = c[CURRENT_LIMIT]
    if mode == CURRENT_MODE:
        state[DEMAND] = c[GOAL_CURRENT]
    elif mode == VELOCITY_MODE:
        _velocity_loop(state, c[GOAL_VELOCITY], limit)
    elif mode == POSITION_MODE:
        left = c[GOAL] - state[TRAJECTORY]
        step = state[TRAJECTORY_RATE] * TICK
        if abs(left) <= abs(step) or step == 0.0:
            state[TRAJECTORY] = c[GOAL]
            state[TRAJECTORY_RATE] = 0.0
        else:
            state[TRAJECTORY] += step
        wanted = _POSITION_GAIN * (state[TRAJECTORY] - count) + state[TRAJECTORY_RATE]
        _velocity_loop(state, wanted / COUNTS_PER_RAD, limit)
    elif mode == STOPPING:
        speed = state[TRAJECTORY_RATE] / COUNTS_PER_RAD
        slower = max(abs(speed) - c[DECELERATION] * TICK, 0.0)
        state[TRAJECTORY_RATE] = math.copysign(slower, speed) * COUNTS_PER_RAD
        _velocity_loop(state, math.copysign(slower, speed), limit)
    else:
        state[DEMAND] = 0.0
    state[DEMAND] = min(max(state[DEMAND], -limit), limit)


@compiled()
def advance(
    state: NDArray[np.float64], commands: NDArray[np.float64], parameters: NDArray[np.float64], steps: int
) -> None:
    """Advance the bench by physics steps of STEP seconds.

    Args:
        state: (STATE_SIZE,), changed in place.
        commands: (COMMAND_SIZE,).
        parameters: (PARAMETER_SIZE,).
        steps: how many.
    """
    mode = int(commands[MODE])
    for _ in range(steps):
        if state[PHASE] == 0.0:
            count = math.floor(state[POSITION] * COUNTS_PER_RAD + 0.5)
            speed = (count - state[LAST_COUNT]) / (COUNTS_PER_RAD * TICK)
            state[MEASURED_VELOCITY] += (speed - state[MEASURED_VELOCITY]) * (TICK / _VELOCITY_FILTER)
            state[LAST_COUNT] = count
            _control(state, commands, count)
            physics.warm(state, parameters, TICK)
        elif mode == CURRENT_MODE:
            limit = commands[CURRENT_LIMIT]
            state[DEMAND] = min(max(commands[GOAL_CURRENT], -limit), limit)
        elif mode == RELEASED:
            state[DEMAND] = 0.0
        _drive(state, mode, parameters)
        state[PHASE] = (state[PHASE] + 1.0) % STEPS_PER_TICK
