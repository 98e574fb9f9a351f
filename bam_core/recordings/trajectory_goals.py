# SPDX-License-Identifier: Apache-2.0
"""Goals between the points of trajectories that were sent as one message.

They are those of ROS 2's joint_trajectory_controller: from where the joint is when the trajectory begins,
along straight lines, cubic or quintic splines, as both points of a piece have velocities and accelerations.
The last point is held. A trajectory ends where the next one for the joint begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.joint_path import JointPath, PathPoint

_PERIOD = 2e-3  # s between goals that are taken from a spline: shorter than the period of any servo bus
_MOST = 200_000  # goals of one trajectory


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """One JointTrajectory.

    Attributes:
        moment: when it begins, ns.
        joints: names.
        points: of all joints.
    """

    moment: int
    joints: tuple[str, ...]
    points: tuple[PathPoint, ...]


def trajectory(moment: int, message: Any) -> Trajectory | None:
    """Return a JointTrajectory; None where its points are no positions at times that go on."""
    joints = tuple(message.joint_names)
    points: list[PathPoint] = []
    for point in message.points:
        time = float(point.time_from_start.sec) + 1e-9 * float(point.time_from_start.nanosec)
        rows = [tuple(map(float, row)) for row in (point.positions, point.velocities, point.accelerations)]
        if len(rows[0]) != len(joints) or not np.all(np.isfinite(rows[0])):
            return None
        if points and not time > points[-1].time:
            return None
        whole = [row if len(row) == len(joints) and np.all(np.isfinite(row)) else () for row in rows[1:]]
        points.append(PathPoint(time=time, position=rows[0], velocity=whole[0], acceleration=whole[1]))
    return Trajectory(moment=moment, joints=joints, points=tuple(points)) if points and joints else None


def trajectory_goals(
    trajectories: Sequence[Trajectory], measured: Mapping[str, tuple[Array, Array]], end: int
) -> Iterator[tuple[str, int, float]]:
    """Give joint, time [ns] and goal [rad], in order of time for each joint.

    Args:
        trajectories: of a bag.
        measured: joint -> times [ns] and positions [rad] of its states.
        end: of the bag, ns; nothing is given beyond.
    """
    by_joint: dict[str, list[Trajectory]] = {}
    for of_all in sorted(trajectories, key=lambda of_all: of_all.moment):
        for joint in of_all.joints:
            by_joint.setdefault(joint, []).append(of_all)
    for joint, of_joint in by_joint.items():
        ends = [*(following.moment for following in of_joint[1:]), end]
        for of_all, until in zip(of_joint, ends, strict=True):
            begins = _measured_at(measured.get(joint), of_all.moment)
            for moment, goal in _goals(_of_joint(of_all, joint), of_all.moment, min(until, end), begins):
                yield joint, moment, goal


def _measured_at(measured: tuple[Array, Array] | None, moment: int) -> float | None:
    if measured is None or not len(measured[0]):
        return None
    return float(np.interp(float(moment), *measured))


def _of_joint(of_all: Trajectory, joint: str) -> list[PathPoint]:
    column = of_all.joints.index(joint)
    return [
        PathPoint(
            time=point.time,
            position=(point.position[column],),
            velocity=point.velocity[column : column + 1],
            acceleration=point.acceleration[column : column + 1],
        )
        for point in of_all.points
    ]


def _goals(
    points: Sequence[PathPoint], begin: int, until: int, measured: float | None
) -> Iterator[tuple[int, float]]:
    path = JointPath(points)
    if points[0].time > 0.0 and measured is not None:
        path = path.starting_from(0.0, (measured,), (0.0,))
    length = min(path.end, max(until - begin, 0) * 1e-9)
    steps = min(int(length / _PERIOD) + 1, _MOST)
    times = np.unique([*np.linspace(0.0, length, steps + 1), *(point.time for point in points)])
    for time in times[(times <= length)]:
        yield begin + round(float(time) * 1e9), path.at(float(time))[0][0]
