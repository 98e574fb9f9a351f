# SPDX-License-Identifier: Apache-2.0
"""Steps of the humanoid, straight ahead and sideways, as joint positions over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import solve_banded

from bam_core.arrays import Array
from bam_core.errors import Missing, Unsupported
from bam_core.servo.pendulum import GRAVITY
from bam_core.whole_body.robot import WholeBody
from papers.egle.humanoid import LEGS, SOLES

SINGLE_SUPPORT = 0.8
"""s, as in Egle's section 7.2."""
DOUBLE_SUPPORT = 0.25
"""s; the paper gives none."""
STEP = 0.3
"""m, by which feet pass each other straight ahead (Egle, 6.2.2)."""
PELVIS_YAW = 0.13
"""rad, with steps of that length."""
_PELVIS_HEIGHT = 0.845  # m: knees stay bent
_ZMP_FORWARD = 0.03  # m, from the ankle: the middle of the sole
_CENTRE = (0.011, 0.0)  # m, of mass, from the pelvis
_STEP_HEIGHT = 0.05  # m
_FOOT_PITCH = 0.25  # rad, heel up when it leaves, toe up before it lands
_FOOT_OFFSET = 0.09  # m, of either sole from the middle
_KNOT = 0.004  # s between the postures that are solved for
_STANCE = {"shoulder_2": 0.15, "elbow": 0.6}
_PRECISION = 1e-12


@dataclass(frozen=True, kw_only=True)
class Step:
    """One foot goes elsewhere.

    Attributes:
        foot: one of SOLES, which swings.
        forward, left: by how much, m.
    """

    foot: str
    forward: float = 0.0
    left: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Support:
    """What stands from when to when: both feet, or one while the other swings; times in s."""

    feet: tuple[str, ...]
    start: float
    end: float


@dataclass(frozen=True, kw_only=True)
class Gait:
    """A walk.

    Attributes:
        joints: names, columns of the spline.
        posture: joint positions over time, rad; degree 5.
        supports: one after the other, from 0 s on.
    """

    joints: tuple[str, ...]
    posture: BSpline
    supports: tuple[Support, ...]

    @property
    def duration(self) -> float:
        """Of the whole walk, s."""
        return self.supports[-1].end


def straight(steps: int, length: float = STEP) -> tuple[Step, ...]:
    """Return steps straight ahead, right foot first; feet pass each other by `length` m, the last "
    "one stops."""
    feet = [SOLES[index % 2] for index in range(steps)]
    lengths = [length] + [2.0 * length] * (steps - 2) + [length] if steps > 1 else [length]
    return tuple(Step(foot=foot, forward=by) for foot, by in zip(feet, lengths, strict=True))


def sideways(steps: int, length: float = 0.25) -> tuple[Step, ...]:
    """Return steps to the right, `length` m apart: the right foot goes, the left one follows."""
    return tuple(Step(foot=SOLES[index % 2], left=-length) for index in range(steps))


def plan_gait(robot: WholeBody, steps: Sequence[Step], *, pelvis_yaw: float = PELVIS_YAW) -> Gait:
    """Return the walk: feet land softly where they are told, the pelvis sways so that the body does not fall.

    Args:
        robot: walks.
        steps: one after the other.
        pelvis_yaw: rad, to either side in steps ahead; the hip of the swinging leg goes ahead.

    Raises:
        BamError: a step is out of reach, or there is none.
    """
    if not steps:
        raise Missing("gait step", "one at least", advice="give some")
    supports = _supports(steps)
    time = np.arange(0.0, supports[-1].end + _KNOT / 2, _KNOT)
    feet = {foot: _foot(foot, steps, supports, time) for foot in SOLES}
    pelvis = _pelvis(steps, supports, time, feet, pelvis_yaw)
    postures = _postures(robot, pelvis, feet)
    return Gait(joints=robot.names, posture=make_interp_spline(time, postures, k=5), supports=supports)


def _supports(steps: Sequence[Step]) -> tuple[Support, ...]:
    supports = [Support(feet=SOLES, start=0.0, end=2.0 * DOUBLE_SUPPORT)]
    for step in steps:
        start = supports[-1].end
        stance = tuple(foot for foot in SOLES if foot != step.foot)
        supports.append(Support(feet=stance, start=start, end=start + SINGLE_SUPPORT))
        supports.append(
            Support(feet=SOLES, start=start + SINGLE_SUPPORT, end=start + SINGLE_SUPPORT + DOUBLE_SUPPORT)
        )
    last = supports[-1]
    supports[-1] = Support(feet=SOLES, start=last.start, end=last.end + DOUBLE_SUPPORT)
    return tuple(supports)


def _foot(foot: str, steps: Sequence[Step], supports: Sequence[Support], time: Array) -> Array:
    """Return forward, left, up (m) and pitch (rad) of a foot, shape (n, 4)."""
    path = np.zeros((len(time), 4))
    path[:, 1] = _side(foot) * _FOOT_OFFSET
    for step, swing in zip(steps, supports[1::2], strict=True):
        if step.foot != foot:
            continue
        share = np.clip((time - swing.start) / (swing.end - swing.start), 0.0, 1.0)
        blend, bump = _blend(share), 64.0 * (share * (1.0 - share)) ** 3
        path[:, 0] += step.forward * blend
        path[:, 1] += step.left * blend
        path[:, 2] += _STEP_HEIGHT * bump
        path[:, 3] += 2.0 * _FOOT_PITCH * bump * (1.0 - 2.0 * share)
    return path


