# SPDX-License-Identifier: Apache-2.0
"""Servos of the engine plugin on the joints of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from bam_core.errors import Conflict
from bam_core.errors.checks import require_positive
from bam_core.mujoco.actuators import (
    add_plain_actuator,
    goal_range,
    is_driver,
    remove_actuators,
    remove_plugins,
    reset_actuator,
    takes_goals,
)
from bam_core.mujoco.keyframes import Control
from bam_core.mujoco.native.library import load_plugin
from bam_core.mujoco.robot import keyframe_controls, prepare_joints, require_spec
from bam_core.mujoco.start_contacts import exclude_start_contacts
from bam_core.servo.gain_registers import require_register_kp
from bam_core.servo.law_values import law_values
from bam_core.servo.model import ServoLike, load_servo

PLUGIN_NAME = "bam_bench.servo"


@dataclass(frozen=True, kw_only=True)
class NativeServo:
    """A servo as the plugin drives it.

    Attributes:
        servo: its constants; a library name or the path of a servo file is loaded.
        kp: position gain, firmware units; None: that of the factory.
        kd: derivative gain, firmware units.
        ki: integral gain, firmware units.
        supply_voltage: V; None: the servo's nominal voltage.
        case_temperature_rise: of the motor's case above `motor.REFERENCE_TEMPERATURE`, K.
        encoder_zero: reading of the encoder where the joint is at zero, rad.
        has_torque_enable: with a second control, torque enable, 0 to 1; without, torque is on.

    Raises:
        BamError: an unknown servo, or a value that is out of range.
    """

    servo: ServoLike
    kp: float | None = None
    kd: float = 0.0
    ki: float = 0.0
    supply_voltage: float | None = None
    case_temperature_rise: float = 0.0
    encoder_zero: float = 0.0
    has_torque_enable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "servo", load_servo(self.servo))
        for name in ("kp", "supply_voltage"):
            if getattr(self, name) is not None:
                require_positive("NativeServo", **{name: getattr(self, name)})
        if self.kp is not None:
            require_register_kp("NativeServo kp", load_servo(self.servo).firmware, self.kp)

    def config(self) -> dict[str, str]:
        """Return the plugin's configuration; numbers in full precision."""
        servo = load_servo(self.servo)
        servo.require_no_gear("MuJoCo's engine plugin")
        values = law_values(servo)
        values["kp"] = servo.firmware.factory_kp if self.kp is None else self.kp
        values["kd"] = self.kd
        values["ki"] = self.ki
        servo.firmware.rate_time(values["kp"], self.kd)
        servo.firmware.integral_rate(values["kp"], self.ki)
        values["case_temperature_rise"] = self.case_temperature_rise
        values["encoder_zero"] = self.encoder_zero
        if self.supply_voltage is not None:
            values["supply_voltage"] = self.supply_voltage
        return {name: repr(float(value)) for name, value in values.items()}


