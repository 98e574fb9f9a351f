# SPDX-License-Identifier: Apache-2.0
"""Desired positions of joints between the points of a trajectory, as in `trajectory_msgs/JointTrajectory`."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

_SHORTEST = 1e-6  # s; a point that follows sooner is passed over: no digits are left of what leads to it
_Polynomial = tuple[float, float, float, float, float, float]  # of the time since its point, rising powers


@dataclass(frozen=True, kw_only=True)
class PathPoint:
    """Where joints shall be at one time; tuples are parallel to the joints of the trajectory.

    Attributes:
        time: since the start of the trajectory, s.
        position: rad.
        velocity: rad/s; empty: not given.
        acceleration: rad/s²; empty: not given.
    """

    time: float
    position: tuple[float, ...]
    velocity: tuple[float, ...] = ()
    acceleration: tuple[float, ...] = ()


class JointPath:
    """A trajectory at every time.

    Between two points that both have velocities it is cubic, quintic where both have accelerations as well,
    else straight. Before the first point and after the last one joints stand at that point.

    Args:
        points: one or more, at times that increase.
    """

    def __init__(self, points: Sequence[PathPoint]) -> None:
        self._points = tuple(points)
        self._times = [point.time for point in points]
        self._pieces = [_pieces(first, second) for first, second in itertools.pairwise(self._points)]

    @property
    def end(self) -> float:
        """Time of the last point, s."""
        return self._times[-1]

    @property
    def last(self) -> tuple[float, ...]:
        """Positions of the last point, rad."""
        return self._points[-1].position

    def at(self, time: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return positions in rad and velocities in rad/s.

        Args:
            time: since the start of the trajectory, s.
        """
        if time < self._times[0] or time >= self.end:
            point = self._points[0 if time < self._times[0] else -1]
            return point.position, (0.0,) * len(point.position)
        index = bisect_right(self._times, time) - 1
        since = time - self._times[index]
        values = [_value(piece, since) for piece in self._pieces[index]]
        return tuple(position for position, _ in values), tuple(velocity for _, velocity in values)

    def starting_from(self, time: float, position: Sequence[float], velocity: Sequence[float]) -> JointPath:
        """Return the path from where joints are: points up to `time` are passed over.

        Args:
            time: since the start of the trajectory, s.
            position: of the joints then, rad.
            velocity: likewise, rad/s.
        """
        left = [point for point in self._points if point.time > time + _SHORTEST]
        if not left:
            return JointPath([replace(self._points[-1], time=time)])
        rest = (0.0,) * len(position) if left[0].acceleration else ()
        start = PathPoint(
            time=time, position=tuple(position), velocity=tuple(velocity), acceleration=tuple(rest)
        )
        return JointPath([start, *left])


def _pieces(first: PathPoint, second: PathPoint) -> list[_Polynomial]:
    return [
        _polynomial(second.time - first.time, first.position[joint], second.position[joint], *slopes, *bends)
        for joint, slopes, bends in _derivatives(first, second)
    ]


def _derivatives(
    first: PathPoint, second: PathPoint
) -> Iterator[tuple[int, tuple[float, float] | tuple[()], tuple[float, float] | tuple[()]]]:
    """Yield each joint with its velocities and accelerations at both ends, where both ends have them."""
    has_slopes = bool(first.velocity and second.velocity)
    has_bends = bool(has_slopes and first.acceleration and second.acceleration)
    for joint in range(len(first.position)):
        yield (
            joint,
            (first.velocity[joint], second.velocity[joint]) if has_slopes else (),
            (first.acceleration[joint], second.acceleration[joint]) if has_bends else (),
        )


def _polynomial(h: float, p: float, q: float, *derivatives: float) -> _Polynomial:
    """Return what leads from p to q in h s: straight, or with velocities (v, w) and accelerations (a, b)."""
    rise = q - p
    if not derivatives:
        return (p, rise / h, 0.0, 0.0, 0.0, 0.0)
    v, w = derivatives[:2]
    if len(derivatives) == 2:
        return (p, v, 3.0 * rise / h**2 - (2.0 * v + w) / h, -2.0 * rise / h**3 + (v + w) / h**2, 0.0, 0.0)
    a, b = derivatives[2:]
    return (
        p,
        v,
        a / 2.0,
        (20.0 * rise - (8.0 * w + 12.0 * v) * h - (3.0 * a - b) * h**2) / (2.0 * h**3),
        (-30.0 * rise + (14.0 * w + 16.0 * v) * h + (3.0 * a - 2.0 * b) * h**2) / (2.0 * h**4),
        (12.0 * rise - 6.0 * (w + v) * h + (b - a) * h**2) / (2.0 * h**5),
    )


def _value(piece: _Polynomial, time: float) -> tuple[float, float]:
    position = velocity = 0.0
    for coefficient in reversed(piece):
        velocity = velocity * time + position
        position = position * time + coefficient
    return position, velocity
