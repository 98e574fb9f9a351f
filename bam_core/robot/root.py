# SPDX-License-Identifier: Apache-2.0
"""What a robot's base does: it is fixed, free, or stands on the ground with the sole of a foot."""

from __future__ import annotations

import mujoco
import numpy as np

from bam_core.errors import Missing, UnknownName

FIXED, FREE = "fixed", "free"
"""Roots that are no site: the base does not move; the base is where the description puts it."""

_FLOOR = "bam_bench_floor"


def prepare_root(spec: mujoco.MjSpec, root: str) -> None:
    """Set a robot's base as in `root`, in place.

    FIXED takes free joints of the base away. A site puts a level floor under the robot, unless it has one.
    It then touches the floor alone, not itself: recorded postures are free of such contacts, and boxes that
    stand for links overlap where links meet.

    Raises:
        BamError: there is no such site, or no free base that could stand.
    """
    free = [joint for joint in spec.joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]
    if root == FIXED:
        for joint in free:
            spec.delete(joint)
        for key in list(spec.keys):  # they have coordinates of the deleted joints
            spec.delete(key)
        return
    if root == FREE:
        return
    sites = [site.name for site in spec.sites if site.name]
    if root not in sites:
        raise UnknownName("root", root, {FIXED, FREE, *sites})
    if not free:
        raise Missing(f"root '{root}'", "a free joint of the base", advice=f"give --root {FIXED}")
    floors = [plane for plane in spec.geoms if plane.type == mujoco.mjtGeom.mjGEOM_PLANE]
    for geom in spec.geoms:
        if geom not in floors and (geom.contype or geom.conaffinity):
            geom.contype, geom.conaffinity = 1, 0
    for floor in floors:
        floor.contype, floor.conaffinity = 0, 1
    if not floors:
        spec.worldbody.add_geom(
            name=_FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0, conaffinity=1
        )


def stand(model: mujoco.MjModel, data: mujoco.MjData, root: str) -> None:
    """Where `root` is a site, move the free base so that the site lies at the origin, upright."""
    if root in (FIXED, FREE):
        return
    base = int(np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)[0])
    address = model.jnt_qposadr[base]
    data.qpos[address : address + 7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    mujoco.mj_kinematics(model, data)
    site = model.site(root).id
    turn = data.site_xmat[site].reshape(3, 3).T
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, turn.ravel())
    data.qpos[address : address + 3] = -turn @ data.site_xpos[site]
    data.qpos[address + 3 : address + 7] = quaternion