def equip_native(
    spec: mujoco.MjSpec, servos: Mapping[str, NativeServo | ServoLike], *, start_contacts: bool = False
) -> None:
    """Put servos on joints, in place, driven inside `mj_step`; each control is a goal position.

    Joints get armature and a friction row as from `equip`. A servo takes the place of the first actuator that
    acts on its joint, so that `ctrl[i]` and sensors remain those of the same joint; further actuators of the
    joint are removed. Servos of joints without an actuator come last, and so do all of torque enable. The
    servos' actuators bear the joints' names, those of torque enable `<joint>_torque_enable`. Goals have the
    range of the position actuator that a servo replaces, else that of its joint.

    Keyframes with controls keep them; a servo that replaces no position actuator gets the joint's position
    there as its goal, and torque is on.

    Contacts between links that touch where the robot starts are excluded and named in a warning; see
    `start_contacts.exclude_start_contacts`.

    Args:
        spec: the description.
        servos: joint -> its servo; the name or file of one has the gain of its factory.
        start_contacts: whether contacts between links that touch where the robot starts are simulated.

    Raises:
        BamError: the description has no such joint or is no MjSpec, the plugin cannot be loaded, or MuJoCo
            refuses the description.
    """
    load_plugin()
    require_spec(spec)
    _require_actuation(spec)
    driven = {
        joint: servo if isinstance(servo, NativeServo) else NativeServo(servo=servo)
        for joint, servo in servos.items()
    }
    prepare_joints(spec, {joint: servo.servo for joint, servo in driven.items()})
    spec.activate_plugin(PLUGIN_NAME)
    ranges = {joint: goal_range(spec, joint) for joint in servos}
    with keyframe_controls(spec) as controls:
        taken: dict[str, int] = {}  # joint -> number of the actuator that becomes its servo's
        for number, actuator in enumerate(spec.actuators):
            if is_driver(actuator, servos):
                taken.setdefault(actuator.target, number)
        for number, actuator in enumerate(spec.actuators):
            if not is_driver(actuator, servos):
                controls.append(Control(origin=number))
            elif taken[actuator.target] == number:
                controls.append(_goal(actuator, number))
        remove_plugins(spec, servos)
        remove_actuators(spec, lambda number: _is_second(spec.actuators[number], number, taken))
        places = {actuator.target: actuator for actuator in spec.actuators if is_driver(actuator, servos)}
        for joint, servo in driven.items():
            instance = spec.add_plugin(name=f"{joint}_servo", plugin_name=PLUGIN_NAME, active=True)
            instance.config = servo.config()
            if joint in places:
                reset_actuator(spec, places[joint], joint)
            else:
                places[joint] = add_plain_actuator(spec, joint)
                controls.append(Control(joint=joint))
            _drive(places[joint], joint)
            if (limits := ranges[joint]) is not None:
                places[joint].ctrllimited, places[joint].ctrlrange = mujoco.mjtLimited.mjLIMITED_TRUE, limits
            if servo.has_torque_enable:
                _drive(add_plain_actuator(spec, f"{joint}_torque_enable"), joint)
                controls.append(Control(value=1.0))
    if not start_contacts:
        exclude_start_contacts(spec)


def _require_actuation(spec: mujoco.MjSpec) -> None:
    """Refuse a description whose options switch actuators or friction off; raises Conflict."""
    flags, bits = spec.option.disableflags, mujoco.mjtDisableBit
    problems = {
        "flag actuation is disabled: servos would have no torque": flags & bits.mjDSBL_ACTUATION,
        "flag constraint is disabled: servos would have no friction": flags & bits.mjDSBL_CONSTRAINT,
        "actuatorgroupdisable is set: servos would have no torque": spec.option.disableactuator,
    }
    for problem, is_so in problems.items():
        if is_so:
            raise Conflict(
                f"model '{spec.modelname}', option",
                problem,
                expected="actuators and friction that act",
                advice="remove it from the description",
            )


def _goal(actuator: mujoco.MjsActuator, number: int) -> Control:
    """Return where the goal in keyframes comes from where a servo takes the place of an actuator."""
    is_servo = actuator.plugin.active and actuator.plugin.plugin_name == PLUGIN_NAME
    if is_servo or takes_goals(actuator):
        return Control(origin=number, keeps_state=False)
    return Control(joint=str(actuator.target))


def _is_second(actuator: mujoco.MjsActuator, number: int, taken: Mapping[str, int]) -> bool:
    return is_driver(actuator, taken) and taken[actuator.target] != number


def _drive(actuator: mujoco.MjsActuator, joint: str) -> None:
    """Let an actuator be one of a joint's servo."""
    actuator.target, actuator.trntype = joint, mujoco.mjtTrn.mjTRN_JOINT
    actuator.plugin.name = f"{joint}_servo"
    actuator.plugin.plugin_name = PLUGIN_NAME
    actuator.plugin.active = True
