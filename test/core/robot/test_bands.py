# SPDX-License-Identifier: Apache-2.0
"""Bands of a robot's runs: errors grow with the distance from the goal, and never shrink."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pytest

from bam_core.errors import Conflict
from bam_core.robot.bands import error_scales, half_widths
from bam_core.robot.engine_rollout import DivergedError
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


REFUSED = Conflict("joint 'a'", "the time step is unstable")
DIVERGED = DivergedError("simulation", "diverged")


class DrawsBench:
    """Simulates constant positions at draws, and fails at some of them."""

    def __init__(self, failures: list[Exception | None]) -> None:
        self.failures = failures

    def simulate(self, run: RobotRun, point: np.ndarray, deviations: object) -> np.ndarray:
        failure = self.failures[zlib.crc32(point.tobytes()) % len(self.failures)]
        if failure is not None:
            raise failure
        return np.full_like(run.position, point[0])


@pytest.mark.parametrize(
    ("failures", "has_band"),
    [([None], True), ([None, REFUSED, DIVERGED], True), ([REFUSED], False), ([DIVERGED], False)],
)
def test_draws_that_cannot_be_simulated_are_left_out(
    failures: list[Exception | None], has_band: bool
) -> None:
    unknowns = SimpleNamespace(servos_at=lambda point: point, deviations_at=lambda point: None)
    fit = SimpleNamespace(point=np.zeros(1), covariance=1e-4 * np.eye(1), unknowns=unknowns)
    bands = half_widths(DrawsBench(failures), [run("one")], ["a", "b"], fit, {"one": SCALE})
    assert set(bands) == ({"one"} if has_band else set())
    if has_band:
        assert bands["one"] == pytest.approx(1.645 * 0.01, rel=0.6)  # of the draws
