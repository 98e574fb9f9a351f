# SPDX-License-Identifier: Apache-2.0
"""A leg of a small humanoid, six hinges below a fixed trunk, and its kick."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.servo.pendulum import GRAVITY
from papers.dynaban.motions import Motion, through_keys
from papers.dynaban.stand import FOOT

LEG_JOINTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
"""From trunk to foot."""

_THIGH, _SHANK, _FOOT_HEIGHT = 0.12, 0.12, 0.035


def leg_spec(timestep: float = 1e-3) -> mujoco.MjSpec:
    """Return the leg; sizes and masses are those of a humanoid of 60 cm with two MX servos per joint pair.

    Args:
        timestep: of the simulation, s.
    """
    spec = mujoco.MjSpec()
    spec.modelname = "kicking_leg"
    spec.option.timestep = timestep
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    trunk = spec.worldbody.add_body(name="trunk", pos=[0.0, 0.0, 0.4])
    yaw = _link(trunk, "hip_yaw", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 0.06, (0.02, 0.02, 0.015))
    roll = _link(yaw, "hip_roll", (1.0, 0.0, 0.0), (0.0, 0.0, -0.03), 0.28, (0.03, 0.02, 0.03))
    thigh = _link(
        roll, "hip_pitch", (0.0, -1.0, 0.0), (0.0, 0.0, 0.0), 0.24, (0.02, 0.025, 0.06), -_THIGH / 2
    )
    shank = _link(thigh, "knee", (0.0, 1.0, 0.0), (0.0, 0.0, -_THIGH), 0.12, (0.015, 0.02, 0.06), -_SHANK / 2)
    ankle = _link(shank, "ankle_pitch", (0.0, -1.0, 0.0), (0.0, 0.0, -_SHANK), 0.28, (0.03, 0.02, 0.03))
    foot = _link(
        ankle, "ankle_roll", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.12, (0.07, 0.04, 0.006), -_FOOT_HEIGHT
    )
    foot.add_site(name=FOOT, pos=[0.07, 0.0, -_FOOT_HEIGHT])
    return spec


def _link(
    parent: mujoco.MjsBody,
    joint: str,
    axis: tuple[float, float, float],
    position: tuple[float, float, float],
    mass: float,
    half_sizes: tuple[float, float, float],
    centre: float = 0.0,
) -> mujoco.MjsBody:
    body = parent.add_body(name=joint.replace("_", " ") + " link", pos=list(position))
    body.add_joint(name=joint, type=mujoco.mjtJoint.mjJNT_HINGE, axis=list(axis))
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=list(half_sizes),
        pos=[0.02 if joint == "ankle_roll" else 0.0, 0.0, centre],
        mass=mass,
        contype=0,
        conaffinity=0,
    )
    return body


KICK_DURATION = 1.7
"""s."""

# Time s; hip yaw, roll and pitch, knee, ankle pitch and roll in degrees. Positive pitch swings forwards, a
# positive knee is bent: stand, lift, swing back, kick through, return.
_KICK = (
    (0.00, 0.0, 0.0, 15.0, 30.0, 15.0, 0.0),
    (0.40, 8.0, 6.0, 12.0, 50.0, 24.0, -6.0),
    (0.74, 12.0, 10.0, -18.0, 72.0, 18.0, -9.0),
    (1.02, 2.0, 7.0, 48.0, 14.0, 2.0, -5.0),
    (1.30, -3.0, 3.0, 32.0, 42.0, 20.0, -2.0),
    (KICK_DURATION, 0.0, 0.0, 15.0, 30.0, 15.0, 0.0),
)


def kick(size: float = 1.0) -> Motion:
    """Return the kick of `LEG_JOINTS`; its swing about where it begins is `size` times the usual one."""
    return through_keys(np.array(_KICK)[:, 0], np.radians(np.array(_KICK)[:, 1:]), size)
