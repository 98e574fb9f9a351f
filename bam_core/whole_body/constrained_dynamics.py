# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of a robot that stands: contacts and held joints as constraints on accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.linalg import lapack

from bam_core.arrays import Array
from bam_core.errors import Conflict
from bam_core.whole_body.robot import WholeBody

_DEPENDENT = 1e-9  # least over largest pivot of constraints that still say different things


@dataclass(frozen=True, kw_only=True)
class ConstrainedState:
    """The equations (5.5) of one state. Below, v is the number of velocities and j that of torque-driven
    joints.

    Everything is kept in the coordinates y = Lᵀ·q̈ with M = L·Lᵀ, in which the projection N is orthogonal.

    Attributes:
        inverse_factor: L⁻¹, (v, v).
        bias: C·q̇ + τ_g less springs, (v,) N·m.
        basis: orthonormal basis of the constraints in y, (v, m).
        inverse_constraint_factor: R⁻¹, with L⁻¹·J_cᵀ = basis·R, (m, m).
        jacobian: J_c, (m, v).
        target: b of (5.5b), (m,).
        drive: L⁻¹·S_tcᵀ, (v, j).
    """

    inverse_factor: Array
    bias: Array
    basis: Array
    inverse_constraint_factor: Array
    jacobian: Array
    target: Array
    drive: Array

    def acceleration(self, torque: Array) -> Array:
        """Return q̈ of (5.10) for torques of the driven joints, (j,) N·m -> (v,) rad/s² (base: m/s² too)."""
        return self._closest(self._free(torque))

    def closest(self, acceleration: Array) -> Array:
        """Return the acceleration that the constraints admit next to one, in the metric of M, (v,) "
        "-> (v,)."""
        return self._closest(np.asarray(np.linalg.solve(self.inverse_factor.T, acceleration), dtype=float))

    def multipliers(self, torque: Array) -> Array:
        """Return λ of (5.9): wrenches of contacts (force, moment; world), torques of held joints, (m,)."""
        missing = self.target @ self.inverse_constraint_factor - self._free(torque) @ self.basis
        return np.asarray(self.inverse_constraint_factor @ missing)

    @property
    def mobility(self) -> Array:
        """M_mod⁻¹ = S_tc·M⁻¹·N·S_tcᵀ of (5.12): accelerations of driven joints by their torques, (j, j)."""
        free = self.drive - self.basis @ (self.basis.T @ self.drive)
        return np.asarray(free.T @ free)

    def _closest(self, y: Array) -> Array:
        y = y + self.basis @ (self.target @ self.inverse_constraint_factor - y @ self.basis)
        return np.asarray(y @ self.inverse_factor)

    def _free(self, torque: Array) -> Array:
        return np.asarray(self.drive @ torque - self.inverse_factor @ self.bias)


