# SPDX-License-Identifier: Apache-2.0
"""Servos on the joints of a MuJoCo model: what steps the simulation with extended friction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BamError, Conflict, OutOfRange, UnknownName, Unsupported
from bam_core.mujoco.actuators import JOINT_TRANSMISSIONS
from bam_core.mujoco.native.compiled_law import NO_ROW, NOT_FINITE, OK, REFUSED, CompiledLaw
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.text.finding import Finding

_ONE_DOF = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))

_RESETS = tuple(
    int(kind)
    for kind in (
        mujoco.mjtWarning.mjWARN_BADQPOS,
        mujoco.mjtWarning.mjWARN_BADQVEL,
        mujoco.mjtWarning.mjWARN_BADQACC,
    )
)

_FRICTION_FLAGS = {
    "frictionloss": mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS,
    "constraint": mujoco.mjtDisableBit.mjDSBL_CONSTRAINT,
}
"""Flags without which there are no friction rows -> their bits."""

_BAD_POSITION = int(mujoco.mjtWarning.mjWARN_BADQPOS)  # counts positions, the others degrees of freedom


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
            advice: what to do; may be empty where the problem implies it.
        """
        self.time, self.problem = time, problem
        super().__init__(f"simulation at {time:.4f} s: {problem}{f'; {advice}' if advice else ''}")


class NotFiniteError(SimulationError):
    """A state or a torque that became NaN or infinite.

    Attributes:
        culprit: what was first, such as "position of joint 'elbow'".
    """

    def __init__(self, time: float, culprit: str, goals: str) -> None:
        """Compose the line.

        Args:
            time: of the simulation, s.
            culprit: what was first.
            goals: of all servos at that time, in words.
        """
        self.culprit = culprit
        super().__init__(
            time,
            f"{culprit} is no longer finite (goals: {goals})",
            advice="shorten the time step or check masses, gains and goals",
        )


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
        kd: (servos,) derivative gain in firmware units, at first zero; write it. It has no effect on a
            firmware without `kd_scale`.
        ki: (servos,) integral gain in firmware units, at first zero; write it. It has no effect on a
            firmware without `ki_scale`. The integral is 0 where torque comes on.
        supply_voltage: (servos,) V; write it. The servos' nominal voltage at first.
        case_temperature_rise: (servos,) of the motors' cases above the temperature that R belongs to, K;
            write it. Zero at first. Used only where `winding_heating` or `friction_temperature` is not zero.
        encoder_zero: (servos,) rad, readings of their encoders where the joint is at zero; write it. Zero at
            first. Used only with the effect `encoder_quantisation`.
        goal_duty: (servos,) duty, -1..1, commanded directly in place of a goal position; for firmware that
            regulates a current, that current, A; write it. NaN, as at first: the goal position is followed.
        integral_demand: (servos,) of the integral gains, duty or A; write it after `reset` to begin with
            another one than zero.
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
        self.model, self.data = model, data
        self._dof = np.array([model.jnt_dofadr[joint] for joint in joints], dtype=np.int32)
        self._position_address = np.array([model.jnt_qposadr[joint] for joint in joints], dtype=np.int32)
        for name, joint in zip(self.names, joints, strict=True):
            _check_joint(model, name, joint)
        self._check_model()

        self._law = CompiledLaw(model, data, joints, self.servos)
        state = self._law.state
        self.goal_position: Array = state["goal_position"]
        self.torque_enabled: Array = state["torque_enabled"]
        self.kp: Array = state["kp"]
        self.kd: Array = state["kd"]
        self.ki: Array = state["ki"]
        self.supply_voltage: Array = state["supply_voltage"]
        self.case_temperature_rise: Array = state["case_temperature_rise"]
        self.encoder_zero: Array = state["encoder_zero"]
        self.goal_duty: Array = state["goal_duty"]
        self.goal_duty[:] = np.nan
        self.kp[:] = [servo.firmware.factory_kp for servo in self.servos]
        self.supply_voltage[:] = [servo.nominal_voltage for servo in self.servos]

        self.integral_demand: Array = state["integral_demand"]
        self.duty: Array = state["duty"]
        self.current: Array = state["current"]
        self.winding_warming: Array = state["winding_warming"]
        self.motor_torque: Array = state["motor_torque"]
        self.external_torque: Array = state["external_torque"]
        self.friction_budget: Array = state["friction_budget"]
        self.friction_torque: Array = state["friction_torque"]
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a law of their own, in the same state."""
        servos = dict(zip(self.names, self.servos, strict=True))
        return _restore, (type(self), self.model, self.data, servos, self.remember())

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
        self._law.reset()

    def remember(self) -> NDArray[np.void]:
        """Return (servos,) records of commands and of what the law carries from step to step, for `recall`.

        With `data`'s state this is all that the next step depends on.
        """
        return self._law.state.copy()

    def recall(self, memory: NDArray[np.void]) -> None:
        """Go back to what was remembered; the state of `data` is the caller's.

        Raises:
            BamError: another version of the law remembered it, or that of other servos.
        """
        state = self._law.state
        if memory.dtype != state.dtype or memory.shape != state.shape:
            raise Conflict(
                "what was remembered of servos",
                "is of other servos or of another version of their law",
                advice="recall it with what remembered it",
            )
        state[:] = memory

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Warnings about the last step; none here."""
        return ()

    def step(self) -> None:
        """Advance `data` by one time step.

        Raises:
            SimulationError: a torque or the state is no longer finite, or MuJoCo dropped a friction row.
            BamError: options of the model were changed to what is refused at the start.
        """
        model, data = self.model, self.data
        time = data.time
        mujoco.mj_step1(model, data)
        status = self._law.before_solver()
        if status == REFUSED:
            self._check_model()
        if status != OK:
            raise self._failure(status, time)
        mujoco.mj_step2(model, data)
        self._law.after_solver()
        # MuJoCo starts over when the state is no longer finite; the first step cannot be told by its time.
        if data.time <= time or (time == 0.0 and any(data.warning[kind].number for kind in _RESETS)):
            raise self._failure(NOT_FINITE, time)

    def _check_model(self) -> None:
        """Raise BamError where options or joints of the model do not allow the law."""
        self._check_friction()
        for name, dof, servo in zip(self.names, self._dof, self.servos, strict=True):
            _check_inertia(self.model, name, dof, servo)

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
                    printed=f"{self.model.dof_frictionloss[dof]:g}",
                    advice="prepare the model with equip()",
                )

    def _failure(self, status: int, time: float) -> SimulationError:
        self.data.qfrc_applied[self._dof] = self._law.state["applied_torque"]
        self.reset()
        if status == NO_ROW:
            return SimulationError(
                time,
                f"a servo joint of {', '.join(self.names)} has no friction row (expected one each)",
                advice='raise <size memory="..."/> of the model',
            )
        goals = ", ".join(
            f"{name} {goal:g}" if enabled else f"{name} off"
            for name, goal, enabled in zip(self.names, self.goal_position, self.torque_enabled, strict=True)
        )
        return NotFiniteError(time, self._culprit(), goals)

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


def _restore(
    kind: type[ServoActuation],
    model: mujoco.MjModel,
    data: mujoco.MjData,
    servos: dict[str, ServoModel],
    memory: NDArray[np.void],
) -> ServoActuation:
    actuation = kind(model, data, servos)
    actuation.recall(memory)
    return actuation


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
            printed="0",
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
    for flag, bit in _FRICTION_FLAGS.items():
        if option.disableflags & bit:
            raise Unsupported(
                f"model option flag {flag}", "is disabled", expected="enabled", advice='set it to "enable"'
            )
