# SPDX-License-Identifier: Apache-2.0
"""How well a joint's recorded motion determines friction: whether its speed and its load change.

Both are found from measured positions and the robot's description, without a simulation of servos.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.signal import savgol_filter

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.run import RobotRun

_WINDOW = 0.2  # s, over which positions are smoothed: motions of servos have little above 5 Hz
_LEAST_WINDOW = 5  # samples, for a polynomial of second order
_TAILS = (5.0, 95.0)  # percentiles; single samples at the ends of a run are not smoothed well
_MOST_SAMPLES = 2000  # of a run, for which the load is computed


@dataclass(frozen=True, kw_only=True)
class Excitation:
    """What a joint did in all runs.

    Attributes:
        speed: mean of the absolute speed, rad/s.
        steadiness: mean(|speed|)² / mean(speed²): 1 where the speed never changes but for its sign, 0.81 of a
            sine, less with pauses. It is the squared cosine between what Coulomb friction and what viscous
            friction do to a run; 1 / (1 - steadiness) is by how much the variance of either grows because
            of the other.
        load: half of the range of the torque that the joint carries, N·m; NaN where it is not known.
    """

    speed: float
    steadiness: float
    load: float


def excitation(runs: Sequence[RobotRun], joint: str, loads: Sequence[Array] | None) -> Excitation:
    """Return how much a joint moves and carries.

    Args:
        runs: all.
        joint: its name.
        loads: per run, what `load_torques` found; None: not known.
    """
    speeds = [derived_positions(run, 1)[run.counts, run.column(joint)] for run in runs]
    speed = np.concatenate([np.abs(of_run) for of_run in speeds])
    square = float(np.mean(speed**2))
    half = float("nan")
    if loads is not None:
        load = np.concatenate([of_run[:, run.column(joint)] for run, of_run in zip(runs, loads, strict=True)])
        half = 0.5 * float(np.subtract(*np.percentile(load, _TAILS[::-1])))
    return Excitation(
        speed=float(speed.mean()), steadiness=float(speed.mean()) ** 2 / square if square else 0.0, load=half
    )


def load_torques(spec: mujoco.MjSpec, run: RobotRun) -> Array:
    """Return what the joints of a robot on a fixed base must carry to move as measured.

    That is gravity and inertia of the links (inverse dynamics), without contacts, armature and friction.

    Args:
        spec: the robot; joints that were not recorded stay where it has them.
        run: of which the part that counts is used.

    Returns:
        (at most 2000 samples, joints of the run), N·m.

    Raises:
        UnknownName: a joint is not in the robot.
    """
    derived = [derived_positions(run, order) for order in (0, 1, 2)]
    rows = np.flatnonzero(run.counts)
    rows = rows[:: max(len(rows) // _MOST_SAMPLES, 1)]
    return InverseDynamics(spec, run.joints).torques(*(values[rows] for values in derived))


class InverseDynamics:
    """What joints of a robot on a fixed base must carry, without contacts, armature and friction.

    Args:
        spec: the robot; joints that are not named stay where it has them.
        joints: names.

    Raises:
        UnknownName: a joint is not in the robot.
    """

    def __init__(self, spec: mujoco.MjSpec, joints: Sequence[str]) -> None:
        model = compile_robot(spec.copy())
        model.dof_armature[:], model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0, 0.0
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        names = [model.joint(index).name for index in range(model.njnt)]
        for name in joints:
            if name not in names:
                raise UnknownName("joint", name, filter(None, names))
        numbers = [names.index(name) for name in joints]
        self._model, self._data = model, mujoco.MjData(model)
        self._positions, self._dofs = model.jnt_qposadr[numbers], model.jnt_dofadr[numbers]

    def torques(self, position: Array, speed: Array, acceleration: Array) -> Array:
        """Return (n, joints) N·m, of positions, speeds and accelerations (n, joints), rad and s."""
        data = self._data
        torques = np.empty(position.shape)
        for row in range(len(position)):
            data.qpos[self._positions] = position[row]
            data.qvel[self._dofs], data.qacc[self._dofs] = speed[row], acceleration[row]
            mujoco.mj_inverse(self._model, data)
            torques[row] = data.qfrc_inverse[self._dofs]
        return torques


def derived_positions(run: RobotRun, order: int) -> Array:
    """Return (n, joints) measured positions, smoothed, or a derivative of them, rad/s^order."""
    period = float(np.median(np.diff(run.time)))
    window = max(round(_WINDOW / period) // 2 * 2 + 1, _LEAST_WINDOW)
    even = np.arange(run.time[0], run.time[-1] + 0.5 * period, period)
    if len(even) < window:  # a run of some samples tells nothing of its speed
        return run.position.copy() if order == 0 else np.zeros_like(run.position)
    columns = []
    for column in run.position.T:
        smooth = savgol_filter(np.interp(even, run.time, column), window, 2, deriv=order, delta=period)
        columns.append(np.interp(run.time, even, smooth))
    return np.stack(columns, axis=1)
