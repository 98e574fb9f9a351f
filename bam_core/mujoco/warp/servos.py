# SPDX-License-Identifier: Apache-2.0
"""Servos on the joints of a model in MuJoCo Warp: motor torque and friction row per world, in each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import warp as wp

from bam_core.arrays import Array
from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName, Unsupported
from bam_core.mujoco.actuators import remove_plugins
from bam_core.mujoco.native.plugin import PLUGIN_NAME, NativeServo, equip_native
from bam_core.mujoco.step_law import Drive, Memory, Number
from bam_core.mujoco.warp.functions import step_law
from bam_core.servo.model import ServoLike

COMPLIANCE = 3e-5
"""Of a friction row, relative to the joint's inverse inertia.

A joint that friction stops gets its torque from the difference of two accelerations, which float32 knows to
6e-8. So the torque is known to 6e-8/COMPLIANCE, 0.2 %. At rest the row gives way by COMPLIANCE of what the
load would accelerate the joint by; `_begin` adds as much to the row's reference, so that the joint stays.
The plugin, in float64, has 1e-7.
"""

_INTEGRATORS = (
    mujoco.mjtIntegrator.mjINT_EULER,
    mujoco.mjtIntegrator.mjINT_IMPLICIT,
    mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
)
_COMPLIANCE = wp.constant(COMPLIANCE)
_FRICTION_ROW = wp.constant(int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF))
_NEVER = wp.constant(-1.0)  # s; the time of a step that has not begun


def equip_warp(
    spec: mujoco.MjSpec, servos: Mapping[str, NativeServo | ServoLike], *, start_contacts: bool = False
) -> None:
    """Put servos on joints, in place, for `WarpServos`; each control is a goal position.

    Actuators, joints and keyframes become those of `equip_native`, with actuators of gain type "user".

    Args:
        spec: the description.
        servos: joint -> its servo; the name or file of one has the gain of its factory.
        start_contacts: whether contacts between links that touch where the robot starts are simulated.

    Raises:
        BamError: as of `equip_native`, or a servo has a second control for torque enable.
    """
    for joint, servo in servos.items():
        if isinstance(servo, NativeServo) and servo.has_torque_enable:
            raise Unsupported(
                f"joint '{joint}', has_torque_enable",
                "is for the plugin",
                expected="False",
                advice="write WarpServos.enabled",
            )
    equip_native(spec, servos, start_contacts=start_contacts)
    remove_plugins(spec, servos)
    for actuator in spec.actuators:
        if actuator.plugin.active and actuator.plugin.plugin_name == PLUGIN_NAME:
            actuator.plugin.active = False
            actuator.plugin.name = actuator.plugin.plugin_name = ""
            actuator.gaintype = mujoco.mjtGain.mjGAIN_USER
            actuator.biastype = mujoco.mjtBias.mjBIAS_USER


class WarpServos:
    """Servos of all worlds; they act in every `mujoco_warp.step` of the model, captured in a graph or not.

    A world whose time goes back has been reset, by `mujoco_warp.reset_data` or by hand: its servos begin
    anew. What is changed at any time counts from the next step on.

    Attributes:
        joints: names, in the order of columns.
        enabled: (worlds, servos), 1 with torque on, 0 without.
        numbers: (numbers, worlds·servos), see `set`.
        drive: (quantities, worlds·servos), see `read`.

    Args:
        spec_model: compiled, of a description behind `equip_warp`.
        model: MuJoCo Warp's, of that model; its callback `act_bias` then calls these servos, too.
        data: MuJoCo Warp's.
        servos: joint -> its servo, as given to `equip_warp`, or its numbers by name.
        max_delay: largest `delay` that `set` will get, s.

    Raises:
        BamError: a joint has no such actuator, or the model's options are none that friction holds still in.
    """

    def __init__(
        self,
        spec_model: mujoco.MjModel,
        model: Any,
        data: Any,
        servos: Mapping[str, NativeServo | ServoLike | Mapping[str, float]],
        *,
        max_delay: float = 0.0,
    ) -> None:
        _require_options(spec_model)
        given = {joint: servo_numbers(servo) for joint, servo in servos.items()}
        self.joints = tuple(given)
        self._worlds, count = data.nworld, len(given)
        actuators = [_actuator_of(spec_model, joint) for joint in given]
        joints = [spec_model.joint(joint).id for joint in given]
        for joint, number in zip(given, joints, strict=True):
            _require_stable(spec_model, joint, number, given[joint])
        columns = self._worlds * count
        values = np.array(
            [[numbers[name] for name in Number.__members__] for numbers in given.values()], dtype=np.float32
        )
        self.numbers = wp.array(np.tile(values, (self._worlds, 1)).T, dtype=wp.float32)
        self._memory = wp.zeros((len(Memory), columns), dtype=wp.float32)
        self._next = wp.zeros((len(Memory), columns), dtype=wp.float32)
        self.drive = wp.zeros((len(Drive), columns), dtype=wp.float32)
        self.enabled = wp.full((self._worlds, count), 1.0, dtype=wp.float32)
        self._begun = wp.full((self._worlds, count), -1.0, dtype=wp.float32)
        self._row = wp.full((self._worlds, count), -1, dtype=wp.int32)
        step = float(spec_model.opt.timestep)
        if not max_delay >= 0.0:
            raise OutOfRange("max_delay", max_delay, "zero or more, s")
        self._max_delay = max_delay
        self._delay = wp.zeros((self._worlds, count), dtype=wp.float32)
        self._goals = wp.zeros((int(np.ceil(max_delay / step)) + 2, columns), dtype=wp.float32)
        self._newest = wp.zeros((self._worlds, count), dtype=wp.int32)
        self._dofs = wp.array(spec_model.jnt_dofadr[joints], dtype=wp.int32)
        self._positions = wp.array(spec_model.jnt_qposadr[joints], dtype=wp.int32)
        self._controls = wp.array(_controls_of(spec_model, actuators), dtype=wp.int32)
        self._forces = wp.array(actuators, dtype=wp.int32)
        self._ranges = wp.array(
            [
                spec_model.actuator_ctrlrange[actuator]
                if spec_model.actuator_ctrllimited[actuator]
                else (-np.inf, np.inf)
                for actuator in actuators
            ],
            dtype=wp.vec2,
        )
        self.reset(None)
        before = model.callback.act_bias

        def act(model: Any, data: Any) -> None:
            if before is not None:
                before(model, data)
            self._act(model, data)

        model.callback.act_bias = act

    def reset(self, worlds: Any) -> None:
        """Begin an episode: nothing of the steps before counts.

        Args:
            worlds: Warp array (worlds,) of bool, which of them; None: all.
        """
        chosen = wp.full(self._worlds, True, dtype=wp.bool) if worlds is None else worlds
        wp.launch(
            _reset, dim=self._begun.shape, inputs=[self.numbers, chosen], outputs=[self._memory, self._begun]
        )

    def set(self, **values: Any) -> None:
        """Set numbers of servos by name: those of servo files, `kp`, `kd`, `ki`, `supply_voltage`, `delay`.

        Args:
            values: each a number, or an array that broadcasts to (worlds, servos); SI. `delay` is by how
                much goals act late, s.

        Raises:
            BamError: no such number, or a value is not finite or a delay out of range.
        """
        for name, value in values.items():
            if name not in (*Number.__members__, "delay"):
                raise UnknownName("number of a servo", name, [*Number.__members__, "delay"])
            whole = np.broadcast_to(np.asarray(value, dtype=np.float32), self.enabled.shape)
            if not np.isfinite(whole).all():
                raise OutOfRange(name, "NaN or infinite", "finite numbers")
            if name == "delay":
                if whole.min() < 0.0 or whole.max() > np.float32(self._max_delay):
                    raise OutOfRange("delay", float(whole.max()), f"0 to max_delay, {self._max_delay:g} s")
                self._delay.assign(whole)
            else:
                self.numbers[Number[name]].assign(np.ascontiguousarray(whole.reshape(-1)))

    def get(self, name: str) -> Array:
        """Return a number of all servos, (worlds, servos); names as of `set`, but for `delay`."""
        if name not in Number.__members__:
            raise UnknownName("number of a servo", name, list(Number.__members__))
        return np.asarray(self.numbers.numpy()[Number[name]].reshape(self.enabled.shape))

    def read(self, name: str) -> Array:
        """Return a quantity of the last step, (worlds, servos): `motor_torque` (N·m), `current` (A)…"""
        if name in Drive.__members__:
            return np.asarray(self.drive.numpy()[Drive[name]].reshape(self.enabled.shape))
        if name in Memory.__members__:
            return np.asarray(self._next.numpy()[Memory[name]].reshape(self.enabled.shape))
        raise UnknownName("quantity of a servo", name, [*Drive.__members__, *Memory.__members__])

    def _act(self, model: Any, data: Any) -> None:
        """Act in a step: between the construction of the constraints and the solver."""
        wp.launch(
            _begin,
            dim=self._begun.shape,
            inputs=[
                self.numbers,
                self.enabled,
                self._delay,
                self._dofs,
                self._positions,
                self._controls,
                self._forces,
                self._ranges,
                model.opt.timestep,
                model.dof_invweight0,
                data.time,
                data.ctrl,
                data.qpos,
                data.qvel,
                data.qacc,
                data.qfrc_passive,
                data.qfrc_bias,
                data.qfrc_applied,
                data.qfrc_smooth,
                data.qfrc_constraint,
                data.ne,
                data.nf,
                data.efc.type,
                data.efc.id,
                data.efc.force,
            ],
            outputs=[
                self._memory,
                self._next,
                self.drive,
                self._begun,
                self._row,
                self._goals,
                self._newest,
                data.actuator_force,
                data.efc.frictionloss,
                data.efc.D,
                data.efc.aref,
            ],
        )


@wp.func
def _row_of(
    efc_type: wp.array2d(dtype=wp.int32),
    efc_id: wp.array2d(dtype=wp.int32),
    world: int,
    dof: int,
    ne: int,
    nf: int,
    guess: int,
) -> int:
    """The friction row of a degree of freedom, or -1; it is most often where it was."""
    for index in range(nf):
        row = ne + (wp.max(guess - ne, 0) + index) % nf
        if row < efc_type.shape[1]:  # noqa: SIM102 (Warp evaluates both sides of `and`)
            if efc_type[world, row] == _FRICTION_ROW and efc_id[world, row] == dof:
                return row
    return -1


@wp.func
def _delayed(
    goals: wp.array2d(dtype=wp.float32),
    k: int,
    newest: int,
    lag: float,
) -> float:
    """The goal `lag` steps before the newest; between two steps the share of each."""
    size = goals.shape[0]
    late = int(wp.floor(lag))
    share = lag - float(late)
    here = goals[(newest - late + 2 * size) % size, k]
    before = goals[(newest - late - 1 + 2 * size) % size, k]
    return here + share * (before - here)


@wp.kernel(enable_backward=False)
def _begin(  # type: ignore[no-untyped-def]
    numbers: wp.array2d(dtype=wp.float32),
    enabled: wp.array2d(dtype=wp.float32),
    delay: wp.array2d(dtype=wp.float32),
    dofs: wp.array(dtype=wp.int32),
    positions: wp.array(dtype=wp.int32),
    controls: wp.array(dtype=wp.int32),
    forces: wp.array(dtype=wp.int32),
    ranges: wp.array(dtype=wp.vec2),
    timestep: wp.array(dtype=wp.float32),
    invweight: wp.array2d(dtype=wp.float32),
    time: wp.array(dtype=wp.float32),
    ctrl: wp.array2d(dtype=wp.float32),
    qpos: wp.array2d(dtype=wp.float32),
    qvel: wp.array2d(dtype=wp.float32),
    qacc: wp.array2d(dtype=wp.float32),
    qfrc_passive: wp.array2d(dtype=wp.float32),
    qfrc_bias: wp.array2d(dtype=wp.float32),
    qfrc_applied: wp.array2d(dtype=wp.float32),
    qfrc_smooth: wp.array2d(dtype=wp.float32),
    qfrc_constraint: wp.array2d(dtype=wp.float32),
    ne: wp.array(dtype=wp.int32),
    nf: wp.array(dtype=wp.int32),
    efc_type: wp.array2d(dtype=wp.int32),
    efc_id: wp.array2d(dtype=wp.int32),
    efc_force: wp.array2d(dtype=wp.float32),
    memory: wp.array2d(dtype=wp.float32),
    following: wp.array2d(dtype=wp.float32),
    drive: wp.array2d(dtype=wp.float32),
    begun: wp.array2d(dtype=wp.float32),
    past_row: wp.array2d(dtype=wp.int32),
    goals: wp.array2d(dtype=wp.float32),
    newest: wp.array2d(dtype=wp.int32),
    actuator_force: wp.array2d(dtype=wp.float32),
    efc_frictionloss: wp.array2d(dtype=wp.float32),
    efc_D: wp.array2d(dtype=wp.float32),
    efc_aref: wp.array2d(dtype=wp.float32),
):
    """End the step before, of which engine arrays still hold the results; then begin this one."""
    world, servo = wp.tid()
    k = world * enabled.shape[1] + servo
    dof = dofs[servo]
    dt = timestep[world % timestep.shape[0]]
    now, then = time[world], begun[world, servo]
    velocity = qvel[world, dof]
    low_high = ranges[servo]
    asked = ctrl[world, controls[servo]]
    goal = 0.0  # torque is off where a control is no number, as in the plugin
    is_on = 0.0
    if wp.isfinite(asked):
        goal = wp.clamp(asked, low_high[0], low_high[1])
        is_on = enabled[world, servo]
    if now < then:
        step_law.start(numbers, memory, k)
    elif now > then and then != _NEVER:
        row = past_row[world, servo]
        friction = 0.0
        if row >= 0:
            friction = efc_force[world, row]
        push = drive[Drive.push, k]
        motor = drive[Drive.motor_torque, k]
        residual = qfrc_smooth[world, dof] - push - motor + qfrc_constraint[world, dof] - friction
        step_law.end_step(
            numbers, memory, following, drive, k, velocity, qacc[world, dof], friction, residual, dt
        )
        newest[world, servo] = (newest[world, servo] + 1) % goals.shape[0]
    if now < then or then == _NEVER:
        for index in range(goals.shape[0]):
            goals[index, k] = goal
    begun[world, servo] = now
    goals[newest[world, servo], k] = goal
    late_goal = _delayed(goals, k, newest[world, servo], delay[world, servo] / dt)
    external = qfrc_passive[world, dof] - qfrc_bias[world, dof] + qfrc_applied[world, dof]
    step_law.begin_step(
        numbers,
        memory,
        following,
        drive,
        k,
        late_goal,
        is_on,
        qpos[world, positions[servo]],
        velocity,
        external,
        dt,
    )
    actuator_force[world, forces[servo]] = drive[Drive.motor_torque, k]
    row = _row_of(efc_type, efc_id, world, dof, ne[world], nf[world], past_row[world, servo])
    past_row[world, servo] = row
    if row >= 0:
        inverse_inertia = invweight[world % invweight.shape[0], dof]
        following[Memory.inverse_inertia, k] = inverse_inertia
        compliance = _COMPLIANCE * inverse_inertia
        efc_frictionloss[world, row] = drive[Drive.friction_limit, k]
        efc_D[world, row] = 1.0 / compliance
        # To rest within this step (BAM eq. 4); the second term is how far the row gives way at rest.
        efc_aref[world, row] = -velocity / dt + compliance * memory[Memory.friction_torque, k]


@wp.kernel(enable_backward=False)
def _reset(  # type: ignore[no-untyped-def]
    numbers: wp.array2d(dtype=wp.float32),
    worlds: wp.array(dtype=wp.bool),
    memory: wp.array2d(dtype=wp.float32),
    begun: wp.array2d(dtype=wp.float32),
):
    world, servo = wp.tid()
    if worlds[world]:
        step_law.start(numbers, memory, world * begun.shape[1] + servo)
        begun[world, servo] = _NEVER


def servo_numbers(servo: NativeServo | ServoLike | Mapping[str, float]) -> dict[str, float]:
    """Return a servo's numbers by name, SI."""
    if isinstance(servo, Mapping):
        if missing := sorted(set(Number.__members__) - set(servo)):
            raise Missing("numbers of a servo", ", ".join(missing), advice="write them with bam export")
        return {name: float(servo[name]) for name in Number.__members__}
    native = servo if isinstance(servo, NativeServo) else NativeServo(servo=servo)
    return {name: float(text) for name, text in native.config().items()}


