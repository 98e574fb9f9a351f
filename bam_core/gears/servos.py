# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo whose joints have a gear in place of a load-dependent friction budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.errors import unknown_name
from bam_core.friction import Friction
from bam_core.gears.asymmetry import Asymmetry
from bam_core.gears.gear import LOAD_TERMS
from bam_core.gears.geared_joints import JointsStep
from bam_core.gears.robot import GearedRobot, JointGear
from bam_core.mujoco.actuation import DEFAULT_KP
from bam_core.servo_model import ServoModel

Array = NDArray[np.float64]


def equip_with_gears(spec: mujoco.MjSpec, servos: Mapping[str, ServoModel]) -> None:
    """Prepare joints: their armature is the servo's, and friction and damping are left to the gear.

    Raises:
        BamError: no such joint.
    """
    names = [joint.name for joint in spec.joints]
    for name, servo in servos.items():
        if name not in names:
            raise unknown_name("joint", name, names)
        joint = spec.joint(name)
        joint.armature = servo.motor.armature
        joint.frictionloss = 0.0
        joint.damping = np.zeros_like(joint.damping)


class GearedServos:
    """Drives joints as `mujoco.ServoActuation` does, through gears.

    Of a servo's friction its viscous, Coulomb and Stribeck terms stay; the gear takes the place of the
    load-dependent ones. Windings stay cold. `step` stands in for `mujoco.mj_step`.

    Attributes:
        names: joints, in the order of every array below.
        robot: the gears.
        goal_position: (servos,) rad; write it.
        torque_enabled: (servos,) 1 or 0; write it. Torque is off at first.
        kp: (servos,) position gain in firmware units; write it.
        supply_voltage: (servos,) V; write it. The servos' nominal voltage at first.
        motor_torque: (servos,) N·m in the last step.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        servos: Mapping[str, tuple[ServoModel, Asymmetry]],
    ) -> None:
        """Put servos with gears on joints of a model that `equip_with_gears` has prepared.

        Args:
            model: the robot.
            data: its state.
            servos: servo, and γ_u and γ_v of its gear, by joint.

        Raises:
            BamError: no such joint, or one with friction of its own or more than one degree of freedom.
        """
        self.names = tuple(servos)
        self._servos = tuple(servo for servo, _ in servos.values())
        gears = {
            name: JointGear(asymmetry=asymmetry, friction=_without_load(servo.friction))
            for name, (servo, asymmetry) in servos.items()
        }
        self.robot = GearedRobot(model, data, gears)
        joints = [model.joint(name) for name in self.names]
        self._positions = np.array([joint.qposadr[0] for joint in joints], dtype=np.intp)
        self._dofs = np.array([joint.dofadr[0] for joint in joints], dtype=np.intp)
        count = len(joints)
        self.goal_position, self.torque_enabled = np.zeros(count), np.zeros(count)
        self.kp = np.full(count, DEFAULT_KP)
        self.supply_voltage = np.array([servo.nominal_voltage for servo in self._servos])
        self.motor_torque = np.zeros(count)
        self._demand, self._due = np.zeros(count), np.full(count, -np.inf)

    def step(self) -> JointsStep:
        """Advance by the model's time step; firmware looks at its goal once per period.

        Raises:
            BamError: nothing solves the step.
        """
        model, data = self.robot.model, self.robot.data
        for index, servo in enumerate(self._servos):
            position = float(data.qpos[self._positions[index]])
            velocity = float(data.qvel[self._dofs[index]])
            if data.time >= self._due[index] - 0.5 * model.opt.timestep:
                error = self.goal_position[index] - position
                self._demand[index] = servo.firmware.demand(self.kp[index], error, velocity)
                self._due[index] = data.time + servo.firmware.period
            supply, asked = float(self.supply_voltage[index]), float(self._demand[index])
            if servo.firmware.regulates_current:
                voltage = float(servo.motor.regulating_voltage(asked, velocity, supply))
            else:
                voltage = asked * supply
            self.motor_torque[index] = servo.motor.torque(voltage, velocity, self.torque_enabled[index])
        drive = np.zeros(model.nv)
        drive[self._dofs] = self.motor_torque
        return self.robot.step(drive)


def _without_load(friction: Friction) -> Friction:
    kept: dict[str, Any] = {
        name: value for name, value in friction.coefficients().items() if name not in LOAD_TERMS
    }
    return Friction(**kept)
