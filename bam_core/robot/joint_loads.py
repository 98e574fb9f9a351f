# SPDX-License-Identifier: Apache-2.0
"""What each joint of a robot carries while all joints move as measured, and how that depends on the robot.

A joint whose neighbours move as measured is a system of one degree of freedom. Its inertia, and its torque
from gravity, passive forces and the neighbours' motions, are found once per run by inverse dynamics. Both are
linear in the masses, and nearly so in centres of mass and encoder zeros, within what these may be off.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.deviations import RobotDeviations
from bam_core.simulation.kernel.linear_loads import lay_out
from bam_core.simulation.rows import ACROSS, DAMPING, INERTIA, SLOPE, TORQUE

_ANGLE, _SPEED = 1e-3, 1e-2  # rad and rad/s, of differences
_SHARE, _SHIFT, _ZERO = 0.1, 3e-3, 1e-2  # of mass; m; rad: about what is not known of them
_EVERY = 4  # knots; between them, changes with the robot are linear: they need not be as exact
CHANGED = (INERTIA, TORQUE, ACROSS)
"""Rows of a load that change with the robot; how slope and damping do is of second order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointLoads:
    """Loads of some joints in one run, at knots in time.

    Attributes:
        nominal: (joints, knots, 5): the rows of `simulation.rows`, of the robot as described.
        changes: (joints, knots, 3, names): rows CHANGED, per unit of a name's deviation.
        names: of deviations, as in `RobotDeviations.by_name`: kg/kg of a mass, m of a centre, rad of a zero,
            m of a table's height.
    """

    nominal: Array
    changes: Array
    names: tuple[str, ...]

    def at(self, joint: int, amounts: Array) -> Array:
        """Return (knots, 5, robots) the loads of a joint; see `write`."""
        loads = np.empty((*self.nominal.shape[1:], amounts.shape[1]))
        self.write(joint, amounts, 0, loads)
        return loads

    def write(self, joint: int, amounts: Array, first: int, loads: Array) -> None:
        """Write the loads of a joint, for robots side by side.

        Args:
            joint: its place.
            amounts: (names, robots) by which robots deviate.
            first: where the first robot is to be.
            loads: (knots, 5, lanes); receives them.
        """
        names, changes = self._changing[joint]
        chosen = np.ascontiguousarray(amounts[names])
        lay_out(self.nominal[joint], changes, np.array(CHANGED), chosen, first, loads)

    @cached_property
    def _changing(self) -> list[tuple[NDArray[np.intp], Array]]:
        """Of each joint, numbers of the names that change its loads, and (knots, 3, those) how they do."""
        by_joint = []
        for changes in self.changes:
            names = np.flatnonzero(np.any(changes, axis=(0, 1)))
            by_joint.append((names, np.ascontiguousarray(changes[:, :, names])))
        return by_joint


def joint_loads(
    model: mujoco.MjModel, moving: Sequence[int], joints: Sequence[int], motion: Array, names: Sequence[str]
) -> JointLoads:
    """Return the loads of joints in a motion.

    Args:
        model: the robot with its servos, as described.
        moving: numbers of the joints that move.
        joints: numbers of those whose loads are asked for, among the moving ones.
        motion: (3, knots, moving) rad, rad/s and rad/s².
        names: of the deviations to which loads are linear; `zero JOINT`, `mass BODY` and `centre BODY AXIS`.
    """
    nominal = _loads(model, moving, joints, motion)
    columns = [list(moving).index(number) for number in joints]
    for row, order, step in ((SLOPE, 0, _ANGLE), (DAMPING, 1, _SPEED)):
        for joint, column in enumerate(columns):
            moved = motion.copy()
            moved[order, :, column] += step
            torque = _Walk(model, moving).torques(moved)[:, model.jnt_dofadr[joints[joint]]]
            nominal[joint, :, row] = (torque - nominal[joint, :, TORQUE]) / step
    changes = _changes(model, moving, joints, motion, names)
    # Torques are those at angle and velocity zero.
    nominal[:, :, TORQUE] -= nominal[:, :, SLOPE] * motion[0][:, columns].T
    nominal[:, :, TORQUE] -= nominal[:, :, DAMPING] * motion[1][:, columns].T
    return JointLoads(nominal=nominal, changes=changes, names=tuple(names))


