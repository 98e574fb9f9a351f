# SPDX-License-Identifier: Apache-2.0
"""Positions between the steps of a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.compilation import compiled


@compiled(fastmath={"contract"})
def interpolate(trace: Array, steps: NDArray[np.intp], weights: Array, positions: Array) -> None:
    """Read positions off a trace between its steps.

    Args:
        trace: (2, steps): positions in rad and velocities in rad/s.
        steps: (samples,): the step in which each sample lies.
        weights: (samples, 4): of position and velocity at its start and at its end.
        positions: (samples,): receives rad.
    """
    for j in range(len(steps)):
        k = steps[j]
        positions[j] = (
            weights[j, 0] * trace[0, k]
            + weights[j, 1] * trace[1, k]
            + weights[j, 2] * trace[0, k + 1]
            + weights[j, 3] * trace[1, k + 1]
        )
