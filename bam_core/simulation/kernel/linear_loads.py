# SPDX-License-Identifier: Apache-2.0
"""Loads of robots that deviate from a description, side by side: they are linear in the deviations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.simulation.kernel.lanes import compiled_lanes


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
    names, robots = amounts.shape
    for knot in range(nominal.shape[0]):
        for row in range(nominal.shape[1]):
            for robot in range(robots):
                loads[knot, row, first + robot] = nominal[knot, row]
        for place in range(len(rows)):
            to = loads[knot, rows[place]]
            for name in range(names):
                change = changes[knot, place, name]
                for robot in range(robots):
                    to[first + robot] += change * amounts[name, robot]