def _changes(
    model: mujoco.MjModel, moving: Sequence[int], joints: Sequence[int], motion: Array, names: Sequence[str]
) -> Array:
    """Return (joints, knots, 3, names) by how much rows CHANGED change."""
    count = motion.shape[1]
    chosen = np.unique(np.append(np.arange(0, count, _EVERY), count - 1))
    few = motion[:, chosen]
    begin = _loads(model, moving, joints, few)[:, :, CHANGED]
    columns = {model.joint(number).name: column for column, number in enumerate(moving)}
    below = np.clip(np.searchsorted(chosen, np.arange(count), side="right") - 1, 0, max(len(chosen) - 2, 0))
    above = np.minimum(below + 1, len(chosen) - 1)
    share = ((np.arange(count) - chosen[below]) / np.maximum(chosen[above] - chosen[below], 1))[:, None]
    changes = np.zeros((len(joints), count, len(CHANGED), len(names)))
    for index, name in enumerate(names):
        what, of = name.split(" ", 1)
        if what == "table":
            continue  # see `table_loads`
        if what == "zero" and of not in columns:
            continue  # a joint that was not recorded stays where it is, whatever its encoder says
        if what == "zero":
            amount, deviating, moved = _ZERO, model, few.copy()
            moved[0, :, columns[of]] -= _ZERO
        else:
            amount, moved = (_SHARE if what == "mass" else _SHIFT), few
            deviating = _deviating(model, what, of, amount)
        slopes = (_loads(deviating, moving, joints, moved)[:, :, CHANGED] - begin) / amount
        changes[:, :, :, index] = (1.0 - share) * slopes[:, below] + share * slopes[:, above]
    return changes


def _deviating(model: mujoco.MjModel, what: str, of: str, amount: float) -> mujoco.MjModel:
    """Return a copy of a robot that deviates in one respect."""
    robot = copy.copy(model)
    if what == "mass":
        RobotDeviations(mass={of: amount}).apply(robot)
    else:
        body, axis = of.rsplit(" ", 1)
        x, y, z = (amount if axis == one else 0.0 for one in "xyz")
        RobotDeviations(centre={body: (x, y, z)}).apply(robot)
    return robot


def _loads(model: mujoco.MjModel, moving: Sequence[int], joints: Sequence[int], motion: Array) -> Array:
    """Return (joints, knots, 5) loads without slope and damping; torques are those in the motion."""
    dofs = model.jnt_dofadr[list(joints)]
    walk = _Walk(model, moving)
    mass = np.empty((motion.shape[1], model.nv, model.nv))
    torque = walk.torques(motion, mass)
    acceleration = np.zeros((motion.shape[1], model.nv))
    acceleration[:, walk.dofs] = motion[2]
    inertia = mass[:, dofs, dofs]  # armature included
    loads = np.zeros((len(joints), motion.shape[1], 5))
    loads[:, :, INERTIA] = (inertia - model.dof_armature[dofs]).T
    loads[:, :, TORQUE] = torque[:, dofs].T
    across = inertia * acceleration[:, dofs] - np.einsum("kij,kj->ki", mass[:, dofs], acceleration)
    loads[:, :, ACROSS] = across.T
    return loads


class _Walk:
    """A robot goes through postures.

    Args:
        model: the robot.
        moving: numbers of the joints that move; the others stay where it has them.
    """

    def __init__(self, model: mujoco.MjModel, moving: Sequence[int]) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._addresses = model.jnt_qposadr[list(moving)]
        self.dofs = model.jnt_dofadr[list(moving)]
        self._is_sprung = bool(model.jnt_stiffness.any() or model.dof_damping.any())

    def torques(self, motion: Array, mass: Array | None = None) -> Array:
        """Return (knots, degrees of freedom) N·m of gravity, springs, dampers and what velocities cause.

        Args:
            motion: (2 or more, knots, moving) rad and rad/s.
            mass: (knots, degrees of freedom, degrees of freedom); receives kg·m².
        """
        model, data = self._model, self._data
        bias = np.empty((motion.shape[1], model.nv))
        positions = np.tile(data.qpos, (len(bias), 1))
        positions[:, self._addresses] = motion[0]
        speeds = np.zeros((len(bias), model.nv))
        speeds[:, self.dofs] = motion[1]
        for row in range(len(bias)):
            data.qpos[:], data.qvel[:] = positions[row], speeds[row]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_rne(model, data, 0, bias[row])
            if mass is not None:
                mujoco.mj_makeM(model, data)
                mujoco.mj_fullM(model, data, mass[row])
            if self._is_sprung:
                mujoco.mj_passive(model, data)
                bias[row] -= data.qfrc_passive
        return -bias
