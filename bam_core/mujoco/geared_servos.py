# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo some of whose joints have a gear in place of a load-dependent friction budget."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from bam_core.errors import BamError, Conflict
from bam_core.gears.axproj import largest_gain
from bam_core.gears.robot import GearedRobot, JointGear
from bam_core.mujoco.actuation import ServoActuation, SimulationError
from bam_core.mujoco.native.compiled_law import NOT_FINITE, OK, REFUSED
from bam_core.servo.asymmetry import Asymmetry
from bam_core.servo.model import ServoModel
from bam_core.text.gear_findings import IllPosedGears

_NO_GEAR = Asymmetry(input_side=0.0, output_side=0.0)


class GearedServos(ServoActuation):
    """Drives joints as `ServoActuation` does, those of servos with a gear through it.

    Firmware, motor and friction budgets are the same. All joints are then solved for at once by (69): a servo
    without a gear is one with γ_u = γ_v = 0 whose whole budget, load-dependent or not, is load-independent
    friction for the time of a step. Joints that friction holds are exactly at rest. `friction_budget` of a
    joint with a gear is |λ| and its load-independent friction.

    Make it with `mujoco.actuate`, on a model that `mujoco.equip` has prepared.

    Attributes:
        robot: the gears.
        feedback: P (52) of the last step, (nv, nv).

    Raises:
        BamError: as of `ServoActuation`, or a joint has friction of its own.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, servos: Mapping[str, ServoModel]) -> None:
        super().__init__(model, data, servos)
        gears = {name: JointGear(asymmetry=servo.gear or _NO_GEAR) for name, servo in servos.items()}
        self.robot = GearedRobot(model, data, gears)
        self.feedback = np.zeros((model.nv, model.nv))
        self._drive, self._budget = np.zeros(model.nv), np.zeros(model.nv)

    @property
    def gain(self) -> float:
        """σ_max(P) of the last step (57)."""
        return largest_gain(self.feedback)

    @property
    def warnings(self) -> tuple[IllPosedGears, ...]:
        """Which gears may jam or have two solutions with the rotor and load that they had last (29, 57)."""
        own = tuple(
            IllPosedGears(
                kind="own_feedback",
                joints=(name,),
                gain=abs(float(self.feedback[dof, dof])),
                servo=servo.name,
                input_side=servo.gear.input_side,
                output_side=servo.gear.output_side,
            )
            for name, dof, servo in zip(self.names, self._dof, self.servos, strict=True)
            if servo.gear is not None and abs(float(self.feedback[dof, dof])) >= 1.0
        )
        if not own and self.gain >= 1.0:
            return (
                IllPosedGears(kind="joint_gain", joints=tuple(self._geared_names), gain=float(self.gain)),
            )
        return own

    def step(self) -> None:
        """Advance `data` by one time step.

        Raises:
            SimulationError: a torque or the state is no longer finite, or nothing solves the step (67).
        """
        data, robot, dof, state = self.data, self.robot, self._dof, self._law.state
        time = data.time
        if not _is_sane(data):
            state["applied_torque"] = data.qfrc_applied[dof]
            raise self._failure(NOT_FINITE, time)
        robot.observe()
        status = self._law.before_gears()
        if status == REFUSED:
            self._check_model()
        if status != OK:
            raise self._failure(status, time)
        self._drive[dof], self._budget[dof] = self.motor_torque, self.friction_budget
        robot.friction[dof] = -self.friction_torque  # the start, so that what is remembered is all there is
        try:
            made = robot.advance(self._drive, self._budget)
        except BamError as error:
            self.reset()
            raise SimulationError(time, f"gears of {', '.join(self._geared_names)}: {error}") from None
        self.feedback = made.feedback
        self.friction_budget += np.abs(made.internal_force[dof])
        self.friction_torque[:] = -made.friction[dof]
        state["acceleration"] = data.qacc[dof]
        state["other_torque"] = data.qfrc_actuator[dof] + robot.constraint_torque[dof]

    @property
    def _geared_names(self) -> list[str]:
        return [name for name, servo in zip(self.names, self.servos, strict=True) if servo.gear is not None]

    def _check_friction(self) -> None:
        """Raise BamError where a joint has friction of its own beside what its servo brings."""
        for name, dof in zip(self.names, self._dof, strict=True):
            if self.model.dof_frictionloss[dof] > 0.0:
                raise Conflict(
                    f"joint '{name}'",
                    f"frictionloss is {self.model.dof_frictionloss[dof]:g} beside gears",
                    expected="0: servos bring their own",
                    advice="prepare the model with equip()",
                )


def _is_sane(data: mujoco.MjData) -> bool:
    """Return whether MuJoCo would take the state for one, too."""
    return bool(np.all(np.abs(data.qpos) < mujoco.mjMAXVAL) and np.all(np.abs(data.qvel) < mujoco.mjMAXVAL))