def _actuator_of(model: mujoco.MjModel, joint: str) -> int:
    """Return the number of the actuator by which a servo acts on a joint."""
    names = [model.joint(number).name for number in range(model.njnt)]
    if joint not in names:
        raise UnknownName("joint", joint, [name for name in names if name])
    for actuator in range(getattr(model, "nactuator", model.nu)):  # MuJoCo 3 has one control for each
        acts = model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_JOINT
        is_user = model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_USER
        if acts and is_user and model.actuator_trnid[actuator, 0] == model.joint(joint).id:
            return actuator
    raise Missing(f"joint '{joint}'", "an actuator of equip_warp", advice="call it before compiling")


def _controls_of(model: mujoco.MjModel, actuators: list[int]) -> list[int]:
    """Return the first control of each actuator; in MuJoCo 3 it bears the actuator's number."""
    addresses = getattr(model, "actuator_ctrladr", None)
    return actuators if addresses is None else [int(addresses[actuator]) for actuator in actuators]


def _require_options(model: mujoco.MjModel) -> None:
    """Refuse options of a model in which friction would not hold, or a step would not be one."""
    if model.opt.solver != mujoco.mjtSolver.mjSOL_NEWTON:
        raise Unsupported(
            "option solver", "is not Newton", expected="friction that holds still", advice='set "Newton"'
        )
    if model.opt.integrator not in _INTEGRATORS:
        raise Unsupported(
            "option integrator",
            "evaluates a step more than once, or changes friction rows",
            expected="Euler, implicit or implicitfast",
            advice='set "Euler"',
        )
    flags = mujoco.mjtDisableBit
    for flag, name in ((flags.mjDSBL_FRICTIONLOSS, "frictionloss"), (flags.mjDSBL_ACTUATION, "actuation")):
        if model.opt.disableflags & flag:
            raise Conflict(f"option flag {name}", "is disabled", advice='set it to "enable"')
    if model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP:
        raise Unsupported("option flag sleep", "puts servos to sleep", expected='"disable"', advice="set it")


def _require_stable(model: mujoco.MjModel, name: str, joint: int, values: Mapping[str, float]) -> None:
    """Refuse a time step that is unstable with back-EMF and inertia, as the plugin does."""
    constant, resistance = values["torque_constant"], values["resistance"]
    dof = model.jnt_dofadr[joint]
    if not model.dof_frictionloss[dof] > 0.0:
        raise Missing(f"joint '{name}'", "frictionloss above 0", advice="call equip_warp before compiling")
    longest = resistance / (constant**2 * model.dof_invweight0[dof])
    if model.opt.timestep >= longest:
        raise OutOfRange(
            f"joint '{name}', timestep",
            float(model.opt.timestep),
            f"below {longest:.2g} s, for its back-EMF and inertia",
        )
