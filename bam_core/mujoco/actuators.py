# SPDX-License-Identifier: Apache-2.0
"""Actuators of a description: which drive a joint, how they are removed, how one becomes a servo's."""

from __future__ import annotations

from collections.abc import Callable, Container

import mujoco
import numpy as np

from bam_core.arrays import Array

JOINT_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
"""How an actuator acts on a joint itself."""

_KEPT = ("name", "classname", "group", "info", "userdata", "id", "signature", "compiler")
"""Attributes of an actuator that have no part in what it does."""


def is_driver(actuator: mujoco.MjsActuator, joints: Container[str]) -> bool:
    """Return whether an actuator acts on one of these joints."""
    return actuator.target in joints and int(actuator.trntype) in JOINT_TRANSMISSIONS


def takes_goals(actuator: mujoco.MjsActuator) -> bool:
    """Return whether an actuator's control is a position of its joint, as MuJoCo's `position` has it."""
    gain = float(actuator.gainprm[0])
    is_integrated = actuator.dyntype == mujoco.mjtDyn.mjDYN_INTEGRATOR  # then it is a speed
    is_spring = gain != 0.0 and float(actuator.biasprm[1]) == -gain
    return is_spring and not is_integrated and float(actuator.gear[0]) == 1.0


def goal_range(spec: mujoco.MjSpec, joint: str) -> tuple[float, float] | None:
    """Return the lowest and the highest goal of a joint, rad or m; None where there is no limit.

    Those of its position actuator come before the range of the joint itself.
    """
    for actuator in spec.actuators:
        if is_driver(actuator, (joint,)) and takes_goals(actuator):
            if _is_limited(actuator.ctrllimited, actuator.ctrlrange):
                return float(actuator.ctrlrange[0]), float(actuator.ctrlrange[1])
            break
    limits = spec.joint(joint)
    if not _is_limited(limits.limited, limits.range):
        return None
    in_degrees = (
        getattr(limits, "compiler", spec.compiler).degree and limits.type == mujoco.mjtJoint.mjJNT_HINGE
    )
    low, high = np.deg2rad(limits.range) if in_degrees else limits.range
    return float(low), float(high)


def _is_limited(limited: mujoco.mjtLimited, span: Array) -> bool:
    is_auto = limited == mujoco.mjtLimited.mjLIMITED_AUTO
    return bool(span[0] < span[1]) if is_auto else limited == mujoco.mjtLimited.mjLIMITED_TRUE


def remove_actuators(spec: mujoco.MjSpec, is_removed: Callable[[int], bool]) -> None:
    """Delete actuators by their numbers, with the sensors that measure them and their unnamed plugins.

    MuJoCo 3.11 keeps the unnamed plugin of a deleted actuator, and crashes where it compiles it.

    Args:
        spec: the description.
        is_removed: of an actuator's number.
    """
    removed = [actuator for number, actuator in enumerate(spec.actuators) if is_removed(number)]
    names = {actuator.name for actuator in removed}
    for sensor in list(spec.sensors):
        if sensor.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR and sensor.objname in names:
            spec.delete(sensor)
    for actuator in removed:
        if actuator.plugin.active and not actuator.plugin.name:
            spec.delete(actuator.plugin)
        spec.delete(actuator)


def remove_plugins(spec: mujoco.MjSpec, joints: Container[str]) -> None:
    """Delete the plugin instances behind the actuators of these joints."""
    names = {
        actuator.plugin.name
        for actuator in spec.actuators
        if is_driver(actuator, joints) and actuator.plugin.active
    }
    for instance in list(spec.plugins):
        if instance.name in names - {""}:
            spec.delete(instance)


def reset_actuator(spec: mujoco.MjSpec, actuator: mujoco.MjsActuator, name: str) -> None:
    """Make an actuator one as if newly added, in its place and with another name; its sensors stay."""
    for sensor in spec.sensors:
        if sensor.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR and sensor.objname == actuator.name:
            sensor.objname = name
    _clear(actuator)
    actuator.name = name


def add_plain_actuator(spec: mujoco.MjSpec, name: str) -> mujoco.MjsActuator:
    """Add an actuator without the description's defaults for actuators, such as a gear."""
    actuator = spec.add_actuator(name=name)
    _clear(actuator)
    return actuator


def _clear(actuator: mujoco.MjsActuator) -> None:
    """Give an actuator MuJoCo's own defaults. Those of its description are of what servos replace."""
    plain = mujoco.MjSpec()
    new = plain.add_actuator()
    for attribute in dir(new):
        value = getattr(new, attribute)
        if not (attribute.startswith("_") or attribute in _KEPT or attribute == "plugin" or callable(value)):
            setattr(actuator, attribute, value)
    for attribute in ("name", "plugin_name", "active"):
        setattr(actuator.plugin, attribute, getattr(new.plugin, attribute))
