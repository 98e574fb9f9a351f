# SPDX-License-Identifier: Apache-2.0
"""`trajectory_msgs/JointTrajectory`: checked, in the order of the bus, on the clock of the bus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory

from bam_core.errors import Missing, OutOfRange, UnknownName, WrongShape
from bam_core.feedforward import Points
from bam_ros.driver.trajectory_row import check_row

_STEADY = 2e-3  # s; two clocks that drift apart by less are read too coarsely to tell

# Field of a point, and what it is called in `Points`.
_OPTIONAL = (("velocities", "velocity"), ("accelerations", "acceleration"), ("effort", "torque"))


def points_of(message: JointTrajectory, names: Sequence[str]) -> Points:
    """Return the points of a message, joints in the order of `names`.

    Raises:
        UnknownName: it has other joints.
        Missing: it has no points.
        WrongShape: not every joint is named once, or rows have another length.
        OutOfRange: a number is not finite, or times do not grow from 0 on.
    """
    joints = list(message.joint_names)
    for joint in joints:
        if joint not in names:
            raise UnknownName("trajectory joint", joint, names)
    if len(set(joints)) != len(names) or len(joints) != len(names):
        raise WrongShape(
            "trajectory joint_names",
            joints,
            f"{', '.join(names)}, each once",
            printed=", ".join(joints) or "none",
            advice="name them all",
        )
    if not message.points:
        raise Missing("trajectory points", "one or more", advice="send some")
    order = [joints.index(name) for name in names]
    values: dict[str, NDArray[np.float64]] = {"position": _rows(message, "positions", joints)[:, order]}
    for field, name in _OPTIONAL:
        if any(len(getattr(point, field)) for point in message.points):
            values[name] = _rows(message, field, joints)[:, order]
    when = np.array(
        [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in message.points]
    )
    if when[0] < 0.0 or when[-1] <= 0.0:
        raise OutOfRange(
            "trajectory time_from_start",
            (float(when[0]), float(when[-1])),
            "times from 0 on, the last one later",
            printed=f"{when[0]:g} s to {when[-1]:g} s",
        )
    return Points(time=when, **values)


def _rows(message: JointTrajectory, field: str, joints: Sequence[str]) -> NDArray[np.float64]:
    rows = []
    for number, point in enumerate(message.points):
        row = [float(value) for value in getattr(point, field)]
        check_row(f"trajectory {field} of point {number}", row, joints, "as in every point")
        rows.append(row)
    return np.array(rows)


def is_at_once(stamp: Time) -> bool:
    """Return whether a stamp means "at once"."""
    return bool(stamp.sec == 0 and stamp.nanosec == 0)


class StampClock:
    """From the stamps of messages to the clock that servos live on.

    The difference of the clocks is read once, and again where a clock was set: else it would shift
    trajectories that continue each other by the time that reading takes.
    """

    def __init__(self) -> None:
        self._ahead: float | None = None

    def start(self, stamp: Time, now: float, servos: float) -> float:
        """Return when a message starts, s of the servos' clock.

        Args:
            stamp: of its header; zero means at once.
            now: s of the clock that stamps are made with.
            servos: s of the servos' clock, at the same moment.
        """
        if is_at_once(stamp):
            return servos
        ahead = now - servos
        if self._ahead is None or abs(ahead - self._ahead) > _STEADY:
            self._ahead = ahead
        return stamp.sec + 1e-9 * stamp.nanosec - self._ahead
