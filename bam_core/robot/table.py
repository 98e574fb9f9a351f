# SPDX-License-Identifier: Apache-2.0
"""A table under a robot on a fixed base that its description does not have: runs show it.

A tip that presses on a table stays above its goal, and joints miss theirs by a tenth of a radian. Without the
table a fit takes that for friction. Gravity pulls tips below their goals, and friction holds them only little
above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.excitation import derived_positions
from bam_core.robot.run import RobotRun

_RADIUS = 5e-3  # m, of the ball that stands for a tip
_SLIDING = (
    0.2  # friction of printed plastic on a table; compared with 0.05 and 0.5, see docs/development/so101.md
)
_REST = 0.03  # rad/s; two counts of 4096 per 0.1 s
_ABOVE = 0.01  # m above its goal, at rest
_LOWEST = 0.02  # m above the lowest place of all, up to where a table counts
_FREE = 0.03  # m, likewise, from where on none does
_USUAL = 0.95  # quantile of how far a tip rests above its goals where nothing is below it
_SURE = 2.0  # times as far as that
_LEAST_TIME = 1.0  # s at rest that show a table, and as much that shows what is usual
_MOST_SAMPLES = 2000  # of a run that are looked at


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that runs show.

    Attributes:
        point: site or body of the robot that rests on it.
        height: m, at which it does.
        above: m, by how much it then misses its goals, median.
        time: s at rest on it, in all runs.
    """

    point: str
    height: float
    above: float
    time: float


def find_table(spec: mujoco.MjSpec, runs: Sequence[RobotRun]) -> Table | None:
    """Return the table that a robot on a fixed base rests on in its runs; None where nothing shows one.

    Args:
        spec: the robot.
        runs: recorded.
    """
    if any(geom.type == mujoco.mjtGeom.mjGEOM_PLANE for geom in spec.geoms):
        return None  # the description has its own
    model = compile_robot(spec)
    points = _points(model)
    if not points:
        return None
    measured, goals, rest, spacing = (
        np.concatenate(parts)
        for parts in zip(*(_heights(model, list(points.values()), run) for run in runs), strict=True)
    )
    lowest = int(np.argmin(measured.min(axis=0)))
    height, above = measured[:, lowest], measured[:, lowest] - goals[:, lowest]
    held = rest & (height < height.min() + _LOWEST) & (above > _ABOVE)
    free = rest & (height > height.min() + _FREE)
    if min(spacing[held].sum(), spacing[free].sum()) < _LEAST_TIME:
        return None
    middle = float(np.median(above[held]))
    if middle < _SURE * float(np.quantile(above[free], _USUAL)):
        return None
    return Table(
        point=list(points)[lowest],
        height=float(np.median(height[held])),
        above=middle,
        time=float(spacing[held].sum()),
    )


def add_tables(spec: mujoco.MjSpec, tables: Mapping[str, float]) -> None:
    """Put a level table under points of a robot, in place; nothing else touches it.

    Args:
        spec: the robot.
        tables: name of a site or body -> m, height of the point when it rests on the table.

    Raises:
        UnknownName: the robot has no such point.
    """
    for point, height in tables.items():
        sites = [site for site in spec.sites if site.name == point]
        body = sites[0].parent if sites else spec.body(point)
        if body is None:
            names = [named.name for named in (*spec.sites, *spec.bodies) if named.name]
            raise UnknownName("point on the table", point, names)
        table, tip = f"bam_bench_table_{point}", f"bam_bench_tip_{point}"
        spec.worldbody.add_geom(
            name=table,
            type=mujoco.mjtGeom.mjGEOM_PLANE,
            size=[0.0, 0.0, 1.0],
            pos=[0.0, 0.0, height - _RADIUS],
            contype=0,
            conaffinity=0,
        )
        body.add_geom(
            name=tip,
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[_RADIUS, 0.0, 0.0],
            pos=sites[0].pos if sites else [0.0, 0.0, 0.0],
            mass=0.0,
            contype=0,
            conaffinity=0,
        )
        spec.add_pair(geomname1=table, geomname2=tip, condim=3, friction=[_SLIDING, _SLIDING, 0.0, 0.0, 0.0])


def _points(model: mujoco.MjModel) -> dict[str, tuple[bool, int]]:
    """Return the name of each point that moves -> whether it is a site, and its number.

    Sites, and the frames of links at the end of a chain.
    """
    points: dict[str, tuple[bool, int]] = {}
    parents = set(model.body_parentid.tolist())
    for body in range(1, model.nbody):
        if body not in parents and model.body_weldid[body] and model.body(body).name:
            points[model.body(body).name] = (False, body)
    for site in range(model.nsite):
        if model.body_weldid[model.site_bodyid[site]] and model.site(site).name:
            points[model.site(site).name] = (True, site)
    return points


def _heights(
    model: mujoco.MjModel, points: Sequence[tuple[bool, int]], run: RobotRun
) -> tuple[Array, Array, NDArray[np.bool_], Array]:
    """Return (n, points) heights of readings and goals, m; (n,) whether all rests, and s per sample."""
    rows = np.flatnonzero(run.counts)
    every = max(len(rows) // _MOST_SAMPLES, 1)
    rows = rows[::every]
    still = replace(run, position=run.goal_position)  # goals at rest
    fastest = [np.abs(derived_positions(moving, 1)).max(axis=1) for moving in (run, still)]
    rest = np.maximum(*fastest)[rows] < _REST
    spacing = np.full(len(rest), every * float(np.median(np.diff(run.time))))
    measured, goals = (
        _heights_of(model, points, run, positions[rows]) for positions in (run.position, run.goal_position)
    )
    return measured, goals, rest, spacing


def _heights_of(
    model: mujoco.MjModel, points: Sequence[tuple[bool, int]], run: RobotRun, postures: Array
) -> Array:
    """Return (n, points) m, of postures (n, joints of the run), rad."""
    data = mujoco.MjData(model)
    addresses = model.jnt_qposadr[[model.joint(joint).id for joint in run.joints]]
    heights = np.empty((len(postures), len(points)))
    for number, posture in enumerate(postures):
        data.qpos[addresses] = posture
        mujoco.mj_kinematics(model, data)
        heights[number] = [(data.site_xpos if is_site else data.xpos)[index, 2] for is_site, index in points]
    return heights