class ConstrainedDynamics:
    """Evaluates (5.5) for a robot, and finds where its base is from the foot it stands on."""

    def __init__(self, robot: WholeBody) -> None:
        self.robot = robot
        self.data = mujoco.MjData(robot.model)
        self._mass = np.zeros((robot.model.nv, robot.model.nv))
        self._hold = np.zeros((len(robot.held), robot.model.nv))
        self._hold[np.arange(len(robot.held)), robot.held_dofs] = 1.0
        self._site_of = {name: robot.site(name) for name in robot.contacts}

    def place(
        self,
        position: Array,
        velocity: Array,
        anchor: str | None = None,
        pose: tuple[Array, Array] | None = None,
    ) -> tuple[Array, Array]:
        """Return MuJoCo's qpos and qvel from those of the joints alone; the base follows from a foot at rest.

        Args:
            position: of `robot.names`, (k,) rad.
            velocity: likewise, (k,) rad/s.
            anchor: the contact that stands still; None for a fixed base.
            pose: where it stands, position (3,) m and rotation (3, 3); level at the origin when left out.
        """
        robot, data = self.robot, self.data
        data.qpos[:] = robot.model.qpos0
        data.qpos[robot.positions] = position
        data.qvel[:] = 0.0
        data.qvel[robot.dofs] = velocity
        if robot.floating and anchor is not None:
            site = self._site_of[anchor]
            where, turned = pose if pose is not None else (np.zeros(3), np.eye(3))
            data.qpos[:7] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
            mujoco.mj_kinematics(robot.model, data)
            base = turned @ data.site_xmat[site].reshape(3, 3).T
            data.qpos[:3] = where - base @ data.site_xpos[site]
            mujoco.mju_mat2Quat(data.qpos[3:7], base.reshape(9))
            mujoco.mj_kinematics(robot.model, data)
            mujoco.mj_comPos(robot.model, data)
            jacobian = self._site_jacobian(site)
            data.qvel[:6] = np.linalg.solve(jacobian[:, :6], -jacobian[:, robot.dofs] @ velocity)
        return data.qpos.copy(), data.qvel.copy()

    def at(self, qpos: Array, qvel: Array, contacts: Sequence[str]) -> ConstrainedState:
        """Return the equations in a state.

        Args:
            qpos, qvel: of MuJoCo, see `place`.
            contacts: which of `robot.contacts` stand still.

        Raises:
            BamError: the constraints depend on each other.
        """
        robot, data = self.robot, self.data
        model = robot.model
        data.qpos[:] = qpos
        data.qvel[:] = qvel
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_passive(model, data)
        mujoco.mj_rne(model, data, 0, data.qfrc_bias)
        mujoco.mj_fullM(model, data, self._mass)
        factor, _ = lapack.dpotrf(self._mass, lower=1)
        inverse_factor, _ = lapack.dtrtri(factor, lower=1)
        rows, targets = [], []
        for name in contacts:
            site = self._site_of[name]
            rows.append(self._site_jacobian(site))
            targets.append(-self._site_jacobian_rate(site) @ qvel)
        if robot.held:
            rows.append(self._hold)
            targets.append(np.zeros(len(robot.held)))
        jacobian = np.concatenate(rows) if rows else np.zeros((0, model.nv))
        basis, inverse_constraint_factor = self._span(inverse_factor @ jacobian.T, contacts)
        return ConstrainedState(
            inverse_factor=inverse_factor,
            bias=data.qfrc_bias - data.qfrc_passive,
            basis=basis,
            inverse_constraint_factor=inverse_constraint_factor,
            jacobian=jacobian,
            target=np.concatenate(targets) if targets else np.zeros(0),
            drive=inverse_factor[:, robot.torque_dofs],
        )

    def contact_pose(self, contact: str) -> tuple[Array, Array]:
        """Return where a contact's site is in the state last evaluated: position (3,) m, rotation (3, 3)."""
        site = self._site_of[contact]
        return self.data.site_xpos[site].copy(), self.data.site_xmat[site].reshape(3, 3).copy()

    def contact_velocity(self, contact: str) -> Array:
        """Return how fast a contact's site moves there, (6,): m/s, then rad/s, in the world."""
        return np.asarray(self._site_jacobian(self._site_of[contact]) @ self.data.qvel)

    def _site_jacobian(self, site: int) -> Array:
        jacobian = np.zeros((6, self.robot.model.nv))
        mujoco.mj_jacSite(self.robot.model, self.data, jacobian[:3], jacobian[3:], site)
        return jacobian

    def _site_jacobian_rate(self, site: int) -> Array:
        rate = np.zeros((6, self.robot.model.nv))
        body = int(self.robot.model.site_bodyid[site])
        mujoco.mj_jacDot(
            self.robot.model, self.data, rate[:3], rate[3:], self.data.site_xpos[site][:, None], body
        )
        return rate

    @staticmethod
    def _span(scaled: Array, contacts: Sequence[str]) -> tuple[Array, Array]:
        if not scaled.shape[1]:
            return scaled, np.zeros((0, 0))
        basis, upper = np.linalg.qr(scaled)
        pivots = np.abs(np.diag(upper))
        if pivots.min() < _DEPENDENT * pivots.max():
            raise Conflict(
                f"contacts {', '.join(contacts)}",
                "hold the robot twice over in this posture",
                expected="constraints that are independent",
            )
        inverse, _ = lapack.dtrtri(upper)
        return basis, inverse
