# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: read MJCF or URDF, and put servos on their joints."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from pathlib import Path

import mujoco
import numpy as np

from bam_core.errors import BamError, unknown_name
from bam_core.pendulum import GRAVITY
from bam_core.servo_model import ServoModel

_LEAST_FRICTIONLOSS = 1e-6  # N·m; MuJoCo makes a friction row only where frictionloss is above zero
_ONE_DOF = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
JOINT_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
"""How an actuator acts on a joint itself."""


def load_robot(path: str | os.PathLike[str]) -> mujoco.MjSpec:
    """Read an MJCF or URDF file; MJCF may have servos of this package's engine plugin.

    Raises:
        BamError: it cannot be read, MuJoCo does not understand it, or the plugin it needs is not built.
    """
    path = Path(path)
    if not path.is_file():
        raise BamError(f"{path}: no such file (expected MJCF .xml or URDF .urdf); correct the path")
    try:
        spec = _parse(path)
    except (ValueError, OSError) as error:
        raise BamError(f"{path}: {_one_line(error)} (expected MJCF or URDF); correct the file") from None
    if path.suffix == ".urdf":  # which does not say what gravity is
        spec.option.gravity = [0.0, 0.0, -GRAVITY]
    return spec


def compile_robot(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Return the compiled model.

    Raises:
        BamError: MuJoCo refuses the description.
    """
    try:
        return spec.compile()
    except ValueError as error:
        raise BamError(f"model '{spec.modelname}': {_one_line(error)}; correct the description") from None


def equip(spec: mujoco.MjSpec, servos: Mapping[str, ServoModel]) -> None:
    """Put servos on joints, in place.

    Each joint gets its servo's armature and a friction row; damping, which the servo's law contains, is taken
    off, and so are actuators that act on the joint, with the sensors that measure these. Keyframes keep the
    state, but no controls. Where a servo has a gear, friction rows are left out: none of these joints leaves
    its friction to MuJoCo then.

    Raises:
        BamError: the description has no such joint.
    """
    has_gears = any(servo.gear is not None for servo in servos.values())
    for name, servo in servos.items():
        joint = spec.joint(name)
        if joint is None:
            names = [each.name for each in spec.joints if each.name and each.type in _ONE_DOF]
            if not names:
                raise BamError(
                    f"joint '{name}': the model has no hinge or slide with a name; name its joints"
                )
            raise unknown_name("joint", name, names)
        joint.armature = servo.motor.armature
        frictionloss = max(float(servo.friction.budget(0.0, 0.0, 0.0)), _LEAST_FRICTIONLOSS)
        joint.frictionloss = 0.0 if has_gears else frictionloss
        joint.damping = np.zeros_like(joint.damping)
    _clear(spec, servos)
    for key in spec.keys:  # those of the actuators that are gone would not fit any more
        key.ctrl, key.act = [], []


def _clear(spec: mujoco.MjSpec, joints: Container[str]) -> None:
    """Delete what drives these joints, and what would be left without it."""
    dropped = [
        actuator
        for actuator in spec.actuators
        if actuator.target in joints and int(actuator.trntype) in JOINT_TRANSMISSIONS
    ]
    names = {actuator.name for actuator in dropped}
    instances = {actuator.plugin.name for actuator in dropped if actuator.plugin.active} - {""}
    for sensor in list(spec.sensors):
        if sensor.objtype == mujoco.mjtObj.mjOBJ_ACTUATOR and sensor.objname in names:
            spec.delete(sensor)
    for actuator in dropped:
        spec.delete(actuator)
    for instance in list(spec.plugins):
        if instance.name in instances:
            spec.delete(instance)


def _parse(path: Path) -> mujoco.MjSpec:
    from bam_core.mujoco.native import PLUGIN_NAME, load_plugin  # which is made of this module

    try:
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        if PLUGIN_NAME not in str(error):
            raise
    load_plugin()
    return mujoco.MjSpec.from_file(str(path))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
