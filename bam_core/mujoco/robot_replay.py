# SPDX-License-Identifier: Apache-2.0
"""A whole robot that stands on flat ground and is told what a recorded run of it was told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Missing, UnknownName
from bam_core.mujoco.actuate import actuate
from bam_core.mujoco.robot import compile_robot, equip
from bam_core.mujoco.robot_run import RobotRun
from bam_core.servo.model import ServoLike

SETTLING = 1.0
"""s; how long the robot stands with the first goals of a run before the run begins."""

_FLOOR = "floor"


def stand_on_floor(spec: mujoco.MjSpec) -> None:
    """Put a level floor at height zero under a robot with a free base, in place.

    The robot touches the floor alone, not itself: recorded postures are free of such contacts, and boxes that
    stand for links overlap where links meet.
    """
    for geom in spec.geoms:
        if geom.contype or geom.conaffinity:
            geom.contype, geom.conaffinity = 1, 0
    spec.worldbody.add_geom(
        name=_FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0, conaffinity=1
    )


def joints_by_class(spec: mujoco.MjSpec, classes: Sequence[str]) -> dict[str, str]:
    """Return joint -> class, of those joints whose default class is one of these."""
    found = {joint.name: joint.classname.name for joint in spec.joints if joint.name}
    return {name: each for name, each in found.items() if each in classes}


def replay_robot(
    spec: mujoco.MjSpec,
    servos: Mapping[str, ServoLike],
    run: RobotRun,
    *,
    kp: float,
    foot: str,
    timestep: float = 1e-3,
) -> Array:
    """Return where a robot's joints are that is told what a recorded run was told: (n, joints) rad.

    It starts in the run's first posture with the sole of one foot level on the floor, stands there for
    SETTLING with the first goals, and then follows the run. No measurement enters after the first sample.

    Args:
        spec: the robot with a free base, on a floor; see `stand_on_floor`. It is not changed.
        servos: by joint; the position gain of all is `kp`.
        run: of the same joints, or of some of them; the other servos hold zero.
        kp: firmware units.
        foot: site of the sole that stands on the floor at the start.
        timestep: s.

    Raises:
        BamError: the robot has no such joint or site, or no free base.
        SimulationError: the simulation diverges.
    """
    spec = spec.copy()
    spec.option.timestep = timestep
    equip(spec, servos)
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = actuate(model, data, servos)
    columns = [_index(actuation.names, joint) for joint in run.joints]
    addresses = [model.joint(joint).qposadr[0] for joint in run.joints]
    actuation.kp[:] = kp
    actuation.torque_enabled[:] = 1.0
    data.qpos[addresses] = run.position[0]
    _stand(model, data, foot)
    found = np.empty_like(run.position)
    time = run.time - run.time[0]
    step, settling = 0, round(SETTLING / timestep)
    actuation.goal_position[columns] = run.goal_position[0]
    for _ in range(settling):
        actuation.step()
    for sample, moment in enumerate(time):
        while step * timestep < moment - 0.5 * timestep:
            actuation.step()
            step += 1
        found[sample] = data.qpos[addresses]
        actuation.goal_position[columns] = run.goal_position[sample]
    return found


def _index(names: Sequence[str], joint: str) -> int:
    if joint not in names:
        raise UnknownName("joint with a servo", joint, names)
    return list(names).index(joint)


def _stand(model: mujoco.MjModel, data: mujoco.MjData, foot: str) -> None:
    """Move the free base so that a site lies at the origin with its axes along those of the world."""
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    if not len(free):
        raise Missing("robot", "a free joint of its base", advice="give one that can stand")
    site = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, foot)
    if site < 0:
        raise UnknownName("site", foot, [model.site(i).name for i in range(model.nsite)])
    address = model.jnt_qposadr[free[0]]
    data.qpos[address : address + 7] = [0, 0, 0, 1, 0, 0, 0]
    mujoco.mj_kinematics(model, data)
    turn = data.site_xmat[site].reshape(3, 3).T
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, turn.ravel())
    data.qpos[address : address + 3] = -turn @ data.site_xpos[site]
    data.qpos[address + 3 : address + 7] = quaternion
    mujoco.mj_forward(model, data)
