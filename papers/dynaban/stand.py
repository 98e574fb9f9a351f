# SPDX-License-Identifier: Apache-2.0
"""A small humanoid that stands on its left foot and kicks with its right leg; its trunk moves."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.servo.pendulum import GRAVITY
from papers.dynaban.motions import Motion, through_keys

FOOT = "foot"
"""Site at the tip of the kicking foot."""

TRUNK = "trunk"
"""Site whose orientation is recorded."""

_LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")

JOINTS = (*(f"left_{name}" for name in _LEG), *(f"right_{name}" for name in _LEG))
"""Supporting leg, then kicking leg, each from trunk to foot."""

SUPPORTING, KICKING = slice(0, 6), slice(6, 12)
"""Legs among the joints."""

RIGHT_KNEE = JOINTS.index("right_knee")
"""The joint of fig. 2, which moves fastest."""

FLAT = (JOINTS.index("left_knee"), JOINTS.index("left_ankle_roll"))
"""Joints that hardly move during the kick; the paper ignores them."""

DURATION = 1.7
"""Of the kick, s."""

_AXES = {
    "hip_yaw": (0.0, 0.0, 1.0),
    "hip_roll": (1.0, 0.0, 0.0),
    "hip_pitch": (0.0, -1.0, 0.0),
    "knee": (0.0, 1.0, 0.0),
    "ankle_pitch": (0.0, -1.0, 0.0),
    "ankle_roll": (1.0, 0.0, 0.0),
}
_THIGH, _SHANK, _FOOT_HEIGHT, _HIP_DROP, _HIP = 0.12, 0.12, 0.035, 0.03, 0.045  # m
_MASSES = {"yaw": 0.06, "roll": 0.28, "thigh": 0.24, "shank": 0.12, "ankle": 0.28, "foot": 0.12, "trunk": 2.2}
"""kg; a humanoid of 60 cm and 4.3 kg."""

_LINKS = {"yaw": "hip_yaw", "roll": "hip_roll", "thigh": "hip_pitch", "shank": "knee", "ankle": "ankle_pitch"}
_HALF_SIZES = {
    "yaw": (0.02, 0.02, 0.015),
    "roll": (0.03, 0.02, 0.03),
    "thigh": (0.02, 0.025, 0.06),
    "shank": (0.015, 0.02, 0.06),
    "ankle": (0.03, 0.02, 0.03),
    "foot": (0.07, 0.04, 0.006),
    "trunk": (0.04, 0.07, 0.09),
}
BODIES = (
    *(f"left {link}" for link in ("ankle", "shank", "thigh", "roll", "yaw")),
    "trunk",
    *(f"right {link}" for link in ("yaw", "roll", "thigh", "shank", "ankle", "foot")),
)
"""What moves, from the supporting foot on."""

# The stop of a gear's play gives way by about a milliradian under 1 N·m: twice the time step is the stiffest
# that MuJoCo takes.
_STOP, _STOP_IMPEDANCE = (0.002, 1.0), (0.98, 0.98, 0.001, 0.5, 2.0)


def stand_spec(
    mass_scales: Array | float = 1.0,
    play: float = 0.0,
    *,
    gravity_sign: float = 1.0,
    timestep: float = 1e-3,
) -> mujoco.MjSpec:
    """Return the robot; its left foot is fixed to the ground.

    Args:
        mass_scales: of each of BODIES, or of all.
        play: of every gear from end to end, rad; 0: none. Encoders see it, see `performance.Stage`.
        gravity_sign: -1 turns gravity over, as a deliberate error.
        timestep: of the simulation, s.
    """
    masses = dict(zip(BODIES, np.broadcast_to(mass_scales, len(BODIES)).tolist(), strict=True))
    spec = mujoco.MjSpec()
    spec.modelname = "kicking_humanoid"
    spec.option.timestep = timestep
    spec.option.gravity = [0.0, 0.0, -gravity_sign * GRAVITY]

    def link(
        parent: mujoco.MjsBody,
        side: str,
        name: str,
        joint: str,
        at: tuple[float, float, float],
        centre: float,
    ) -> mujoco.MjsBody:
        full = name if name == "trunk" else f"{side} {name}"
        body = parent.add_body(name=full, pos=list(at))
        # From the left foot up, each joint turns the upper link against the lower one.
        axis = (-1.0 if side == "left" else 1.0) * np.array(_AXES[joint])
        body.add_joint(name=f"{side}_{joint}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
        if play > 0.0:
            body.add_joint(
                name=f"{side}_{joint} play",
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=axis,
                limited=True,
                range=np.degrees([-0.5 * play, 0.5 * play])
                if spec.compiler.degree
                else [-0.5 * play, 0.5 * play],
                solref_limit=_STOP,
                solimp_limit=_STOP_IMPEDANCE,
            )
        middle = {"foot": (0.02, 0.0, centre), "trunk": (0.0, -_HIP, centre)}.get(name, (0.0, 0.0, centre))
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=list(_HALF_SIZES[name]),
            pos=list(middle),
            mass=masses[full] * _MASSES[name],
            contype=0,
            conaffinity=0,
        )
        return body

    here = (0.0, 0.0, 0.0)
    ankle = link(spec.worldbody, "left", "ankle", "ankle_roll", (0.0, 0.0, _FOOT_HEIGHT), 0.0)
    shank = link(ankle, "left", "shank", "ankle_pitch", here, 0.5 * _SHANK)
    thigh = link(shank, "left", "thigh", "knee", (0.0, 0.0, _SHANK), 0.5 * _THIGH)
    roll = link(thigh, "left", "roll", "hip_pitch", (0.0, 0.0, _THIGH), 0.0)
    yaw = link(roll, "left", "yaw", "hip_roll", here, 0.5 * _HIP_DROP)
    trunk = link(yaw, "left", "trunk", "hip_yaw", (0.0, 0.0, _HIP_DROP), 0.10)
    trunk.add_site(name=TRUNK, pos=[0.0, -_HIP, 0.0])
    yaw = link(trunk, "right", "yaw", "hip_yaw", (0.0, -2.0 * _HIP, 0.0), 0.0)
    roll = link(yaw, "right", "roll", "hip_roll", (0.0, 0.0, -_HIP_DROP), 0.0)
    thigh = link(roll, "right", "thigh", "hip_pitch", here, -0.5 * _THIGH)
    shank = link(thigh, "right", "shank", "knee", (0.0, 0.0, -_THIGH), -0.5 * _SHANK)
    ankle = link(shank, "right", "ankle", "ankle_pitch", (0.0, 0.0, -_SHANK), 0.0)
    foot = link(ankle, "right", "foot", "ankle_roll", here, -_FOOT_HEIGHT)
    foot.add_site(name=FOOT, pos=[0.07, 0.0, -_FOOT_HEIGHT])
    return spec


# Time s; then the joints in degrees. Left: the centre of mass stays above the left sole while the trunk
# turns, leans aside and against the kick. Knee and ankle roll hardly move; the others move by 10° and more,
# several times what loads deflect a position loop by, since the paper finds delays of those two alone to be
# noise. Right: lift, swing back, kick, return.
_KEYS = (
    (0.00, 0.0, -11.0, 15.0, 30.0, 15.0, 11.0, 0.0, 0.0, 32.0, 64.0, 32.0, 0.0),
    (0.40, 6.0, -14.0, 20.0, 30.2, 12.0, 11.1, 8.0, 6.0, 25.0, 78.0, 38.0, -6.0),
    (0.74, 12.0, -17.0, 8.0, 29.8, 19.0, 10.9, 12.0, 10.0, -8.0, 100.0, 30.0, -9.0),
    (1.02, -8.0, -8.0, 28.0, 30.3, 9.0, 11.2, 2.0, 7.0, 60.0, 40.0, 10.0, -5.0),
    (1.30, -4.0, -12.0, 19.0, 30.1, 14.0, 11.0, -3.0, 3.0, 46.0, 72.0, 30.0, -2.0),
    (DURATION, 0.0, -11.0, 15.0, 30.0, 15.0, 11.0, 0.0, 0.0, 32.0, 64.0, 32.0, 0.0),
)


def stand_kick() -> Motion:
    """Return the kick of JOINTS, which begins and ends at rest in single support."""
    keys = np.array(_KEYS)
    return through_keys(keys[:, 0], np.radians(keys[:, 1:]))
