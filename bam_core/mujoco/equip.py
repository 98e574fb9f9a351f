# SPDX-License-Identifier: Apache-2.0
"""Servos on the joints of a description, driven from Python."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from bam_core.mujoco.actuators import is_driver, remove_actuators, remove_plugins
from bam_core.mujoco.keyframes import Control
from bam_core.mujoco.robot import keyframe_controls, prepare_joints, require_spec
from bam_core.mujoco.start_contacts import exclude_start_contacts
from bam_core.servo.model import ServoLike


def equip(spec: mujoco.MjSpec, servos: Mapping[str, ServoLike], *, start_contacts: bool = False) -> None:
    """Put servos on joints, in place.

    Each joint gets its servo's armature and a friction row; damping, which the servo's law contains, is taken
    off, and so are actuators that act on the joint, with the sensors that measure these. Other actuators keep
    their order and, in keyframes, their controls. Where a servo has a gear, friction rows are left out: none
    of these joints leaves its friction to MuJoCo then. A servo that was fitted with another integrator than
    "midpoint" will move otherwise than in `bam validate`, which is logged as a warning.

    Contacts between links that touch where the robot starts are excluded and named in a warning; see
    `start_contacts.exclude_start_contacts`.

    Args:
        spec: the description.
        servos: joint -> its servo.
        start_contacts: whether contacts between links that touch where the robot starts are simulated.

    Raises:
        BamError: the description has no such joint or is no MjSpec, or MuJoCo refuses it.
    """
    require_spec(spec)
    prepare_joints(spec, servos)
    kept = [number for number, actuator in enumerate(spec.actuators) if not is_driver(actuator, servos)]
    with keyframe_controls(spec) as controls:
        remove_plugins(spec, servos)
        remove_actuators(spec, lambda number: number not in kept)
        controls += [Control(origin=number) for number in kept]
    if not start_contacts:
        exclude_start_contacts(spec)
