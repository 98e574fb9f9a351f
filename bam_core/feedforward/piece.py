# SPDX-License-Identifier: Apache-2.0
"""A piece of a trajectory: position and torque of several joints as polynomials of 4th order in time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import polynomial

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, WrongShape
from bam_core.errors.checks import require_finite, require_positive

COEFFICIENTS = 5
"""Of a polynomial of 4th order."""

DEFAULT_DURATION = 0.15
"""s; how long pieces are in the paper."""

# Coefficients over a unit of time -> values between which a polynomial stays (its Bernstein form).
_BERNSTEIN = np.array([[math.comb(i, k) / math.comb(4, k) for k in range(5)] for i in range(5)])


_NEGLIGIBLE = 1e-12  # share of the largest coefficient of a slope, over a unit of time


@dataclass(frozen=True, eq=False)
class Reference:
    """Where a trajectory is at one moment; every array is (joints,).

    Attributes:
        position: rad.
        velocity: rad/s.
        acceleration: rad/s².
        torque: τ_o, N·m.
    """

    position: Array
    velocity: Array
    acceleration: Array
    torque: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """Polynomials in the time since the start.

    Attributes:
        start: s, of the clock of the stream.
        duration: s, above zero.
        position: (joints, 5) coefficients c_k of t^k, rad/s^k.
        torque: (joints, 5) of τ_o: what the load takes, without the motor's own inertia, N·m/s^k.

    Raises:
        BamError: a number is not finite, the duration not positive, or the shapes differ.
    """

    start: float
    duration: float
    position: Array
    torque: Array
    _rates: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        require_finite("piece", start=self.start)
        require_positive("piece", duration=self.duration)
        for name in ("position", "torque"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
            if values.ndim != 2 or values.shape[1] != COEFFICIENTS:
                raise WrongShape(f"piece {name}, shape", values.shape, "(joints, 5)")
            if not np.all(np.isfinite(values)):
                joint, power = np.argwhere(~np.isfinite(values))[0]
                raise OutOfRange(
                    f"piece at {self.start:g} s, {name} of joint {joint}, coefficient {power}",
                    values[joint, power],
                    "a finite number",
                )
        if self.position.shape != self.torque.shape:
            raise WrongShape(
                f"piece at {self.start:g} s, torques",
                len(self.torque),
                f"{len(self.position)}, as many as positions",
            )
        powers = np.arange(COEFFICIENTS, dtype=np.float64)
        velocity = np.zeros_like(self.position)
        velocity[:, :-1] = self.position[:, 1:] * powers[1:]
        acceleration = np.zeros_like(self.position)
        acceleration[:, :-1] = velocity[:, 1:] * powers[1:]
        rates = np.stack((self.position, velocity, acceleration, self.torque))
        object.__setattr__(self, "_rates", rates)

    @property
    def end(self) -> float:
        """When it ends, s."""
        return self.start + self.duration

    def at(self, time: float) -> Reference:
        """Return where it is at a time in s; before its start and after its end, where it is there."""
        local = min(max(time - self.start, 0.0), self.duration)
        values = self._rates @ np.array([1.0, local, local**2, local**3, local**4])
        return Reference(*values)

    def extremes(self, quantity: str) -> tuple[Array, Array]:
        """Return least and largest "position", "velocity" or "torque" of each joint, two (joints,)."""
        scaled = self._quantity(quantity) * self.duration ** np.arange(COEFFICIENTS)
        ranges = [_range(row) for row in scaled]
        return np.array([low for low, _ in ranges]), np.array([high for _, high in ranges])

    def bounds(self, quantity: str) -> tuple[Array, Array]:
        """Return bounds around `extremes` that are cheap and never too narrow, two (joints,)."""
        scaled = self._quantity(quantity) * self.duration ** np.arange(COEFFICIENTS)
        points = scaled @ _BERNSTEIN.T
        return points.min(axis=1), points.max(axis=1)

    def _quantity(self, quantity: str) -> Array:
        return self._rates[("position", "velocity", "acceleration", "torque").index(quantity)]

    def part(
        self, start: float, duration: float, position: Array | float = 0.0, torque: Array | float = 0.0
    ) -> Piece:
        """Return a part of it with polynomials of the time since `start` added.

        Args:
            start: s, not before its own.
            duration: s.
            position: (joints, 5) to add, rad/s^k.
            torque: likewise, N·m/s^k.
        """
        moved = start - self.start
        return Piece(
            start=start,
            duration=duration,
            position=_shifted(self.position, moved) + position,
            torque=_shifted(self.torque, moved) + torque,
        )


def _range(coefficients: Array) -> tuple[float, float]:
    """Return least and largest value of a polynomial over 0..1."""
    slope = coefficients[1:] * np.arange(1, COEFFICIENTS)
    counting = np.abs(slope) > _NEGLIGIBLE * np.max(np.abs(slope))
    order = int(np.max(np.nonzero(counting)[0], initial=0))
    turns = polynomial.polyroots(slope[: order + 1])
    inside = np.real(turns[np.abs(np.imag(turns)) < 1e-6])
    places = np.concatenate(([0.0, 1.0], np.clip(inside, 0.0, 1.0)))
    values = polynomial.polyval(places, coefficients)
    return float(values.min()), float(values.max())


def _shifted(coefficients: Array, by: float) -> Array:
    """Return the coefficients of p(t + by)."""
    matrix = np.array(
        [
            [math.comb(power, k) * by ** (power - k) if power >= k else 0.0 for power in range(COEFFICIENTS)]
            for k in range(COEFFICIENTS)
        ]
    )
    return np.asarray(coefficients @ matrix.T)
