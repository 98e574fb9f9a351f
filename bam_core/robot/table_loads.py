# SPDX-License-Identifier: Apache-2.0
"""What a table does to joints that are simulated one at a time, while the others move as measured.

A tip that rests on the table is as high as the table is, and joints that could lower it stay where they were
measured. So a stiff spring holds such a joint there, for as long as the measured tip is on the table and its
goal is below it. How far a joint moves when the table is higher is shared among all joints that lift the tip:
what matters is that they press with torques that are in balance, which those of like stiffness are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.robot.joint_loads import CHANGED, JointLoads
from bam_core.simulation.rows import DAMPING, INERTIA, SLOPE, TORQUE

_TOUCHES = 4e-3  # m above the table; encoders that are 0.02 rad off raise a tip by as much
# rad per step of the simulation, by which the spring's own oscillation turns: ten servos' stiffness
_TURN = 0.3
_DAMPED = 0.5  # of critical damping
_LEAST_LEVER = 0.02  # m; joints that lift the tip by less hardly press it


@dataclass(frozen=True, kw_only=True, eq=False)
class Rest:
    """A table, and what is known of a run beside it.

    Attributes:
        point: site or body that rests on the table.
        height: m, at which it does.
        goals: (knots, moving) rad, of the joints that move.
        armature: (joints,) kg·m², of the servos whose loads are asked for.
        step: s, of the simulation.
    """

    point: str
    height: float
    goals: Array
    armature: Array
    step: float


def with_table(
    loads: JointLoads,
    model: mujoco.MjModel,
    moving: Sequence[int],
    joints: Sequence[int],
    measured: Array,
    rest: Rest,
) -> JointLoads:
    """Return loads of joints that a table holds while the tip rests on it.

    Args:
        loads: without it.
        model: the robot, as described.
        moving: numbers of the joints that move.
        joints: numbers of those whose loads are asked for, among the moving ones.
        measured: (knots, moving) rad.
        rest: the table.

    Raises:
        UnknownName: the robot has no such point.
    """
    height, levers = _heights(model, moving, measured, rest.point)
    aims, _ = _heights(model, moving, rest.goals, rest.point)
    rests = (height < rest.height + _TOUCHES) & (aims < rest.height)
    if not rests.any():
        return loads
    power = np.sum(levers**2, axis=1)
    lift = np.where((power > _LEAST_LEVER**2)[:, None], levers / np.maximum(power, 1e-12)[:, None], 0.0)
    nominal, changes = loads.nominal.copy(), loads.changes.copy()
    torque = CHANGED.index(TORQUE)
    for place, number in enumerate(joints):
        column = list(moving).index(number)
        held = rests & (np.abs(levers[:, column]) > _LEAST_LEVER)
        inertia = nominal[place, :, INERTIA] + rest.armature[place]
        stiffness = np.where(held, inertia * (_TURN / rest.step) ** 2, 0.0)
        damping = np.where(held, 2.0 * _DAMPED * inertia * _TURN / rest.step, 0.0)
        where = measured[:, column] - lift[:, column] * height  # for a table at height zero
        nominal[place, :, SLOPE] -= stiffness
        nominal[place, :, DAMPING] -= damping
        nominal[place, :, TORQUE] += stiffness * where
        per_metre = stiffness * lift[:, column]
        for index, by_joint in _lifted(loads.names, model, moving, levers, rest.point).items():
            changes[place, :, torque, index] += per_metre * by_joint
        if f"table {rest.point}" not in loads.names:
            nominal[place, :, TORQUE] += per_metre * rest.height
    return replace(loads, nominal=nominal, changes=changes)


def _lifted(
    names: Sequence[str], model: mujoco.MjModel, moving: Sequence[int], levers: Array, point: str
) -> Mapping[int, Array]:
    """Return number of a name -> (knots,) m by which its deviation, 1 m or 1 rad, raises a table."""
    result = {}
    for index, name in enumerate(names):
        if name == f"table {point}":
            result[index] = np.ones(len(levers))
        for column, number in enumerate(moving):
            if name == f"zero {model.joint(number).name}":
                result[index] = levers[:, column]  # so much lower is the tip than readings say
    return result


def _heights(
    model: mujoco.MjModel, moving: Sequence[int], postures: Array, point: str
) -> tuple[Array, NDArray[np.float64]]:
    """Return (knots,) m, the height of a point in postures (knots, moving), and its slopes, m/rad."""
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, point)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, point)
    if site < 0 and body < 0:
        names = [model.site(index).name for index in range(model.nsite)]
        raise UnknownName("point on the table", point, filter(None, names))
    data = mujoco.MjData(model)
    addresses, dofs = model.jnt_qposadr[list(moving)], model.jnt_dofadr[list(moving)]
    heights, levers = np.empty(len(postures)), np.empty((len(postures), len(moving)))
    slopes = np.empty((3, model.nv))
    for row, posture in enumerate(postures):
        data.qpos[addresses] = posture
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        if site >= 0:
            mujoco.mj_jacSite(model, data, slopes, None, site)
            heights[row] = data.site_xpos[site, 2]
        else:
            mujoco.mj_jacBody(model, data, slopes, None, body)
            heights[row] = data.xpos[body, 2]
        levers[row] = slopes[2, dofs]
    return heights, levers
