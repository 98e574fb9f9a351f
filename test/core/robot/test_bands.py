# SPDX-License-Identifier: Apache-2.0
"""Bands of a robot's runs: errors grow with the distance from the goal, and never shrink."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.robot.bands import error_scales
from bam_core.robot.run import RobotRun

SCALE = np.array([2e-3, 2e-3])


def run(name: str) -> RobotRun:
    """Two joints whose goals are zero."""
    time = np.arange(0.0, 1.0, 0.01)
    return RobotRun(
        name=name,
        joints=("b", "a"),
        time=time,
        goal_position=np.zeros((100, 2)),
        position=np.zeros((100, 2)),
        interval=(0.5, 0.9),
    )


def scales(fitted: float, other: float) -> np.ndarray:
    """Return what is expected of joints a and b, of which only a comes so near to its goals."""
    far = {"fitted": np.zeros((100, 2)), "other": np.zeros((100, 2))}
    far["fitted"][50:91] = (0.02, fitted)
    far["other"][50:91] = (0.02, other)
    far["other"][:50] = 1.0  # does not count
    return error_scales([run("other")], [run("fitted")], ["a", "b"], far, SCALE)["other"]


def test_errors_grow_with_the_distance_from_the_goal() -> None:
    np.testing.assert_allclose(scales(0.02, 0.05), SCALE * [2.5, 1.0])


@pytest.mark.parametrize(
    ("fitted", "other", "times"), [(0.05, 0.02, 1.0), (0.0, 0.001, 1.0), (0.0, 0.01, 5.0)]
)
def test_they_do_not_shrink_and_distances_below_errors_are_none(
    fitted: float, other: float, times: float
) -> None:
    np.testing.assert_allclose(scales(fitted, other), SCALE * [times, 1.0])
