# SPDX-License-Identifier: Apache-2.0
"""Points of trajectories that are no path, or leave limits, are refused."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bam_core.errors import BamError, Missing, OutOfRange, WrongShape
from bam_core.recordings.joint_path import PathPoint
from bam_ros.driver.trajectory_points import check_points

GOOD = [
    PathPoint(time=0.0, position=(0.0, 0.0), velocity=(0.0, 0.0)),
    PathPoint(time=1.0, position=(1.0, -1.0), velocity=(0.0, 0.0)),
]
LIMITS = ((-1.0, 1.0), (-1.0, 1.0))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"time": 0.0}, OutOfRange),
        ({"time": math.nan}, OutOfRange),
        ({"position": (1.0,)}, WrongShape),
        ({"position": ()}, WrongShape),
        ({"position": (0.0, math.nan)}, OutOfRange),
        ({"position": (0.0, 1.1)}, OutOfRange),
        ({"velocity": (0.0,)}, WrongShape),
        ({"velocity": (0.0, math.inf)}, OutOfRange),
        ({"acceleration": (0.0, 0.0, 0.0)}, WrongShape),
    ],
)
def test_points_that_are_no_path_are_refused(change: dict[str, object], error: type[BamError]) -> None:
    check_points(GOOD, ("hip", "knee"), LIMITS)
    with pytest.raises(error):
        check_points([GOOD[0], replace(GOOD[1], **change)], ("hip", "knee"), LIMITS)


def test_a_path_begins_at_zero_or_later_and_has_points() -> None:
    with pytest.raises(OutOfRange):
        check_points([replace(GOOD[0], time=-0.1), GOOD[1]], ("hip", "knee"), LIMITS)
    with pytest.raises(Missing):
        check_points([], ("hip", "knee"), LIMITS)
