# SPDX-License-Identifier: Apache-2.0
"""From points of a trajectory to pieces; points as in `trajectory_msgs/JointTrajectory`, in plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import Conflict, OutOfRange, WrongShape, WrongType
from bam_core.errors.checks import require_positive
from bam_core.feedforward.piece import COEFFICIENTS, DEFAULT_DURATION, Piece, Reference

Dynamics = Callable[[Array, Array, Array], Array]
"""Position rad, velocity rad/s, acceleration rad/s² -> τ_o, N·m, each (n, joints)."""

_SAMPLES = 24  # per piece, to which it is fitted
_MOST = 100_000  # pieces; more come from a time that is wrong


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """A trajectory as it is sent: points in time, with what is known of each.

    Attributes:
        time: (n,) since the start of the trajectory, s.
        position: (n, joints) rad.
        velocity: (n, joints) rad/s.
        acceleration: (n, joints) rad/s².
        torque: (n, joints) τ_o, N·m.
        leaves_at: (joints,) velocity at the first point where only positions are known, rad/s.

    Raises:
        BamError: there are no points, times do not increase, shapes do not match, or a number is not finite.
    """

    time: Array
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None
    torque: Array | None = None
    leaves_at: Array | None = None

    def __post_init__(self) -> None:
        times = _increasing(self.time, least=1)
        places = _places(self.position, len(times))
        object.__setattr__(self, "time", times)
        object.__setattr__(self, "position", places)
        for name in ("velocity", "acceleration", "torque"):
            rows = getattr(self, name)
            if rows is not None:
                object.__setattr__(self, name, _checked(name, rows, places.shape))

    def led_from(self, before: Reference, time: float) -> Points:
        """Return them with one more point in front, at a time in s since the start of the trajectory."""

        def led(rows: Array | None, first: Array) -> Array | None:
            return None if rows is None else np.vstack((first, rows))

        return replace(
            self,
            time=np.concatenate(([time], self.time)),
            position=np.vstack((before.position, self.position)),
            velocity=led(self.velocity, before.velocity),
            acceleration=led(self.acceleration, before.acceleration),
            torque=led(self.torque, before.torque),
            leaves_at=before.velocity,
        )

    def pieces(self, start: float, dynamics: Dynamics | None = None) -> list[Piece]:
        """Return them as pieces; where torques are not known, from dynamics.

        Args:
            start: of the trajectory, s.
            dynamics: of the robot; None: no torque.

        Raises:
            BamError: see `pieces_from_points`.
        """
        return pieces_from_points(
            self.time,
            self.position,
            self.velocity,
            self.acceleration,
            dynamics if self.torque is None else self.torque,
            start=start + float(self.time[0]),
            leaves_at=0.0 if self.leaves_at is None else self.leaves_at,
        )


def pieces_from_points(
    time: ArrayLike,
    position: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | Dynamics | None = None,
    *,
    start: float = 0.0,
    piece_duration: float = DEFAULT_DURATION,
    leaves_at: ArrayLike = 0.0,
) -> list[Piece]:
    """Return pieces along points, without jumps of position, velocity and torque.

    Between points runs a spline: cubic without a jump of acceleration and to rest at its end where only
    positions are given, cubic through the velocities, or quintic through velocities and accelerations.
    Torques are interpolated in the manner of positions, without rest at the ends; none means zero. Pieces
    meet the spline's positions and velocities at their ends exactly, and are closest to it in between.

    Args:
        time: (n,) of the points since the start, s, increasing, n >= 2.
        position: (n, joints) rad.
        velocity: (n, joints) rad/s.
        acceleration: (n, joints) rad/s²; only with velocities.
        torque: (n, joints) τ_o, N·m, or dynamics that compute it along the spline.
        start: when the first piece starts, s.
        piece_duration: s; all are equally long, and at most so long.
        leaves_at: velocity at the first point where only positions are given, rad/s, one or (joints,).

    Raises:
        BamError: times do not increase, shapes do not match, or a number is not finite.
    """
    from scipy.interpolate import BPoly, CubicHermiteSpline, CubicSpline  # a third of a second to load

    times = _increasing(time, least=2)
    places = _places(position, len(times))
    if acceleration is not None and velocity is None:
        raise Conflict(
            "points acceleration", "is given without velocity", expected="both", advice="give velocity"
        )
    rates = None if velocity is None else _checked("velocity", velocity, places.shape)
    if rates is None:
        leaving = np.broadcast_to(np.asarray(leaves_at, dtype=np.float64), places.shape[1:])
        path = CubicSpline(times, places, bc_type=((1, leaving), (1, np.zeros_like(leaving))))
    elif acceleration is None:
        path = CubicHermiteSpline(times, places, rates)
    else:
        bends = _checked("acceleration", acceleration, places.shape)
        path = BPoly.from_derivatives(times, np.stack((places, rates, bends), axis=1))
    slope = path.derivative()
    bend = slope.derivative()
    if callable(torque):
        dynamics = torque

        def load(t: Array) -> Array:
            return dynamics(path(t), slope(t), bend(t))
    elif torque is None:
        load = CubicSpline(times[[0, -1]], np.zeros((2, places.shape[1])))
    else:
        load = CubicSpline(times, _checked("torque", torque, places.shape))
    return fit_pieces(
        lambda t: (path(t), slope(t), load(t)),
        float(times[0]),
        float(times[-1]),
        start=start,
        piece_duration=piece_duration,
    )


def fit_pieces(
    motion: Callable[[Array], tuple[Array, Array, Array]],
    begin: float,
    end: float,
    *,
    start: float = 0.0,
    piece_duration: float = DEFAULT_DURATION,
) -> list[Piece]:
    """Return pieces close to a motion that is known at every time.

    Args:
        motion: times (n,) s -> position (n, joints) rad, velocity rad/s and torque N·m of the same shape.
        begin: first time, s.
        end: last time, s.
        start: when the first piece starts, s.
        piece_duration: s; all are equally long, and at most so long.

    Raises:
        BamError: the duration of a piece is not positive, or there would be more than 100,000.
    """
    require_positive("pieces", piece_duration=piece_duration, length=end - begin)
    count = max(int(np.ceil((end - begin) / piece_duration - 1e-9)), 1)
    if count > _MOST:
        raise OutOfRange(
            "pieces",
            count,
            f"at most {_MOST}",
            printed=f"{count} of {piece_duration:g} s",
            advice="shorten the motion, or make pieces longer",
        )
    duration = (end - begin) / count
    share = np.linspace(0.0, 1.0, _SAMPLES)
    pieces = []
    for index in range(count):
        position, velocity, torque = motion(begin + duration * (index + share))
        pieces.append(
            Piece(
                start=start + index * duration,
                duration=duration,
                position=_quartic(share, position, duration * velocity[[0, -1]]) / _powers(duration),
                torque=_pinned(share, torque) / _powers(duration),
            )
        )
    return pieces


def _quartic(share: Array, values: Array, slopes: Array) -> Array:
    """Return (joints, 5) that meet values and slopes at both ends, and come closest in between."""
    first, last = values[0], values[-1]
    rise = last - first
    hermite = np.stack(
        (first, slopes[0], 3.0 * rise - 2.0 * slopes[0] - slopes[1], slopes[0] + slopes[1] - 2.0 * rise),
        axis=1,
    )
    residual = values - np.vander(share, 4, increasing=True) @ hermite.T
    bump = share**2 * (1.0 - share) ** 2
    height = bump @ residual / (bump @ bump)
    quartic = np.zeros((values.shape[1], COEFFICIENTS))
    quartic[:, :4] = hermite
    return quartic + np.outer(height, [0.0, 0.0, 1.0, -2.0, 1.0])


def _pinned(share: Array, values: Array) -> Array:
    """Return (joints, 5) that meet the values at both ends and come closest in between."""
    line = np.outer(1.0 - share, values[0]) + np.outer(share, values[-1])
    bump = share * (1.0 - share)
    basis = np.stack((bump, bump * share, bump * share**2), axis=1)
    bumps = np.linalg.lstsq(basis, values - line, rcond=None)[0].T
    quartic = np.zeros((values.shape[1], COEFFICIENTS))
    quartic[:, 0], quartic[:, 1] = values[0], values[-1] - values[0]
    quartic[:, 1:4] += bumps
    quartic[:, 2:] -= bumps
    return quartic


def _powers(duration: float) -> Array:
    return np.asarray(duration ** np.arange(COEFFICIENTS))


def _increasing(time: ArrayLike, least: int) -> Array:
    times = _checked("time", time, None)
    if times.ndim != 1 or len(times) < least:
        raise WrongShape("points time, shape", times.shape, f"a row of {least} or more")
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late):
        first, second = times[late[0] : late[0] + 2]
        raise OutOfRange(
            f"points time, point {late[0] + 1}",
            second,
            f"more than {first:g} s, the time of the point before",
            printed=f"{second:g} s",
        )
    return times


def _places(position: ArrayLike, count: int) -> Array:
    places = _checked("position", position, None)
    if places.ndim != 2 or len(places) != count:
        raise WrongShape("points position, shape", places.shape, f"({count}, joints)")
    return places


def _checked(name: str, values: ArrayLike, shape: tuple[int, ...] | None) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongType(
            f"points {name}", values, "as many in every row", printed="not an array of numbers"
        ) from None
    if shape is not None and array.shape != shape:
        raise WrongShape(f"points {name}, shape", array.shape, f"{shape}")
    if not np.all(np.isfinite(array)):
        place = [int(index) for index in np.argwhere(~np.isfinite(array))[0]]
        where = f"point {place[0]}" + "".join(f", joint {joint}" for joint in place[1:])
        raise OutOfRange(f"points {name}, {where}", array[tuple(place)], "a finite number")
    return array
