# SPDX-License-Identifier: Apache-2.0
"""Torque trajectories from a rigid-body model: MuJoCo's inverse dynamics without the motors' own inertia."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import UnknownName, Unsupported
from bam_core.feedforward.piece import DEFAULT_DURATION, Piece
from bam_core.feedforward.points import fit_pieces


class InverseDynamics:
    """τ_o of chosen hinges: what mass and gravity take; armature, friction and damping are the servo's.

    Threads may share it.
    """

    def __init__(self, model: mujoco.MjModel, joints: Sequence[str]) -> None:
        """Prepare a copy of the model.

        Args:
            model: of the robot; every other joint rests at zero.
            joints: names, in the order of every array.

        Raises:
            BamError: the model has no such joint, or it is not a hinge or slide.
        """
        self._model = copy.copy(model)
        self._model.dof_armature[:] = 0.0
        self._model.dof_damping[:] = 0.0
        self._model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self._data = mujoco.MjData(self._model)
        self._lock = threading.Lock()
        every = [model.joint(i).name for i in range(model.njnt)]
        for name in joints:
            if name not in every:
                raise UnknownName("joint", name, every)
            if int(model.joint(name).type[0]) < int(mujoco.mjtJoint.mjJNT_SLIDE):
                raise Unsupported(
                    f"joint '{name}'", "has more than one degree of freedom", advice="choose a hinge or slide"
                )
        self._position = [int(model.joint(name).qposadr[0]) for name in joints]
        self._dof = [int(model.joint(name).dofadr[0]) for name in joints]

    def torque(self, position: Array, velocity: Array, acceleration: Array) -> Array:
        """Return τ_o, (n, joints) N·m, of (n, joints) in rad, rad/s and rad/s²."""
        result = np.empty_like(position)
        data = self._data
        with self._lock:
            for k in range(len(position)):
                data.qpos[self._position] = position[k]
                data.qvel[self._dof] = velocity[k]
                data.qacc[self._dof] = acceleration[k]
                mujoco.mj_inverse(self._model, data)
                result[k] = data.qfrc_inverse[self._dof]
        return result


def pieces_from_dynamics(
    dynamics: InverseDynamics,
    motion: Callable[[Array], tuple[Array, Array, Array]],
    duration: float,
    *,
    start: float = 0.0,
    piece_duration: float = DEFAULT_DURATION,
) -> list[Piece]:
    """Return pieces of a motion with the torques that the robot's masses take.

    Args:
        dynamics: of the robot.
        motion: times (n,) s from 0 -> position rad, velocity rad/s, acceleration rad/s², each (n, joints).
        duration: of the motion, s.
        start: when the first piece starts, s.
        piece_duration: s; all are equally long, and at most so long.

    Raises:
        BamError: a duration is not positive.
    """

    def with_torque(time: Array) -> tuple[Array, Array, Array]:
        position, velocity, acceleration = motion(time)
        return position, velocity, dynamics.torque(position, velocity, acceleration)

    return fit_pieces(with_torque, 0.0, duration, start=start, piece_duration=piece_duration)
