# SPDX-License-Identifier: Apache-2.0
"""A MuJoCo robot with gears on its joints: M(q), h, J and contacts from MuJoCo, the step by (69)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import Conflict, UnknownName, Unsupported, WrongShape
from bam_core.gears.geared_joints import GearedJoints, JointsStep
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.friction import Friction

_ONE_DEGREE = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
_ROUNDS = 30  # of friction and contacts in turn; a handful is the rule
_CONVERGED = 1e-8  # change of the friction at hand that ends them, relative to the largest
_FRICTION_ROW = mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF.value


@dataclass(frozen=True, kw_only=True)
class JointGear:
    """The gear of one joint.

    Attributes:
        asymmetry: γ_u and γ_v.
        friction: load-independent friction beside it.
    """

    asymmetry: Asymmetry
    friction: Friction = field(default_factory=Friction)


class GearedRobot:
    """Steps a model in MuJoCo's stead.

    The armature of a joint is its input inertia m. Actuators act on the input side; everything else, such as
    gravity, damping, springs, `qfrc_applied` and contacts, on the output side. The step is that of Euler with
    implicit damping, whichever integrator the model names. Contacts and other constraints
    are MuJoCo's: it works out their forces beside friction of a given bound, which is then worked out from
    these forces, and so on until the bound is what it was.

    Attributes:
        model: the robot.
        data: its state; positions, velocities and time are advanced, accelerations are those of the step, the
            rest is as of its start.
        joints: the gears of all degrees of freedom; those that got none have none.
        constraint_torque: of contacts and other constraints in the last step, (nv,) N·m.
        friction: of the last step, (nv,) N·m, where the search for the next one starts.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, gears: Mapping[str, JointGear]) -> None:
        """Put gears on hinges and slides.

        Args:
            model: the robot.
            data: its state.
            gears: gear of every geared joint.

        Raises:
            BamError: no such joint, or one with more than one degree of freedom; or the model has actuators
                whose activation is a state.
        """
        self.model, self.data = model, data
        if model.na:
            raise Unsupported(
                "robot with gears",
                f"{model.na} activations of actuators are states",
                expected="none: only positions and velocities are stepped",
                advice="use actuators without dyntype",
            )
        asymmetries = [Asymmetry(input_side=0.0, output_side=0.0)] * model.nv
        frictions = [Friction()] * model.nv
        for name, gear in gears.items():
            dof = _degree_of_freedom(model, name)
            asymmetries[dof], frictions[dof] = gear.asymmetry, gear.friction
            if model.dof_frictionloss[dof] > 0.0:
                raise Conflict(
                    f"joint {name!r}",
                    f"has a gear and a frictionloss of {model.dof_frictionloss[dof]:g}",
                    expected="0",
                    advice="give it as JointGear(friction=Friction(coulomb=...))",
                )
        self.joints = GearedJoints(asymmetries, model.dof_armature.copy(), frictions)
        self._geared = np.array([_degree_of_freedom(model, name) for name in gears], dtype=np.intp)
        self.constraint_torque = np.zeros(model.nv)
        self.friction = np.zeros(model.nv)

    def step(self, input_torque: ArrayLike = 0.0) -> JointsStep:
        """Advance by the model's time step: `observe` and `advance`.

        Args:
            input_torque: τ_u beside that of actuators, (nv,) N·m.

        Raises:
            BamError: wrong shape, a value is not finite, or nothing solves the step.
        """
        self.observe()
        return self.advance(input_torque)

    def observe(self) -> None:
        """Work out what depends on positions and velocities alone, such as h, for a law that needs it."""
        model, data = self.model, self.data
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_sensorVel(model, data)

    def advance(self, input_torque: ArrayLike = 0.0, extra: Array | float = 0.0) -> JointsStep:
        """Advance by the model's time step what was observed.

        Args:
            input_torque: τ_u beside that of actuators, (nv,) N·m.
            extra: load-independent friction of geared joints beside that of their gears, (nv,) N·m.

        Raises:
            BamError: wrong shape, a value is not finite, or nothing solves the step.
        """
        model, data = self.model, self.data
        input_torque = np.asarray(input_torque, dtype=np.float64)
        if input_torque.shape not in ((), (model.nv,)):
            raise WrongShape(
                "robot with gears input_torque, shape",
                input_torque.shape,
                f"{(model.nv,)}, one per degree of freedom, or one for all",
            )
        applied = data.qfrc_applied.copy()
        data.qfrc_applied += input_torque  # so that constraints know it
        try:
            made = self._solve(input_torque, extra)
        finally:
            data.qfrc_applied[:] = applied
            model.dof_frictionloss[self._geared] = 0.0
        self.friction = made.friction
        data.qacc[:] = (made.velocity - data.qvel) / model.opt.timestep
        data.qvel[:] = made.velocity
        mujoco.mj_integratePos(model, data.qpos, data.qvel, model.opt.timestep)
        data.time += model.opt.timestep
        return made

    def _solve(self, input_torque: Array, extra: Array | float) -> JointsStep:
        model, data = self.model, self.data
        dt = float(model.opt.timestep)
        mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_VEL, 0)
        full = np.empty((model.nv, model.nv))
        mujoco.mj_fullM(model, data, full)
        output_inertia = full + np.diag(dt * model.dof_damping - model.dof_armature)
        drive = data.qfrc_actuator + input_torque
        load = data.qfrc_bias - data.qfrc_passive - data.qfrc_applied + input_torque

        def advance(constraint: Array) -> JointsStep:
            self.constraint_torque = constraint
            return self.joints.step(
                data.qvel, drive, load - constraint, output_inertia, dt, extra=extra, start=self.friction
            )

        made = advance(data.qfrc_constraint.copy())
        if data.nefc == 0 or not len(self._geared):
            return made
        beside = self.joints.load_independent(data.qvel) + extra
        bound = np.zeros(len(self._geared))
        for _ in range(_ROUNDS):
            last, bound = bound, (np.abs(made.internal_force) + beside)[self._geared]
            if np.max(np.abs(bound - last)) <= _CONVERGED * np.max(bound):
                break
            model.dof_frictionloss[self._geared] = np.maximum(bound, mujoco.mjMINVAL)
            mujoco.mj_forward(model, data)
            made = advance(self._constraint())
        return made

    def _constraint(self) -> Array:
        """Return the torques of MuJoCo's constraints without friction of geared joints, (nv,) N·m."""
        data = self.data
        torque = data.qfrc_constraint.copy()
        rows = np.flatnonzero(data.efc_type == _FRICTION_ROW)
        geared = rows[np.isin(data.efc_id[rows], self._geared)]
        torque[data.efc_id[geared]] -= data.efc_force[geared]
        return torque


def _degree_of_freedom(model: mujoco.MjModel, name: str) -> int:
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    if joint < 0:
        raise UnknownName("joint", name, [model.joint(index).name for index in range(model.njnt)])
    if mujoco.mjtJoint(model.jnt_type[joint]) not in _ONE_DEGREE:
        raise Unsupported(
            f"joint {name!r}", "is neither hinge nor slide", expected="one of them", advice="choose another"
        )
    return int(model.jnt_dofadr[joint])
