# SPDX-License-Identifier: Apache-2.0
"""A robot whose joint friction is asked for: a MuJoCo model, and what holds, drives and touches it."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.errors import Conflict, Missing, UnknownName, Unsupported

_ONE_AXIS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


class WholeBody:
    """A model with a free base or a fixed one.

    The model's own damping and friction are taken off: friction is what is asked for. Its armature stays; it
    has to be zero where torques are measured behind the gear, since the rotor is then no part of what they
    move.

    Args:
        model: compiled; copied.
        contacts: sites that stand still in the world, in position and orientation, when they are in contact;
            of a robot with a free base, one at least.
        held: joints that a position controller holds: they do not accelerate, and their torque is unknown.

    Raises:
        BamError: a name is unknown or missing, a joint has several axes, none is driven, or a free base has
            nothing to stand on.

    Attributes:
        model: the copy.
        names: joints with one axis, in the model's order; the columns of positions and velocities.
        joints: those whose torque is known (S_tc), in the same order; the columns of torques.
        held: the others (S_pc).
        contacts: as given.
        floating: whether the base is free.
        torque_columns, held_columns: where `joints` and `held` are in `names`.
        positions, dofs: where `names` are in MuJoCo's qpos and qvel.
    """

    def __init__(
        self, model: mujoco.MjModel, *, contacts: Sequence[str] = (), held: Sequence[str] = ()
    ) -> None:
        model = copy.copy(model)
        model.dof_damping[:] = 0.0
        model.dof_frictionloss[:] = 0.0
        self.model = model
        kinds = [int(kind) for kind in model.jnt_type]
        self.floating = bool(kinds) and kinds[0] == _FREE
        axes = range(1 if self.floating else 0, model.njnt)
        for index in axes:
            if kinds[index] not in _ONE_AXIS:
                raise Unsupported(
                    f"joint '{model.joint(index).name}'",
                    "turns about several axes",
                    expected="hinges and slides, and at most one free joint, the first",
                    advice="split it into hinges",
                )
        self.names = tuple(model.joint(index).name for index in axes)
        if "" in self.names:
            raise Missing(
                f"model '{_title(model)}', name of joint {axes[self.names.index('')]}",
                "one for each, as in the joint states",
                advice="name it",
            )
        sites = tuple(model.site(index).name for index in range(model.nsite))
        for name in held:
            if name not in self.names:
                raise UnknownName("joint", name, self.names)
        for name in contacts:
            if name not in sites:
                raise UnknownName("contact site", name, sites)
        if self.floating and not contacts:
            raise Missing(
                f"model '{_title(model)}', contacts",
                "sites that rest on the ground, as its base is free",
                advice="name them as contacts",
            )
        self.contacts = tuple(contacts)
        self.held = tuple(name for name in self.names if name in held)
        self.joints = tuple(name for name in self.names if name not in held)
        if not self.joints:
            raise Conflict(
                f"model '{_title(model)}'",
                "has no joint whose torque is known",
                expected="one at least, beside those that are held",
                advice="check the file",
            )
        self.torque_columns = self._columns(self.joints)
        self.held_columns = self._columns(self.held)
        self.positions = np.array([model.jnt_qposadr[index] for index in axes], dtype=int)
        self.dofs = np.array([model.jnt_dofadr[index] for index in axes], dtype=int)

    @property
    def torque_dofs(self) -> NDArray[np.int_]:
        """Where `joints` are in qvel: the rows of S_tc."""
        return self.dofs[self.torque_columns]

    @property
    def held_dofs(self) -> NDArray[np.int_]:
        """Where `held` are in qvel: the rows of S_pc."""
        return self.dofs[self.held_columns]

    def site(self, contact: str) -> int:
        """Return the index of a contact's site.

        Raises:
            BamError: it is none of `contacts`.
        """
        if contact not in self.contacts:
            raise UnknownName("contact", contact, self.contacts)
        return int(self.model.site(contact).id)

    def with_inertia(
        self, mass: NDArray[np.float64] | float = 1.0, rotation: NDArray[np.float64] | float = 1.0
    ) -> WholeBody:
        """Return the same robot with other inertia.

        Args:
            mass: factor of the mass of each body, one or shape (nbody,).
            rotation: factor of each body's moments of inertia about its centre of mass, likewise.
        """
        scaled = copy.copy(self)
        scaled.model = copy.copy(self.model)
        scaled.model.body_mass[:] *= mass
        scaled.model.body_inertia[:] *= np.reshape(rotation, (-1, 1))
        mujoco.mj_setConst(scaled.model, mujoco.MjData(scaled.model))
        return scaled

    def _columns(self, names: Sequence[str]) -> NDArray[np.int_]:
        return np.array([self.names.index(name) for name in names], dtype=int)


def _title(model: mujoco.MjModel) -> str:
    return bytes(model.names[: model.names.index(b"\0")]).decode(errors="replace") or "unnamed"
