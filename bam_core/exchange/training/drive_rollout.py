# SPDX-License-Identifier: Apache-2.0
"""Runs of a linear drive on the bench, simulated by MuJoCo with its own joints and actuators."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.arrays import Array
from bam_core.exchange.training.linear_drive import LinearDrive
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.recordings.recording import Recording

STEP = 1e-3
"""s; at 5 ms the goal acts 2 ms later on average, and the drive is off by 1 mrad for that reason alone."""


def drive_positions(drive: LinearDrive, commands: Recording, delay: float = 0.0) -> Array:
    """Return the positions (n,) rad of a drive at the times of a recording, whose goals it follows.

    Args:
        drive: the drive.
        commands: goals, bench and start of a run whose torque is on.
        delay: of the goal, s.
    """
    return model_positions(drive_model(drive, commands), commands, delay)


def model_positions(model: mujoco.MjModel, commands: Recording, delay: float = 0.0) -> Array:
    """Return the positions (n,) rad of a model from `drive_model`; arguments as of `drive_positions`."""
    data = mujoco.MjData(model)
    data.qpos[0] = commands.position[0]
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    duration = commands.time[-1] - commands.time[0]
    steps = int(np.ceil(duration / STEP))
    since = np.clip(np.arange(steps) * STEP - delay, 0.0, None) + commands.time[0]
    held = np.clip(np.searchsorted(commands.time, since + 1e-9, side="right") - 1, 0, None)
    control = commands.goal_position[held].reshape(1, steps, 1)
    states, _ = mujoco.rollout.rollout(model, data, state.reshape(1, -1), control)
    path = np.concatenate([[commands.position[0]], states[0, :, 1]])  # time, position, velocity
    times = commands.time[0] + STEP * np.arange(steps + 1)
    return np.interp(commands.time, times, path)


def drive_model(drive: LinearDrive, commands: Recording) -> mujoco.MjModel:
    """Return the bench of a recording with this drive as MuJoCo's position actuator."""
    spec = bench_spec(commands.bench, timestep=STEP)
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    joint = spec.joint(BENCH_JOINT)
    joint.armature = drive.armature
    joint.frictionloss = drive.frictionloss
    joint.damping[0] = drive.joint_damping
    actuator = spec.add_actuator(
        name="drive",
        target=BENCH_JOINT,
        trntype=mujoco.mjtTrn.mjTRN_JOINT,
        forcelimited=mujoco.mjtLimited.mjLIMITED_TRUE,
        forcerange=[-drive.effort_limit, drive.effort_limit],
    )
    actuator.set_to_position(kp=drive.stiffness, kv=drive.damping)
    return spec.compile()
