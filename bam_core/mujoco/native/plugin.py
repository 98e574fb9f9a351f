# SPDX-License-Identifier: Apache-2.0
"""Servos of the engine plugin on the joints of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco

from bam_core.mujoco.native.library import load_plugin
from bam_core.mujoco.robot import equip
from bam_core.servo.law_values import law_values
from bam_core.servo.model import ServoLike, load_servo

PLUGIN_NAME = "bam_bench.servo"


@dataclass(frozen=True, kw_only=True)
class NativeServo:
    """A servo as the plugin drives it.

    Attributes:
        servo: its constants; a library name or the path of a servo file is loaded.
        kp: position gain, firmware units; None: that of the factory.
        supply_voltage: V; None: the servo's nominal voltage.
        case_temperature_rise: of the motor's case above `motor.REFERENCE_TEMPERATURE`, K.
        encoder_zero: what the encoder says where the joint is at zero, rad.
        has_torque_enable: with a second control, torque enable, 0 to 1; without, torque is on.
    """

    servo: ServoLike
    kp: float | None = None
    supply_voltage: float | None = None
    case_temperature_rise: float = 0.0
    encoder_zero: float = 0.0
    has_torque_enable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "servo", load_servo(self.servo))

    def config(self) -> dict[str, str]:
        """Return the plugin's configuration; numbers in full precision."""
        servo = load_servo(self.servo)
        servo.require_no_gear("MuJoCo's engine plugin")
        values = law_values(servo)
        values["kp"] = servo.firmware.factory_kp if self.kp is None else self.kp
        values["case_temperature_rise"] = self.case_temperature_rise
        values["encoder_zero"] = self.encoder_zero
        if self.supply_voltage is not None:
            values["supply_voltage"] = self.supply_voltage
        return {name: repr(float(value)) for name, value in values.items()}


def equip_native(spec: mujoco.MjSpec, servos: Mapping[str, NativeServo]) -> None:
    """Put servos on joints, in place, driven inside `mj_step`; each control is a goal position.

    Joints get armature and a friction row as from `equip`; actuators that act on them are replaced. The new
    actuators bear the joints' names, those of torque enable `<joint>_torque_enable`.

    Raises:
        BamError: the description has no such joint, or the plugin cannot be loaded.
    """
    load_plugin()
    equip(spec, {joint: each.servo for joint, each in servos.items()})
    spec.activate_plugin(PLUGIN_NAME)
    for joint, each in servos.items():
        instance = spec.add_plugin(name=f"{joint}_servo", plugin_name=PLUGIN_NAME, active=True)
        instance.config = each.config()
        names = [joint, f"{joint}_torque_enable"] if each.has_torque_enable else [joint]
        for name in names:
            actuator = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.plugin.name = f"{joint}_servo"
            actuator.plugin.plugin_name = PLUGIN_NAME
            actuator.plugin.active = True
