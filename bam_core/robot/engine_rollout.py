# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's rollout of a robot under given controls, which reports when it diverges."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import mujoco.rollout
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.mujoco.library_warnings import divergence_reported

_CHUNK = 200  # steps per call of the engine: it returns the whole state of each
ENGINE_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_CONTROL = mujoco.mjtState.mjSTATE_CTRL
_LARGEST_SPEED = 1e3  # rad/s; beyond it a simulation has diverged


class DivergedError(BadData):
    """A simulation left what a robot can do."""


def roll_out(model: mujoco.MjModel, data: mujoco.MjData, control: Array, columns: Sequence[int]) -> Array:
    """Return (steps + 1, columns) of MuJoCo's states, from that of `data` on.

    Args:
        model: with joints that are driven.
        data: the state to begin with.
        control: (steps, controls), and behind them the forces on all degrees of freedom where there are such.
        columns: of the state, which begins with the time.

    Raises:
        DivergedError: the simulation diverges.
    """
    applied = _CONTROL if control.shape[1] == model.nu else _CONTROL | mujoco.mjtState.mjSTATE_QFRC_APPLIED
    state = np.empty(mujoco.mj_stateSize(model, ENGINE_STATE))  # it begins with the time
    mujoco.mj_getState(model, data, state, ENGINE_STATE)
    path = np.empty((len(control) + 1, len(columns)))
    path[0] = state[columns]
    speeds = 1 + model.nq + np.arange(model.nv)
    warm = data.qacc_warmstart.copy()
    for begin in range(0, len(control), _CHUNK):
        with divergence_reported():
            states, _ = mujoco.rollout.rollout(
                model,
                data,
                state[None],
                control[None, begin : begin + _CHUNK],
                control_spec=applied,
                initial_warmstart=warm[None],
            )
        path[1 + begin : 1 + begin + states.shape[1]] = states[0][:, columns]
        state, warm = states[0, -1].copy(), data.qacc_warmstart.copy()
        if not np.all(np.abs(state[speeds]) < _LARGEST_SPEED):
            raise DivergedError("simulation", "diverged", advice="check servos, gains and step")
    return path
