# SPDX-License-Identifier: Apache-2.0
"""Motions through keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from bam_core.arrays import Array
from bam_core.errors import OutOfRange

Motion = Callable[[ArrayLike], tuple[Array, Array, Array]]
"""Times (n,) s -> position rad, velocity rad/s, acceleration rad/s², each (n, joints)."""


def through_keys(times: ArrayLike, places: ArrayLike, size: float = 1.0) -> Motion:
    """Return a motion that is at rest at both ends, and before and after them; a spline of 5th order.

    Args:
        times: (keys,) s, from 0 on, increasing.
        places: (keys, joints) rad.
        size: of the motion about its first key.

    Raises:
        BamError: there are fewer than two keys, or times do not start at 0 and increase.
    """
    when, where = np.asarray(times, dtype=np.float64), np.asarray(places, dtype=np.float64)
    if len(when) < 2 or when[0] != 0.0 or np.any(np.diff(when) <= 0.0):
        raise OutOfRange(
            "motion keys",
            when,
            "two or more times from 0 on, increasing",
            printed=f"at {when.tolist()}",
            advice="correct them",
        )
    where = where[0] + size * (where - where[0])
    rest = [(order, np.zeros(where.shape[1])) for order in (1, 2)]
    path = make_interp_spline(when, where, k=5, bc_type=(rest, rest))
    curves = (path, path.derivative(), path.derivative(2))

    def motion(time: ArrayLike) -> tuple[Array, Array, Array]:
        wanted = np.asarray(time, dtype=np.float64)
        moving = ((wanted > 0.0) & (wanted < when[-1]))[:, None]
        position, velocity, acceleration = (curve(np.clip(wanted, 0.0, when[-1])) for curve in curves)
        return position, np.where(moving, velocity, 0.0), np.where(moving, acceleration, 0.0)

    return motion
