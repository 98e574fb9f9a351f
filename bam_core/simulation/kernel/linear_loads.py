# SPDX-License-Identifier: Apache-2.0
"""Loads of robots that deviate from a description, side by side: they are linear in the deviations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.simulation.kernel.lanes import compiled_lanes

_TOGETHER = 4


@compiled_lanes
def lay_out(
    nominal: Array, changes: Array, rows: NDArray[np.intp], amounts: Array, first: int, loads: Array
) -> None:
    """Write the loads of one joint into lanes from `first` on.

    Args:
        nominal: (knots, 5): of the robot as described.
        changes: (knots, rows, names): by how much some rows change, per unit of a deviation.
        rows: their numbers.
        amounts: (names, robots): by which robots deviate.
        first: lane of the first robot.
        loads: (knots, 5, lanes); receives the loads of each robot.
    """
    robots = amounts.shape[1]
    for knot in range(nominal.shape[0]):
        for row in range(nominal.shape[1]):
            for robot in range(robots):
                loads[knot, row, first + robot] = nominal[knot, row]
        for place in range(len(rows)):
            to, change = loads[knot, rows[place]], changes[knot, place]
            # Sums of a few robots at a time stay in registers.
            for robot in range(0, robots - _TOGETHER + 1, _TOGETHER):
                a = b = c = d = nominal[knot, rows[place]]
                for name in range(len(change)):
                    a += change[name] * amounts[name, robot]
                    b += change[name] * amounts[name, robot + 1]
                    c += change[name] * amounts[name, robot + 2]
                    d += change[name] * amounts[name, robot + 3]
                at = first + robot
                to[at], to[at + 1], to[at + 2], to[at + 3] = a, b, c, d
            for robot in range(robots - robots % _TOGETHER, robots):
                a = nominal[knot, rows[place]]
                for name in range(len(change)):
                    a += change[name] * amounts[name, robot]
                to[first + robot] = a
