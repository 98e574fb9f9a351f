# SPDX-License-Identifier: Apache-2.0
"""Episodes of many robots at once: a policy at 50 Hz, whose action acts one period later."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.threads import allowed_threads
from studies.transfer.policy import Gains
from studies.transfer.tasks import ACTION_STEPS, STEP, Marks, Task

COUNT = 2.0 * np.pi / 4096.0  # rad, of the encoders
DIVERGED = 1.0  # m: what counts where a simulation diverged

_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_PERIOD = ACTION_STEPS * STEP


class Simulator:
    """Runs episodes of a task on all processors."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._threads = allowed_threads()
        self._rollout = mujoco.rollout.Rollout(nthread=self._threads)

    def distances(self, models: Sequence[mujoco.MjModel], gains: Gains, marks: Marks) -> Array:
        """Return the distance (episodes, counted actions) of the tip from its mark, m.

        Args:
            models: of the robot with the servos of one simulation, one per episode.
            gains: of the policy, one set per episode.
            marks: one per episode.
        """
        task, joints = self.task, len(self.task.joints)
        start = np.array(task.start)
        data = [mujoco.MjData(models[0]) for _ in range(self._threads)]
        states = np.tile(_rest(models[0], data[0], start), (len(models), 1))
        acting = np.tile(start, (len(models), 1))
        before = _counted(acting)
        result = np.empty((len(models), task.actions - task.first_counted))
        for number in range(task.actions):
            seen = _counted(states[:, 1 : 1 + joints])
            action = gains.act(number * _PERIOD, start, marks, seen, (seen - before) / _PERIOD)
            controls = np.repeat(acting[:, None], ACTION_STEPS, axis=1)
            passed, sensors = self._rollout.rollout(list(models), data, states, controls)
            states, acting, before = np.ascontiguousarray(passed[:, -1]), action, seen
            if number >= task.first_counted:
                away = np.linalg.norm(sensors[:, -1, :3] - marks.tips, axis=1)
                result[:, number - task.first_counted] = away
        return np.nan_to_num(result, nan=DIVERGED, posinf=DIVERGED)


def _rest(model: mujoco.MjModel, data: mujoco.MjData, start: Array) -> Array:
    """Return the state in which the arm rests at the start."""
    data.qpos[:] = start
    state = np.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    return state


def _counted(positions: Array) -> Array:
    return np.asarray(np.round(positions / COUNT) * COUNT)
