# SPDX-License-Identifier: Apache-2.0
"""Points of trajectories as clients send them: whether they are a path within limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_core.errors import Missing, OutOfRange
from bam_core.recordings.joint_path import PathPoint
from bam_ros.driver.joint_limits import Range
from bam_ros.driver.trajectory_row import check_row

_REST = 1e-6
"""Velocity up to which it is rounding, rad/s; joint_trajectory_controller allows 1.2e-7."""


def check_points(points: Sequence[PathPoint], joints: Sequence[str], limits: Sequence[Range]) -> None:
    """Refuse points that are no path of these joints.

    Args:
        points: as they arrived.
        joints: names.
        limits: lowest and highest goal of each, rad.

    Raises:
        Missing: there are none.
        WrongShape: a point has another number of positions, or velocities or accelerations of some joints.
        OutOfRange: a number is not finite, a position is beyond its limits, or times do not increase from 0.
    """
    if not points:
        raise Missing("trajectory points", "one or more", advice="send some")
    before = -math.inf
    for number, point in enumerate(points):
        where = f"point {number}"
        _check_rows(where, point, joints)
        if not (math.isfinite(point.time) and point.time >= 0.0 and point.time > before):
            later = "0 s or later" if number == 0 else f"more than {before:g} s, the time of the point before"
            raise OutOfRange(
                f"trajectory time_from_start of {where}", point.time, later, printed=f"{point.time:g} s"
            )
        before = point.time
        for name, position, (low, high) in zip(joints, point.position, limits, strict=True):
            if not low <= position <= high:
                raise OutOfRange(
                    f"trajectory positions of {where}, joint {name!r}",
                    position,
                    f"{low:.5g} to {high:.5g} rad, its limits",
                    printed=f"{position:.5g} rad",
                    advice="plan within these",
                )


def check_end(point: PathPoint, joints: Sequence[str]) -> None:
    """Refuse a last point in motion: joints are held there, and none stops at once.

    Args:
        point: the last one; without velocities it is at rest.
        joints: names.

    Raises:
        OutOfRange: a joint moves.
    """
    for name, velocity in zip(joints, point.velocity, strict=False):
        if abs(velocity) > _REST:
            raise OutOfRange(
                f"trajectory velocities of the last point, joint {name!r}",
                velocity,
                "0 rad/s, for the joint is held there",
                printed=f"{velocity:.5g} rad/s",
                advice="end at rest, or leave velocities out",
            )


def _check_rows(where: str, point: PathPoint, joints: Sequence[str]) -> None:
    rows = (
        ("positions", point.position, True),
        ("velocities", point.velocity, False),
        ("accelerations", point.acceleration, False),
    )
    for name, row, required in rows:
        if row or required:
            check_row(f"trajectory {name} of {where}", row, joints, "one per joint")
