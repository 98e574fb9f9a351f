# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: prepare joints for servos, keep controls of keyframes, compile."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager

import mujoco
import numpy as np

from bam_core.errors import Conflict, Missing, UnknownName, WrongType
from bam_core.mujoco.actuators import is_driver
from bam_core.mujoco.description_checks import foreign_actuators
from bam_core.mujoco.keyframes import Control, KeyframeControls
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.text.description_findings import SeveralActuators

log = logging.getLogger(__name__)

_LEAST_FRICTIONLOSS = 1e-6  # N·m; MuJoCo makes a friction row only where frictionloss is above zero
_ONE_DOF = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
REFUSALS = (ValueError, RuntimeError, MemoryError, mujoco.FatalError)
"""What MuJoCo raises for a description: RuntimeError where something failed that it did not expect, such as
memory that it did not get while it read a file."""


_AFTERWORD = re.compile(r" ?The static bodies of the spec were fused.*$")
_IN_URDF = "in a URDF inside <mujoco>"
_CURES = (
    (
        "must be larger than mjMINVAL",
        "give this link mass and inertia, or add <compiler boundmass='1e-4' boundinertia='1e-7'/>"
        f" ({_IN_URDF})",
    ),
    (
        "A + B >= C",
        f"correct the inertia of this link, or add <compiler balanceinertia='true'/> ({_IN_URDF})",
    ),
    ("positive eigenvalues", "correct the inertia of this link: no body has such moments and products"),
    ("Lengthrange computation", "give this actuator a lengthrange, or remove it where servos replace it"),
    ("perhaps this is an ASCII file", "convert this mesh to binary STL with fewer faces"),
    ("mesh volume is too small", "leave this mesh out of collisions: it is flat, or it is inside out"),
    ("no decoder found for mesh file", "convert this mesh to binary STL or OBJ"),
    ("Error opening file", "put this file there, or correct its name in the description"),
)
"""Words of MuJoCo about a description, and what to do."""


def compile_robot(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """Return the compiled model.

    Raises:
        BamError: MuJoCo refuses the description.
    """
    try:
        return spec.compile()
    except REFUSALS as error:
        line = _AFTERWORD.sub("", one_line(error))
        cure = next((cure for words, cure in _CURES if words in line), "correct the description")
        raise Conflict(f"model '{spec.modelname}'", line, advice=cure) from None


def require_spec(spec: object) -> None:
    """Raise WrongType for what is no description that can be changed, such as a path or a compiled model."""
    if not isinstance(spec, mujoco.MjSpec):
        raise WrongType(
            "spec",
            type(spec).__name__,
            "a mujoco.MjSpec",
            advice="read a file with bam_core.load_robot, or mujoco.MjSpec.from_file",
        )


def prepare_joints(spec: mujoco.MjSpec, servos: Mapping[str, ServoLike]) -> None:
    """Give joints what MuJoCo needs of their servos: armature and friction rows; see `equip.equip`.

    Raises:
        BamError: the description has no such joint.
    """
    models = {name: load_servo(servo) for name, servo in servos.items()}
    _warn_of_several(spec, models)
    for finding in foreign_actuators(spec, models):
        for sentence in finding.sentences:
            _warn_once(sentence)
    has_gears = any(servo.gear is not None for servo in models.values())
    for servo in models.values():
        if servo.integrator != "midpoint":
            _warn_once(_other_integrator(servo))
    for name, servo in models.items():
        joint = spec.joint(name)
        if joint is None:
            names = [
                candidate.name for candidate in spec.joints if candidate.name and candidate.type in _ONE_DOF
            ]
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
        # Of actuators that the servo replaces: the servo's law limits its torque itself.
        joint.actfrclimited, joint.actfrcrange = mujoco.mjtLimited.mjLIMITED_FALSE, np.zeros(2)
        joint.actgravcomp = False


def _warn_of_several(spec: mujoco.MjSpec, joints: Container[str]) -> None:
    """Log a warning about joints that several motors drive; other actuators may be views of one motor."""
    motors = [actuator.target for actuator in spec.actuators if is_driver(actuator, joints)]
    kinds = {
        target: [_kind(actuator) for actuator in spec.actuators if is_driver(actuator, (target,))]
        for target in dict.fromkeys(motors)
    }
    doubled = tuple(target for target, drives in kinds.items() if len(drives) > len(set(drives)))
    for sentence in SeveralActuators(joints=doubled).sentences if doubled else ():
        _warn_once(sentence)


def _kind(actuator: mujoco.MjsActuator) -> tuple[float, ...]:
    """Return what an actuator does, whichever way round it is mounted."""
    return (
        *np.abs(actuator.gear),
        float(actuator.gainprm[0]),
        *(float(bias) for bias in actuator.biasprm[:3]),
    )


@contextmanager
def keyframe_controls(spec: mujoco.MjSpec) -> Iterator[list[Control]]:
    """Let actuators be changed, and write what keyframes hold for them anew afterwards.

    Give the list an entry for every actuator that there is then.
    """
    before = KeyframeControls(spec, compile_robot(spec.copy())) if KeyframeControls.are_in(spec) else None
    controls: list[Control] = []
    yield controls
    if before is not None:
        before.write(controls)


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


def one_line(error: Exception) -> str:
    """Return the message of an error on one line."""
    return " ".join(str(error).split()) or type(error).__name__
