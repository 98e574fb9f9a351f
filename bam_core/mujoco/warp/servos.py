# SPDX-License-Identifier: Apache-2.0
"""Servos on the joints of a model in MuJoCo Warp: motor torque and friction row per world, in each step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import warp as wp

from bam_core.arrays import Array
from bam_core.errors import Missing, OutOfRange, UnknownName
from bam_core.mujoco.native.plugin import NativeServo
from bam_core.mujoco.step_law import Drive, Memory, Number
from bam_core.mujoco.warp.kernels import begin_steps, reset_worlds
from bam_core.mujoco.warp.model_checks import actuator_of, controls_of, require_options, require_stable
from bam_core.servo.model import ServoLike


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
        require_options(spec_model)
        given = {joint: servo_numbers(servo) for joint, servo in servos.items()}
        self.joints = tuple(given)
        self._worlds, count = data.nworld, len(given)
        actuators = [actuator_of(spec_model, joint) for joint in given]
        joints = [spec_model.joint(joint).id for joint in given]
        for joint, number in zip(given, joints, strict=True):
            require_stable(spec_model, joint, number, given[joint])
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
        self._controls = wp.array(controls_of(spec_model, actuators), dtype=wp.int32)
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
            reset_worlds,
            dim=self._begun.shape,
            inputs=[self.numbers, chosen],
            outputs=[self._memory, self._begun],
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
            begin_steps,
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


def servo_numbers(servo: NativeServo | ServoLike | Mapping[str, float]) -> dict[str, float]:
    """Return a servo's numbers by name, SI."""
    if isinstance(servo, Mapping):
        if missing := sorted(set(Number.__members__) - set(servo)):
            raise Missing("numbers of a servo", ", ".join(missing), advice="write them with bam export")
        return {name: float(servo[name]) for name in Number.__members__}
    native = servo if isinstance(servo, NativeServo) else NativeServo(servo=servo)
    return {name: float(text) for name, text in native.config().items()}
