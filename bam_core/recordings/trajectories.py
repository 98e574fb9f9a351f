# SPDX-License-Identifier: Apache-2.0
"""Trajectory scripts: goals of the servo during one run (BAM section V-A)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bam_core.arrays import Array
from bam_core.errors import UnknownName


@dataclass(frozen=True, kw_only=True)
class TrajectoryScript:
    """Goal position over time, and when torque is on.

    Attributes:
        name: key in SCRIPTS.
        title: what it shows, in words.
        goal: goal position in rad for an array of times in s.
        duration: length of a run, s.
        release_time: torque is off from this time on, s; infinite where it stays on.
    """

    name: str
    title: str
    goal: Callable[[Array], Array]
    duration: float = 6.0
    release_time: float = math.inf

    def __call__(self, time: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
        """Return goal position (rad) and torque enable at these times (s), in the shape of `time`."""
        return self.goal_position(time), self.torque_enabled(time)

    def goal_position(self, time: ArrayLike) -> Array:
        """Return the goal position in rad at these times in s."""
        return np.asarray(self.goal(np.asarray(time, dtype=np.float64)))

    def torque_enabled(self, time: ArrayLike) -> NDArray[np.bool_]:
        """Return True where torque is on at these times in s."""
        return np.asarray(np.asarray(time, dtype=np.float64) < self.release_time)


def _sin_time_square(time: Array) -> Array:
    return np.asarray(np.sin(time**2))


def _sin_sin(time: Array) -> Array:
    slow = np.sin(time) * (math.pi / 2.0)
    return np.asarray(slow + np.sin(5.0 * time) * 0.5 * np.sin(2.0 * time))


def _up_and_down(time: Array) -> Array:
    return _smooth(time, ((0.0, 0.0), (3.0, math.pi / 2.0), (6.0, 0.8 * math.pi / 2.0)))


def _lift_and_drop(time: Array) -> Array:
    return _smooth(time, ((0.0, 0.0), (2.0, -math.pi / 2.0)))


def _smooth(time: Array, knots: tuple[tuple[float, float], ...]) -> Array:
    """Cubics between (time, position) knots with zero slope at every knot; constant outside them."""
    position = np.full(time.shape, knots[0][1])
    for (start, low), (end, high) in itertools.pairwise(knots):
        s = np.clip((time - start) / (end - start), 0.0, 1.0)
        position = position + (high - low) * (3.0 - 2.0 * s) * s**2
    return position


SCRIPTS: Mapping[str, TrajectoryScript] = MappingProxyType(
    {
        script.name: script
        for script in (
            TrajectoryScript(name="sin_time_square", title="accelerated oscillations", goal=_sin_time_square),
            TrajectoryScript(name="sin_sin", title="slow oscillations with faster ones", goal=_sin_sin),
            TrajectoryScript(name="up_and_down", title="raising and lowering slowly", goal=_up_and_down),
            TrajectoryScript(
                name="lift_and_drop", title="lift, then release", goal=_lift_and_drop, release_time=2.0
            ),
        )
    }
)
"""The four scripts of BAM by name, 6 s each."""


def script(name: str) -> TrajectoryScript:
    """Return the script of this name; raise BamError with the valid names where there is none."""
    try:
        return SCRIPTS[name]
    except KeyError:
        raise UnknownName("trajectory script", name, SCRIPTS) from None
