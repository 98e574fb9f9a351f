# SPDX-License-Identifier: Apache-2.0
"""Put servos on a description, for simulations in MuJoCo Warp."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from bam_core.errors import Unsupported
from bam_core.mujoco.actuators import remove_plugins
from bam_core.mujoco.native.plugin import PLUGIN_NAME, NativeServo, equip_native
from bam_core.servo.model import ServoLike


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
