# SPDX-License-Identifier: Apache-2.0
"""The bench in MuJoCo, following a script or the commands of a recording."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bam_core.errors import BamError
from bam_core.mujoco.actuation import ServoActuation
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.robot import compile_robot, equip
from bam_core.packing import pack
from bam_core.pendulum import PendulumBench
from bam_core.recording import Recording
from bam_core.servo_model import ServoModel

Array = NDArray[np.float64]

DEFAULT_DT = 1e-3
"""Time step where nothing else is said, s."""

_STEP_SLACK = 1e-9  # s; commands that fall on a step count for it in spite of rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """A simulated run. Arrays have one entry per step, (n,).

    Attributes:
        time: s.
        position: rad.
        velocity: rad/s.
        goal_position: rad, in force from this time on.
        torque_enabled: False where the H-bridge is released.
        duty: -1..1, in force from this time on.
        motor_torque: τ_m, N·m.
        friction_torque: τ_f, N·m.
    """

    time: Array
    position: Array
    velocity: Array
    goal_position: Array
    torque_enabled: NDArray[np.bool_]
    duty: Array
    motor_torque: Array
    friction_torque: Array

    def position_at(self, time: Array) -> Array:
        """Return the position in rad at any times in s, interpolated smoothly."""
        return np.asarray(CubicSpline(self.time, self.position)(time))


def replay(
    servo: ServoModel,
    bench: PendulumBench,
    *,
    dt: float,
    goal_position: Array,
    torque_enabled: NDArray[np.bool_],
    kp: float,
    supply_voltage: Array | float,
    position: float = 0.0,
    velocity: float = 0.0,
) -> Replay:
    """Simulate the bench through one command per time step.

    Args:
        servo: on the bench's axis.
        bench: load, arm and length.
        dt: time step, s.
        goal_position: (n,) rad, in force from time i·dt.
        torque_enabled: (n,) likewise.
        kp: position gain, firmware units.
        supply_voltage: (n,) or one for all, V.
        position: at the start, rad.
        velocity: at the start, rad/s.

    Raises:
        BamError: the time step is not positive or too long for this servo.
        SimulationError: the simulation diverges.
    """
    if not dt > 0.0:
        raise BamError(f"time step: is {dt:g} s (expected > 0); correct it")
    spec = bench_spec(bench, timestep=dt)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = ServoActuation(model, data, {BENCH_JOINT: servo})
    actuation.kp[:] = kp
    steps = len(goal_position)
    voltage = np.broadcast_to(np.asarray(supply_voltage, dtype=np.float64), (steps,))
    actuation.goal_position[0] = goal_position[0]
    actuation.torque_enabled[0] = torque_enabled[0]
    actuation.supply_voltage[0] = voltage[0]
    _start(data, actuation, position, velocity)
    trace = np.empty((5, steps))
    for k in range(steps):
        trace[0, k] = data.qpos[0]
        trace[1, k] = data.qvel[0]
        actuation.goal_position[0] = goal_position[k]
        actuation.torque_enabled[0] = torque_enabled[k]
        actuation.supply_voltage[0] = voltage[k]
        actuation.step()
        trace[2, k] = actuation.duty[0]
        trace[3, k] = actuation.motor_torque[0]
        trace[4, k] = actuation.friction_torque[0]
    return Replay(
        time=np.arange(steps, dtype=np.float64) * np.float64(dt),
        position=trace[0],
        velocity=trace[1],
        goal_position=np.array(goal_position, dtype=np.float64),
        torque_enabled=np.array(torque_enabled, dtype=np.bool_),
        duty=trace[2],
        motor_torque=trace[3],
        friction_torque=trace[4],
    )


def _start(data: mujoco.MjData, actuation: ServoActuation, position: float, velocity: float) -> None:
    """Write the initial state: MuJoCo's velocity belongs half a step before the position."""
    mujoco.mj_resetData(actuation.model, data)
    data.qpos[0], data.qvel[0] = position, velocity
    actuation.reset()
    actuation.step()
    is_sliding = abs(actuation.friction_torque[0]) >= actuation.friction_budget[0]
    half_step = 0.5 * actuation.model.opt.timestep * data.qacc[0] if is_sliding else 0.0
    mujoco.mj_resetData(actuation.model, data)
    data.qpos[0], data.qvel[0] = position, velocity - half_step
    actuation.reset()


def replay_recording(servo: ServoModel, recording: Recording, *, dt: float = DEFAULT_DT) -> Replay:
    """Simulate a recorded run from its own start, with its load, gain, commands and measured supply voltage.

    Commands, supply and the state at the start are those that `rollout.Rollout` uses, and so is the rig that
    the servo was fitted on: commands come into force its delay later (torque enable rounded to the firmware's
    period), and positions are those of its encoder.

    Raises:
        BamError, SimulationError: as `replay`.
    """
    if not dt > 0.0:
        raise BamError(f"time step: is {dt:g} s (expected > 0); correct it")
    period = servo.firmware.period
    packed = pack([recording], servo.firmware, period)
    lane = packed.lanes[0]
    zero = servo.rig.zero_offset
    signals = packed.signals[:, :, lane]
    goal, enabled = (_delayed(signals[:, row], servo.rig.command_delay / period) for row in (0, 2))
    steps = int(np.ceil(recording.duration / dt - _STEP_SLACK)) + 1
    held = ((np.arange(steps) * dt + _STEP_SLACK) / period).astype(np.intp).clip(max=len(signals) - 1)
    run = replay(  # which counts angles from where the arm hangs straight down
        servo,
        recording.bench,
        dt=dt,
        goal_position=goal[held] - zero,
        torque_enabled=enabled[held] >= 0.5,
        kp=recording.kp,
        supply_voltage=signals[held, 1],
        position=float(packed.logs[4, lane]) - zero,
        velocity=float(packed.logs[5, lane]),
    )
    return dataclasses.replace(run, position=run.position + zero, goal_position=run.goal_position + zero)


def _delayed(values: Array, steps: float) -> Array:
    """Shift a signal by steps, whole or not; before its first value and after its last it keeps still."""
    index = np.arange(len(values), dtype=np.float64)
    return np.asarray(np.interp(index - np.float64(steps), index, values))


def simulate_recording(servo: ServoModel, recording: Recording, *, dt: float = DEFAULT_DT) -> Array:
    """Return (n,) rad: where the simulated arm is at the recording's own times; see `replay_recording`."""
    simulated = replay_recording(servo, recording, dt=dt)
    return simulated.position_at(recording.time - recording.time[0])