def _pelvis(
    steps: Sequence[Step],
    supports: Sequence[Support],
    time: Array,
    feet: dict[str, Array],
    pelvis_yaw: float,
) -> Array:
    """Return forward, left, up (m) and yaw (rad) of the pelvis, shape (n, 4).

    Its path is that of a linear inverted pendulum above a zero moment point that moves from foot to foot.
    """
    middle = 0.5 * (feet[SOLES[0]][0, :2] + feet[SOLES[1]][0, :2])
    ahead = np.array([_ZMP_FORWARD, 0.0])
    marks = [middle + ahead]
    for support in supports[1::2]:
        index = round(support.start / _KNOT)
        marks.append(feet[support.feet[0]][index, :2] + ahead)
    marks.append(0.5 * (feet[SOLES[0]][-1, :2] + feet[SOLES[1]][-1, :2]) + ahead)
    yaws = [0.0] + [-pelvis_yaw * _side(step.foot) * (step.forward != 0.0) for step in steps]
    zmp = np.tile(marks[0], (len(time), 1))
    yaw = np.zeros_like(time)
    for index, support in enumerate(supports[::2]):
        share = np.clip((time - support.start) / (support.end - support.start), 0.0, 1.0)
        zmp += _blend(share)[:, None] * (marks[index + 1] - marks[index])
    for index, support in enumerate(supports[1::2]):
        share = np.clip((time - support.start) / (support.end - support.start), 0.0, 1.0)
        yaw += _blend(share) * (yaws[index + 1] - yaws[index])
    path = np.zeros((len(time), 4))
    path[:, :2] = _pendulum(zmp) - _CENTRE
    path[:, 2] = _PELVIS_HEIGHT
    path[:, 3] = yaw
    return path


def _pendulum(zmp: Array) -> Array:
    """Solve ẍ = (g/z)·(x - p) from rest to rest."""
    stiffness = GRAVITY / _PELVIS_HEIGHT * _KNOT**2
    bands = np.zeros((3, len(zmp)))
    bands[0, 2:] = bands[2, :-2] = 1.0
    bands[1, 1:-1] = -2.0 - stiffness
    bands[1, [0, -1]] = 1.0
    right = -stiffness * zmp
    right[[0, -1]] = zmp[[0, -1]]
    return np.asarray(solve_banded((1, 1), bands, right))


def _postures(robot: WholeBody, pelvis: Array, feet: dict[str, Array]) -> Array:
    model, data = robot.model, mujoco.MjData(robot.model)
    start = np.zeros(len(robot.names))
    for column, name in enumerate(robot.names):
        kind = name.removeprefix("right_").removeprefix("left_")
        if kind in _STANCE:
            start[column] = _STANCE[kind] * (-1 if kind == "shoulder_2" and name.startswith("right_") else 1)
        start[column] += {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}.get(kind, 0.0)
    data.qpos[robot.positions] = start
    legs = {
        foot: np.array([robot.names.index(name) for name in LEGS if name.startswith(foot.split("_")[0])])
        for foot in SOLES
    }
    postures = np.empty((len(pelvis), len(robot.names)))
    for index, (forward, left, up, yaw) in enumerate(pelvis):
        data.qpos[:7] = (forward, left, up, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        for foot, columns in legs.items():
            _reach(robot, model, data, foot, columns, feet[foot][index])
        postures[index] = data.qpos[robot.positions]
    return postures


def _reach(
    robot: WholeBody,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    foot: str,
    columns: NDArray[np.int_],
    goal: Array,
) -> None:
    """Newton's method for the six joints of a leg; the postures before are close."""
    site = robot.site(foot)
    cosine, sine = math.cos(goal[3]), math.sin(goal[3])
    turned = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    jacobian = np.zeros((6, model.nv))
    for _ in range(20):
        mujoco.mj_kinematics(model, data)
        away = rotation_vector(turned @ data.site_xmat[site].reshape(3, 3).T)
        error = np.concatenate((goal[:3] - data.site_xpos[site], away))
        if np.abs(error).max() < _PRECISION:
            return
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], site)
        step = np.linalg.solve(jacobian[:, robot.dofs[columns]], error)
        data.qpos[robot.positions[columns]] += np.clip(step, -0.3, 0.3)
    if np.abs(error).max() > 1e-9:
        raise Unsupported(
            f"gait, {foot}",
            f"cannot be reached (out by {np.abs(error).max():.2g})",
            advice="take shorter steps",
        )


def rotation_vector(matrix: Array) -> Array:
    """Return axis times angle of a rotation by less than π/2, (3, 3) -> (3,) rad."""
    skew = 0.5 * np.array(
        [matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]]
    )
    sine = float(np.linalg.norm(skew))
    return np.asarray(skew * (math.asin(min(sine, 1.0)) / sine if sine > 1e-12 else 1.0))


def _side(foot: str) -> int:
    return -1 if foot == SOLES[0] else 1


def _blend(share: Array) -> Array:
    """From 0 to 1, at rest and without acceleration at either end."""
    return np.asarray(share**3 * (10.0 - 15.0 * share + 6.0 * share**2))
