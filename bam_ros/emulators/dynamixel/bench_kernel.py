# SPDX-License-Identifier: Apache-2.0
"""The compiled step behind the registers: the firmware's loop at 1 kHz on the physics of the bench.

State, commands and parameters are float64 vectors; the constants below and those of `bench_physics` name
their elements. Positions of the controller are encoder counts relative to the arm hanging down (θ = 0),
everything else is SI.
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

STEPS_PER_TICK = 10
"""Physics steps in one period of the firmware's loop (1 ms)."""
TICK = STEP * STEPS_PER_TICK
COUNTS_PER_RAD = 4096 / (2.0 * math.pi)
VELOCITY_WINDOW = 16
"""Firmware ticks over which the velocity register differentiates the encoder."""

# state, after that of the physics
(
    DUTY,  # -1..1
    INTEGRAL,  # of the position or velocity error, count·ticks or (rad/s)·ticks
    LAST_ERROR,  # counts
    TRAJECTORY,  # where the profile is, counts
    TRAJECTORY_VELOCITY,  # rad/s
    TRAJECTORY_STEP,  # counts that the trajectory moved in the last tick of POSITION_MODE
    MEASURED_VELOCITY,  # rad/s, from the encoder
    STALLED,  # for how long the output has been at its limit without motion, s
    PHASE,  # physics steps since the last firmware tick
    TICKS,  # firmware ticks since power-on
    STATE_SIZE,
) = range(PHYSICS_SIZE, 16)

# commands
RELEASED, POSITION_MODE, VELOCITY_MODE, DUTY_MODE, CURRENT_MODE, BRAKE = range(6)
(
    MODE,
    GOAL,  # counts
    P_GAIN,  # duty per count, or per rad/s in VELOCITY_MODE
    I_GAIN,  # duty per count·tick, or per (rad/s)·tick
    D_GAIN,  # duty per count/tick
    DUTY_LIMIT,  # 0..1
    CURRENT_LIMIT,  # A; inf where the mode has none
    GOAL_VELOCITY,  # rad/s
    GOAL_DUTY,  # -1..1
    GOAL_CURRENT,  # A
    PROFILE_VELOCITY,  # rad/s, 0: no limit
    PROFILE_ACCELERATION,  # rad/s², 0: no limit
    FEEDFORWARD_VELOCITY,  # duty per count/tick of the trajectory
    FEEDFORWARD_ACCELERATION,  # duty per count/tick² of the trajectory
    PUNCH,  # least duty of POSITION_MODE unless it is 0
    START_DUTY,  # added to the duty of POSITION_MODE in the direction of the error; may be below 0
    DEAD_BAND,  # error of POSITION_MODE below which it counts as 0, counts
    COMMAND_SIZE,
) = range(18)

_RIPPLE = 0.02  # amplitude of the supply's ripple, V
_RIPPLE_STEP = 2.0 * math.pi * 100.0 * TICK  # its phase per tick: 100 Hz
_STALL_VELOCITY = 0.1  # slower is standing still, rad/s


@compiled()
def supply_ripple(state: NDArray[np.float64]) -> float:
    """Return the present ripple of the supply, V."""
    return _RIPPLE * math.sin(_RIPPLE_STEP * state[TICKS])


@compiled()
def motor_current(state: NDArray[np.float64], mode: int, p: NDArray[np.float64]) -> float:
    """Return the motor's current at the duty of the last tick, A."""
    if mode == RELEASED:
        return 0.0
    back_emf = p[TORQUE_CONSTANT] * state[VELOCITY]
    return (state[DUTY] * state[SUPPLY] - back_emf) / p[RESISTANCE]


@compiled()
def _drive(state: NDArray[np.float64], mode: int, p: NDArray[np.float64], ripple: float) -> None:
    """One step of the physics at the duty of the last tick."""
    current = motor_current(state, mode, p)
    physics.move(state, p, current)
    physics.draw(state, p, max(state[DUTY] * current, 0.0), ripple)


