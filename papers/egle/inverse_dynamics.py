# SPDX-License-Identifier: Apache-2.0
"""Torques that a motion on one foot takes, and which bodies' inertia they come from."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, UnknownName
from bam_core.whole_body.constrained_dynamics import ConstrainedDynamics
from bam_core.whole_body.derivatives import Motion
from bam_core.whole_body.robot import WholeBody


@dataclass(frozen=True, kw_only=True)
class TorqueShares:
    """Torques of the driven joints, split by what has the inertia: their sum is M_mod·q̈ + h_mod.

    Attributes:
        groups: names, in order.
        mass: what the masses of each group take, by gravity and acceleration, (n, groups, j) N·m.
        rotation: what its bodies' moments of inertia about their centres of mass take, likewise.
        rest: what the bodies of no group take, (n, j) N·m.
        samples: (n,) of the motion.
    """

    groups: tuple[str, ...]
    mass: Array
    rotation: Array
    rest: Array
    samples: NDArray[np.int_]


def torque_shares(
    robot: WholeBody, motion: Motion, samples: NDArray[np.int_], groups: Mapping[str, Sequence[str]]
) -> TorqueShares:
    """Split torques, which are linear in masses and moments of inertia.

    Args:
        robot: whose model is believed.
        motion: of its log.
        samples: of the motion, each with one standing contact (or a fixed base).
        groups: bodies by group.

    Raises:
        BamError: a body is unknown, or a sample does not stand on one contact.
    """
    bodies = {name: [_body(robot, body) for body in members] for name, members in groups.items()}
    everything = np.ones(robot.model.nbody)
    parts = []
    for members in bodies.values():
        only = np.zeros(robot.model.nbody)
        only[members] = 1.0
        everything[members] = 0.0
        parts += [(only, np.zeros_like(only)), (np.zeros_like(only), only)]
    parts.append((everything, everything))
    evaluators = [_Evaluator(robot, *part) for part in parts]
    dynamics = ConstrainedDynamics(robot)
    shares = np.empty((len(samples), len(parts), len(robot.joints)))
    for row, index in enumerate(samples):
        standing = [name for name in robot.contacts if motion.log.contacts[name][index]]
        if robot.floating and len(standing) != 1:
            raise BadData(
                "joint log",
                f"{len(standing)} contacts stand at {motion.log.time[index]:.3f} s",
                expected="one",
                advice="choose other samples",
            )
        anchor = standing[0] if robot.floating else None
        qpos, qvel = dynamics.place(motion.position[index], motion.velocity[index], anchor)
        state = dynamics.at(qpos, qvel, standing)
        acceleration = np.zeros(robot.model.nv)
        acceleration[robot.dofs] = motion.acceleration[index]
        acceleration[robot.held_dofs] = 0.0
        follow = np.zeros((0, len(robot.joints)))
        if robot.floating:
            base, rest = state.jacobian[:6, :6], state.jacobian[:6, 6:]
            acceleration[:6] = np.linalg.solve(base, state.target[:6] - rest @ acceleration[6:])
            follow = np.asarray(
                np.linalg.solve(base, -state.jacobian[:6, robot.torque_dofs]), dtype=np.float64
            )
        for part, evaluator in enumerate(evaluators):
            needed = evaluator.torque(qpos, qvel, acceleration)
            if part == len(parts) - 1:
                needed += robot.model.dof_armature * acceleration - dynamics.data.qfrc_passive
            shares[row, part] = needed[robot.torque_dofs] + needed[: len(follow)] @ follow
    return TorqueShares(
        groups=tuple(groups),
        mass=shares[:, 0:-1:2],
        rotation=shares[:, 1:-1:2],
        rest=shares[:, -1],
        samples=samples,
    )


class _Evaluator:
    """Inverse dynamics of a part of the robot's inertia."""

    def __init__(self, robot: WholeBody, mass: Array, rotation: Array) -> None:
        self.model = copy.copy(robot.model)
        self.model.body_mass[:] *= mass
        self.model.body_inertia[:] *= rotation[:, None]
        self.data = mujoco.MjData(self.model)

    def torque(self, qpos: Array, qvel: Array, acceleration: Array) -> Array:
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos, qvel, acceleration
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        needed = np.empty(model.nv)
        mujoco.mj_rne(model, data, 1, needed)
        return needed


def _body(robot: WholeBody, name: str) -> int:
    names = [robot.model.body(index).name for index in range(robot.model.nbody)]
    if name not in names:
        raise UnknownName("body", name, names)
    return names.index(name)
