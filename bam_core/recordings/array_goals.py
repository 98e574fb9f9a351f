# SPDX-License-Identifier: Apache-2.0
"""Goals in messages without joint names: which column is of which joint, proven by the motion.

Controllers such as `forward_position_controller` take a `Float64MultiArray`, whose order of joints is in no
message. A column is a joint's goal where the joint follows it and no other joint does, nor it another column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from bam_core.arrays import Array

_CLEARLY = 0.5  # of the next smallest distance: the distance between a joint and the column that it follows
_FOLLOWED = 0.25  # of the width of goals: the largest mean distance of a joint that follows them
_STEADY = 0.03  # rad; the same where goals hardly change


class Samples(NamedTuple):
    """Times [s], increasing, and values: (n,) of a joint, or (n, columns) of an array."""

    time: Array
    value: Array


def named_columns(
    arrays: Mapping[str, Samples], positions: Mapping[str, Samples]
) -> dict[str, tuple[str, int]]:
    """Return joint -> topic and column of its goals, for topics of which the motion proves all columns.

    Args:
        arrays: topic -> goals.
        positions: of joints without other goals, rad.
    """
    joints = list(positions)
    result: dict[str, tuple[str, int]] = {}
    for topic, goals in arrays.items():
        count = goals.value.shape[1]
        if not 0 < count <= len(joints):
            continue
        distances = np.array(
            [[_distance(goals, column, positions[joint]) for joint in joints] for column in range(count)]
        )
        if not np.all(np.isfinite(distances)):
            continue
        rows, chosen = linear_sum_assignment(distances)
        pairs = list(zip(rows.tolist(), chosen.tolist(), strict=True))
        limits = np.maximum(_FOLLOWED * np.ptp(goals.value, axis=0), _STEADY)
        if all(_is_clear(distances, *pair) and distances[pair] <= limits[pair[0]] for pair in pairs):
            result |= {joints[joint]: (topic, column) for column, joint in pairs}
    return result


def _distance(goals: Samples, column: int, positions: Samples) -> float:
    inside = positions.time >= goals.time[0]
    if not inside.any():
        return float("nan")
    held = goals.value[np.searchsorted(goals.time, positions.time[inside], side="right") - 1, column]
    return float(np.mean(np.abs(held - positions.value[inside])))


def _is_clear(distances: Array, row: int, column: int) -> bool:
    others = np.concatenate([np.delete(distances[row], column), np.delete(distances[:, column], row)])
    return bool(np.all(distances[row, column] < _CLEARLY * others))