@compiled()
def _follow_profile(state: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    """Move the trajectory one tick towards the goal: a step, or a trapezoid of velocity."""
    distance = c[GOAL] - state[TRAJECTORY]
    if c[PROFILE_VELOCITY] <= 0.0:
        state[TRAJECTORY] = c[GOAL]
        state[TRAJECTORY_VELOCITY] = 0.0
        return
    fastest = c[PROFILE_VELOCITY] * COUNTS_PER_RAD
    velocity = state[TRAJECTORY_VELOCITY] * COUNTS_PER_RAD
    target = math.copysign(fastest, distance)
    if c[PROFILE_ACCELERATION] > 0.0:
        step = c[PROFILE_ACCELERATION] * COUNTS_PER_RAD
        target = math.copysign(min(fastest, math.sqrt(2.0 * step * abs(distance))), distance)
        velocity += min(max(target - velocity, -step * TICK), step * TICK)
    else:
        velocity = target
    if abs(distance) <= abs(velocity) * TICK:
        state[TRAJECTORY] = c[GOAL]
        state[TRAJECTORY_VELOCITY] = 0.0
    else:
        state[TRAJECTORY] += velocity * TICK
        state[TRAJECTORY_VELOCITY] = velocity / COUNTS_PER_RAD


@compiled()
def _feed_forward(state: NDArray[np.float64], c: NDArray[np.float64]) -> float:
    """Move the trajectory one tick towards the goal and return the duty that its motion is worth."""
    before = state[TRAJECTORY]
    _follow_profile(state, c)
    step = state[TRAJECTORY] - before
    change = step - state[TRAJECTORY_STEP]
    state[TRAJECTORY_STEP] = step
    return c[FEEDFORWARD_VELOCITY] * step + c[FEEDFORWARD_ACCELERATION] * change


@compiled()
def _follow_velocity(state: NDArray[np.float64], c: NDArray[np.float64]) -> float:
    """Return the velocity error after moving the velocity trajectory one tick towards its goal, rad/s."""
    change = c[GOAL_VELOCITY] - state[TRAJECTORY_VELOCITY]
    if c[PROFILE_ACCELERATION] > 0.0:
        step = c[PROFILE_ACCELERATION] * TICK
        change = min(max(change, -step), step)
    state[TRAJECTORY_VELOCITY] += change
    return state[TRAJECTORY_VELOCITY] - state[MEASURED_VELOCITY]


@compiled()
def _controller(
    state: NDArray[np.float64], c: NDArray[np.float64], p: NDArray[np.float64], count: int
) -> None:
    """The firmware's control law: sets the duty for the next tick from the quantised encoder."""
    mode = int(c[MODE])
    duty = 0.0
    limit = c[DUTY_LIMIT]
    if mode in (POSITION_MODE, VELOCITY_MODE):
        if mode == POSITION_MODE:
            duty += _feed_forward(state, c)
            error = state[TRAJECTORY] - count
            if abs(error) < c[DEAD_BAND]:
                error = 0.0
        else:
            error = _follow_velocity(state, c)
        if c[I_GAIN] > 0.0:
            state[INTEGRAL] = min(max(state[INTEGRAL] + error, -limit / c[I_GAIN]), limit / c[I_GAIN])
        duty += c[P_GAIN] * error + c[I_GAIN] * state[INTEGRAL] + c[D_GAIN] * (error - state[LAST_ERROR])
        state[LAST_ERROR] = error
        if mode == POSITION_MODE and error != 0.0:
            duty += c[START_DUTY] if error > 0.0 else -c[START_DUTY]
        if duty != 0.0 and abs(duty) < c[PUNCH]:
            duty = math.copysign(c[PUNCH], duty)
    elif mode == DUTY_MODE:
        duty = c[GOAL_DUTY]
    elif mode == CURRENT_MODE:
        back_emf = p[TORQUE_CONSTANT] * state[VELOCITY]
        duty = (c[GOAL_CURRENT] * p[RESISTANCE] + back_emf) / state[SUPPLY]
    if mode == POSITION_MODE and c[CURRENT_LIMIT] < math.inf:
        back_emf = p[TORQUE_CONSTANT] * state[VELOCITY]
        reach = c[CURRENT_LIMIT] * p[RESISTANCE]
        duty = min(max(duty, (back_emf - reach) / state[SUPPLY]), (back_emf + reach) / state[SUPPLY])
    duty = min(max(duty, -limit), limit)
    saturated = mode == POSITION_MODE and abs(duty) >= 0.99 * limit and limit > 0.0
    if saturated and abs(state[VELOCITY]) < _STALL_VELOCITY:
        state[STALLED] += TICK
    else:
        state[STALLED] = max(state[STALLED] - TICK, 0.0)
    state[DUTY] = duty


@compiled()
def tick(
    state: NDArray[np.float64],
    window: NDArray[np.int64],
    commands: NDArray[np.float64],
    parameters: NDArray[np.float64],
) -> None:
    """Run the firmware's loop once, and let the servo warm for as long; arguments as for `advance`."""
    count = math.floor(state[POSITION] * COUNTS_PER_RAD + 0.5)
    slot = int(state[TICKS]) % VELOCITY_WINDOW
    moved = count - window[slot]
    window[slot] = count
    state[MEASURED_VELOCITY] = moved / (COUNTS_PER_RAD * VELOCITY_WINDOW * TICK)
    _controller(state, commands, parameters, count)
    physics.warm(state, parameters, TICK)
    state[TICKS] += 1.0


@compiled()
def advance(
    state: NDArray[np.float64],
    window: NDArray[np.int64],
    commands: NDArray[np.float64],
    parameters: NDArray[np.float64],
    steps: int,
) -> None:
    """Advance the bench by physics steps of STEP seconds.

    Args:
        state: (STATE_SIZE,), changed in place.
        window: (VELOCITY_WINDOW,) encoder counts of the last ticks, changed in place.
        commands: (COMMAND_SIZE,).
        parameters: (PARAMETER_SIZE,).
        steps: how many.
    """
    mode = int(commands[MODE])
    for _ in range(steps):
        if state[PHASE] == 0.0:
            tick(state, window, commands, parameters)
        ripple = supply_ripple(state)
        _drive(state, mode, parameters, ripple)
        state[PHASE] = (state[PHASE] + 1.0) % STEPS_PER_TICK
