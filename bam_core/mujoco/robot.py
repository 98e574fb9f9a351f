# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: read MJCF or URDF, and put servos on their joints."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from bam_core.errors import BamError, unknown_name
from bam_core.pendulum import GRAVITY
from bam_core.servo_model import ServoModel

_LEAST_FRICTIONLOSS = 1e-6  # N·m; MuJoCo makes a friction row only where frictionloss is above zero
JOINT_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
"""How an actuator acts on a joint itself."""


def load_robot(path: str | os.PathLike[str]) -> mujoco.MjSpec:
    """Read an MJCF or URDF file.

    Raises:
        BamError: it cannot be read, or MuJoCo does not understand it.
    """
    path = Path(path)
    if not path.is_file():
        raise BamError(f"{path}: no such file (expected MJCF .xml or URDF .urdf); correct the path")
    try:
        spec = mujoco.MjSpec.from_file(str(path))
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
    off, and so are actuators that act on the joint. Keyframes keep the state, but no controls. Where a servo
    has a gear, friction rows are left out: none of these joints leaves its friction to MuJoCo then.

    Raises:
        BamError: the description has no such joint.
    """
    has_gears = any(servo.gear is not None for servo in servos.values())
    for name, servo in servos.items():
        joint = spec.joint(name)
        if joint is None:
            raise unknown_name("joint", name, [each.name for each in spec.joints])
        joint.armature = servo.motor.armature
        frictionloss = max(float(servo.friction.budget(0.0, 0.0, 0.0)), _LEAST_FRICTIONLOSS)
        joint.frictionloss = 0.0 if has_gears else frictionloss
        joint.damping = np.zeros_like(joint.damping)
    for actuator in list(spec.actuators):
        if actuator.target in servos and int(actuator.trntype) in JOINT_TRANSMISSIONS:
            spec.delete(actuator)
    for key in spec.keys:  # those of the actuators that are gone would not fit any more
        key.ctrl, key.act = [], []


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
