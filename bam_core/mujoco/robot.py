# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: put servos on their joints, and compile them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Container, Mapping

import mujoco
import numpy as np

from bam_core.errors import Conflict, Missing, UnknownName
from bam_core.servo.model import ServoLike, ServoModel, load_servo

log = logging.getLogger(__name__)

_LEAST_FRICTIONLOSS = 1e-6  # N·m; MuJoCo makes a friction row only where frictionloss is above zero
_ONE_DOF = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
JOINT_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
"""How an actuator acts on a joint itself."""
REFUSALS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError)
"""What MuJoCo raises for a description: RuntimeError where something failed that it did not expect, such as
memory that it did not get while it read a file."""


def compile_robot(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Return the compiled model.

    Raises:
        BamError: MuJoCo refuses the description.
    """
    try:
        return spec.compile()
    except REFUSALS as error:
        raise Conflict(
            f"model '{spec.modelname}'", one_line(error), advice="correct the description"
        ) from None


def equip(spec: mujoco.MjSpec, servos: Mapping[str, ServoLike]) -> None:
    """Put servos on joints, in place.

    Each joint gets its servo's armature and a friction row; damping, which the servo's law contains, is taken
    off, and so are actuators that act on the joint, with the sensors that measure these. Keyframes keep the
    state, but no controls. Where a servo has a gear, friction rows are left out: none of these joints leaves
    its friction to MuJoCo then. A servo that was fitted with another integrator than "midpoint" will move
    otherwise than `bam validate` says, which is logged as a warning.

    Raises:
        BamError: the description has no such joint.
    """
    models = {name: load_servo(servo) for name, servo in servos.items()}
    has_gears = any(servo.gear is not None for servo in models.values())
    for servo in models.values():
        if servo.integrator != "midpoint":
            _warn_once(_other_integrator(servo))
    for name, servo in models.items():
        joint = spec.joint(name)
        if joint is None:
            names = [each.name for each in spec.joints if each.name and each.type in _ONE_DOF]
            if not names:
                raise Missing(
                    f"joint '{name}'",
                    "a hinge or slide with a name, of which the model has none",
                    advice="name its joints",
                )
            raise UnknownName("joint", name, names)
        joint.armature = servo.motor.armature
        frictionloss = max(float(servo.friction.budget(0.0, 0.0, 0.0)), _LEAST_FRICTIONLOSS)
        joint.frictionloss = 0.0 if has_gears else frictionloss
        joint.damping = np.zeros_like(joint.damping)
    _clear(spec, servos)
    for key in spec.keys:  # those of the actuators that are gone would not fit any more
        key.ctrl, key.act = [], []


def _other_integrator(servo: ServoModel) -> str:
    return (
        f"servo '{servo.name}', integrator: the parameters carry the errors of {servo.integrator}, with "
        f"which they were fitted (expected midpoint); in MuJoCo the servo moves otherwise than in "
        f"'bam validate', by 10 mrad and more: identify it with midpoint, or take a servo of the library"
    )


@functools.cache
def _warn_once(line: str) -> None:
    """Log a warning that one command would repeat for each of its recordings."""
    log.warning(line)


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


def one_line(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__
