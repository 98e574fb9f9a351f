# SPDX-License-Identifier: Apache-2.0
"""What a description has that a robot on the ground has not, and that no error shows the cause of."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import mujoco
import numpy as np

from bam_core.mujoco.actuators import is_driver
from bam_core.servo.pendulum import GRAVITY
from bam_core.text.description_findings import ForeignActuators, OtherGravity

_USUAL = 0.05  # m/s²; g differs by as much over the Earth, and between the digits of descriptions
_UPRIGHT = 1e-3  # of it, sideways


def gravity_findings(spec: mujoco.MjSpec) -> Iterator[OtherGravity]:
    """Return a finding about gravity that is off, weaker, sideways, or that does not act on some bodies."""
    gravity = np.asarray(spec.option.gravity, dtype=np.float64)
    if spec.option.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        gravity = np.zeros(3)
    is_usual = abs(np.linalg.norm(gravity) - GRAVITY) < _USUAL
    is_upright = np.linalg.norm(gravity[:2]) < _UPRIGHT * GRAVITY and gravity[2] < 0.0
    if not (is_usual and is_upright):
        yield OtherGravity(robot=spec.modelname, gravity=tuple(map(float, gravity)))
    if floating := tuple(body.name for body in spec.bodies if body.gravcomp):
        yield OtherGravity(kind="compensated", robot=spec.modelname, bodies=floating)


def foreign_actuators(spec: mujoco.MjSpec, joints: Collection[str]) -> Iterator[ForeignActuators]:
    """Return a finding about actuators that move joints with servos by a tendon."""
    tendons = {
        tendon.name: {wrap.target.name for wrap in tendon.path if wrap.type == mujoco.mjtWrap.mjWRAP_JOINT}
        for tendon in spec.tendons
    }
    moved_by = {
        actuator.name or actuator.target: tuple(sorted(tendons[actuator.target] & set(joints)))
        for actuator in spec.actuators
        if actuator.trntype == mujoco.mjtTrn.mjTRN_TENDON
        and not is_driver(actuator, joints)
        and tendons.get(actuator.target, set()) & set(joints)
    }
    if moved_by:
        moved = tuple(dict.fromkeys(joint for joints_of_one in moved_by.values() for joint in joints_of_one))
        yield ForeignActuators(robot=spec.modelname, actuators=tuple(moved_by), joints=moved)
