# SPDX-License-Identifier: Apache-2.0
"""Servos on the joints of a MuJoCo model: what steps the simulation with extended friction."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError, Conflict, OutOfRange, UnknownName, Unsupported
from bam_core.mujoco import _law
from bam_core.mujoco._servo_constants import servo_constants
from bam_core.mujoco.robot import JOINT_TRANSMISSIONS
from bam_core.servo.model import ServoLike, ServoModel, load_servo

_ONE_DOF = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))

_RESETS = tuple(
    int(kind)
    for kind in (
        mujoco.mjtWarning.mjWARN_BADQPOS,
        mujoco.mjtWarning.mjWARN_BADQVEL,
        mujoco.mjtWarning.mjWARN_BADQACC,
    )
)

_BAD_POSITION = int(mujoco.mjtWarning.mjWARN_BADQPOS)  # counts positions, the others degrees of freedom

_EMPTY = np.zeros(0)
_NO_ISLANDS = (np.zeros(0, dtype=np.int32), _EMPTY, _EMPTY, _EMPTY, _EMPTY)


class SimulationError(BamError):
    """The simulation cannot go on: its state became NaN or infinite, or a friction row is missing.

    Attributes:
        time: of the simulation, s.
        problem: in words.
    """

    def __init__(self, time: float, problem: str, *, advice: str = "") -> None:
        """Compose the line.

        Args:
            time: of the simulation, s.
            problem: in words.
            advice: what to do; may be empty where the problem tells it.
        """
        self.time, self.problem = time, problem
        super().__init__(f"simulation at {time:.4f} s: {problem}{f'; {advice}' if advice else ''}")


class ServoActuation:
    """Drives joints of any model as servos do, with the friction budget of BAM eq. 10 in every step.

    `step` stands in for `mujoco.mj_step`. Between its two halves it writes the motor torque to
    `data.qfrc_applied` and the budget to the joints' friction rows; the model is never changed, and other
    forces in `qfrc_applied` stay what they were. τ_e is gravity, Coriolis and passive forces of this step
    plus constraint and other forces of the previous one (BAM IV-E). The friction rows are made stiff enough
    to hold still, so the solver must be Newton and the integrator one of Euler, implicit and implicitfast.

    Euler's step is a leapfrog: its velocity belongs half a step before its position. The law accounts for
    that and is then of second order, where BAM Algorithm 1 is of first.

    Use one object per `data`. Prepare the model with `equip`, which gives the joints their armature.

    Attributes:
        model: what is simulated; not to be changed.
        data: its state.
        servos: in the order of every array below.
        names: joints, in the order of every array below.
        goal_position: (servos,) rad; write it.
        torque_enabled: (servos,) 1 or 0; between, the share of the time until the next command with torque
            on; write it. Torque is off at first.
        kp: (servos,) position gain in firmware units, at first that of the factory; write it.
        supply_voltage: (servos,) V; write it. The servos' nominal voltage at first.
        case_temperature_rise: (servos,) of the motors' cases above the temperature that R belongs to, K;
            write it. Zero at first. Used only where `winding_heating` or `friction_temperature` is not zero.
        encoder_zero: (servos,) rad, what their encoders say where the joint is at zero; write it. Zero at
            first. Used only with the effect `encoder_quantisation`.
        goal_duty: (servos,) duty, -1..1, commanded directly in place of a goal position; for firmware that
            regulates a current, that current, A; write it. NaN, as at first: the goal position is followed.
        duty: (servos,) -1..1 in the last step; where firmware regulates a current, the duty that this needs.
        current: (servos,) of the motors in the last step, A.
        winding_warming: (servos,) of the windings above the temperature that R belongs to, after the last
            step, K.
        motor_torque: (servos,) N·m in the last step.
        external_torque: (servos,) τ_e in the last step, N·m.
        friction_budget: (servos,) τ_f^m in the last step, N·m.
        friction_torque: (servos,) applied in the last step, N·m.

    Raises:
        BamError: unknown joint, not a hinge or slide, prepared wrongly, driven by an actuator too, or an
            option of the model that the friction rows do not allow.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, servos: Mapping[str, ServoLike]) -> None:
        joints = [_find_joint(model, name) for name in servos]
        self.names: tuple[str, ...] = tuple(servos)
        self.servos: tuple[ServoModel, ...] = tuple(load_servo(servo) for servo in servos.values())
        self.model, self.data, self._option = model, data, model.opt
        self._dof = np.array([model.jnt_dofadr[joint] for joint in joints], dtype=np.int32)
        self._position_address = np.array([model.jnt_qposadr[joint] for joint in joints], dtype=np.int32)
        self._constants = np.array([servo_constants(servo) for servo in self.servos])
        for name, joint in zip(self.names, joints, strict=True):
            _check_joint(model, name, joint)
        self._check_friction()
        for name, dof, servo in zip(self.names, self._dof, self.servos, strict=True):
            _check_inertia(model, name, dof, servo)

        self._command = np.zeros((_law.COMMANDS, len(joints)))
        self.goal_position = self._command[_law.GOAL_POSITION]
        self.torque_enabled = self._command[_law.ENABLED]
        self.kp = self._command[_law.KP]
        self.supply_voltage = self._command[_law.SUPPLY_VOLTAGE]
        self.case_temperature_rise = self._command[_law.CASE_TEMPERATURE_RISE]
        self.encoder_zero = self._command[_law.ENCODER_ZERO]
        self.goal_duty = self._command[_law.GOAL_DUTY]
        self.goal_duty[:] = np.nan
        self.kp[:] = [servo.firmware.factory_kp for servo in self.servos]
        self.supply_voltage[:] = [servo.nominal_voltage for servo in self.servos]

        self._state = np.zeros((_law.STATES, len(joints)))
        self.duty = self._state[_law.DUTY]
        self.current = self._state[_law.CURRENT]
        self.winding_warming = self._state[_law.WINDING_WARMING]
        self.motor_torque = self._state[_law.MOTOR_TORQUE]
        self.external_torque = self._state[_law.EXTERNAL_TORQUE]
        self.friction_budget = self._state[_law.FRICTION_BUDGET]
        self.friction_torque = self._state[_law.FRICTION_TORQUE]

        self.reset()

        # Attribute access on MjData builds a new array object each time; these stay valid for its life.
        self._servo_arrays = (self._constants, self._command, self._state, self._position_address, self._dof)
        self._robot = (data.qpos, data.qvel, data.qfrc_bias, data.qfrc_passive, data.qfrc_applied)
        self._solved = (
            data.qvel,
            data.qacc,
            data.qfrc_bias,
            data.qfrc_passive,
            data.qfrc_applied,
            data.qfrc_smooth,
            data.qfrc_constraint,
        )

    @property
    def position(self) -> Array:
        """Joint positions, rad."""
        return self.data.qpos[self._position_address]

    @property
    def velocity(self) -> Array:
        """Joint velocities, rad/s."""
        return self.data.qvel[self._dof]

    def reset(self) -> None:
        """Forget the previous step; call it after writing another state into `data`.

        Windings are then as warm as their cases.
        """
        self._state[:] = 0.0
        self._state[_law.WAS_ENABLED] = _law.UNKNOWN
        heats = np.array([servo.motor.winding_heating > 0.0 for servo in self.servos])
        self.winding_warming[:] = np.where(heats, self.case_temperature_rise, 0.0)

    def remember(self) -> Array:
        """Return commands and what the law carries from step to step, as `recall` takes it.

        With `data`'s state this is all that the next step depends on.
        """
        return np.concatenate([self._command, self._state])

    def recall(self, memory: Array) -> None:
        """Go back to what was remembered; the state of `data` is the caller's."""
        self._command[:], self._state[:] = np.split(memory, [len(self._command)])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the last step, one line each; none here."""
        return ()

    def step(self) -> None:
        """Advance `data` by one time step.

        Raises:
            SimulationError: a torque or the state is no longer finite, or MuJoCo dropped a friction row.
        """
        model, data = self.model, self.data
        time = data.time
        mujoco.mj_step1(model, data)
        rows = data.ne, data.nf, data.efc_type, data.efc_id
        settings = data.efc_diagA, data.efc_frictionloss, data.efc_R, data.efc_D, data.efc_aref
        if data.nisland:
            islands = (
                data.map_efc2iefc,
                data.iefc_frictionloss,
                data.iefc_R,
                data.iefc_D,
                data.iefc_aref,
            )
        else:
            islands = _NO_ISLANDS
        dt = self._option.timestep
        status = _law.before_solver(self._servo_arrays, self._robot, time, dt, rows, settings, islands)
        if status != _law.OK:
            raise self._failure(status, time)
        mujoco.mj_step2(model, data)
        _law.after_solver(self._servo_arrays, self._solved, dt, rows, data.efc_force)
        # MuJoCo starts over when the state is no longer finite; the first step cannot be told by its time.
        if data.time <= time or (time == 0.0 and any(data.warning[kind].number for kind in _RESETS)):
            raise self._failure(_law.NOT_FINITE, time)

    def _check_friction(self) -> None:
        """Raise BamError where the model does not allow friction as this class brings it about."""
        _check_options(self.model)
        for name, dof, servo in zip(self.names, self._dof, self.servos, strict=True):
            if servo.gear is not None:
                raise Unsupported(
                    f"joint '{name}'",
                    f"servo '{servo.name}' has a gear, which ServoActuation does not know",
                    expected="a friction budget alone",
                    advice="let bam_core.mujoco.actuate() choose",
                )
            if self.model.dof_frictionloss[dof] <= 0.0:
                raise OutOfRange(
                    f"joint '{name}', frictionloss",
                    self.model.dof_frictionloss[dof],
                    "> 0: else the solver has no friction row for it",
                    told=f"{self.model.dof_frictionloss[dof]:g}",
                    advice="prepare the model with equip()",
                )

    def _failure(self, status: int, time: float) -> SimulationError:
        self.data.qfrc_applied[self._dof] = self._state[_law.USER_TORQUE]
        self.reset()
        if status == _law.NO_ROW:
            return SimulationError(
                time,
                f"a servo joint of {', '.join(self.names)} has no friction row (expected one each)",
                advice='raise <size memory="..."/> of the model',
            )
        goals = ", ".join(
            f"{name} {goal:g}" if enabled else f"{name} off"
            for name, goal, enabled in zip(self.names, self.goal_position, self.torque_enabled, strict=True)
        )
        return SimulationError(
            time,
            f"{self._culprit()} is no longer finite (goals: {goals})",
            advice="shorten the time step or check masses, gains and goals",
        )

    def _culprit(self) -> str:
        """Name what MuJoCo found first when it started over; the state, where it did not."""
        model = self.model
        for kind in _RESETS:
            warning = self.data.warning[kind]
            if not warning.number:
                continue
            if kind == _BAD_POSITION:
                joint = int(np.searchsorted(model.jnt_qposadr, warning.lastinfo, side="right")) - 1
            else:
                joint = int(model.dof_jntid[warning.lastinfo])
            return f"joint '{model.joint(joint).name}'"
        return "the state"


def _find_joint(model: mujoco.MjModel, name: str) -> int:
    joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
    if joint < 0:
        joints = np.flatnonzero(np.isin(model.jnt_type, _ONE_DOF))
        raise UnknownName("joint", name, [model.joint(i).name for i in joints])
    return int(joint)


def _check_joint(model: mujoco.MjModel, name: str, joint: int) -> None:
    if int(model.jnt_type[joint]) not in _ONE_DOF:
        raise Unsupported(
            f"joint '{name}'",
            "has more than one degree of freedom",
            expected="hinge or slide",
            advice="choose another",
        )
    for actuator in range(model.nu):
        kind, target = model.actuator_trntype[actuator], model.actuator_trnid[actuator, 0]
        if target == joint and int(kind) in JOINT_TRANSMISSIONS:
            raise Conflict(
                f"joint '{name}'",
                f"actuator '{model.actuator(actuator).name}' drives it too",
                expected="the servo alone",
                advice="remove it or prepare the model with equip()",
            )


def _check_inertia(model: mujoco.MjModel, name: str, dof: int, servo: ServoModel) -> None:
    if servo.motor.armature > 0.0 and model.dof_armature[dof] == 0.0:
        raise OutOfRange(
            f"joint '{name}', armature",
            0.0,
            f"that of servo '{servo.name}', {servo.motor.armature:g} kg·m²",
            told="0",
            advice="prepare the model with equip()",
        )
    damping = servo.motor.torque_constant**2 / servo.motor.resistance
    longest = 1.0 / (damping * model.dof_invweight0[dof])
    if model.opt.timestep >= longest:
        raise Conflict(
            f"joint '{name}'",
            f"the time step of {model.opt.timestep:g} s is unstable with its back-EMF and inertia",
            expected=f"< {longest:.2g} s",
            advice="shorten it",
        )


def _check_options(model: mujoco.MjModel) -> None:
    option = model.opt
    if option.solver != mujoco.mjtSolver.mjSOL_NEWTON:
        raise Unsupported(
            "model option solver", "friction that holds still needs Newton", advice='set solver="Newton"'
        )
    if option.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise Unsupported(
            "model option integrator",
            "RK4 evaluates a step more than once",
            expected="Euler, implicit or implicitfast",
            advice='set integrator="Euler"',
        )
    if option.disableflags & mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS:
        raise Unsupported(
            "model option flag frictionloss", "is disabled", expected="enabled", advice='set it to "enable"'
        )
