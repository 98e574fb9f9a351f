# SPDX-License-Identifier: Apache-2.0
"""The steps between values show their unit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.robot.value_steps import range_counts, unit_proof
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, goals

COUNTS = {
    name: np.random.default_rng(seed).integers(-900, 900, 300) for seed, name in enumerate(("a", "b", "c"))
}
RANGES = {"a": 2400, "b": 2133, "c": 4095}


def values(steps: dict[str, float], offset: float = 0.0) -> dict[str, np.ndarray]:
    """Counts in some unit, in single precision."""
    return {name: (steps[name] * counts + offset).astype(np.float32) for name, counts in COUNTS.items()}


@pytest.mark.parametrize(
    ("unit", "step"),
    [
        ("deg", 360 / 4095),
        ("deg", 360 / 4096),
        ("rad", 2 * math.pi / 4095),
        ("rad", 2 * math.pi / 4096),
        ("counts", 1.0),
    ],
)
def test_one_step_on_all_joints_shows_a_unit_of_angles(unit: str, step: float) -> None:
    assert unit_proof(values(dict.fromkeys(COUNTS, step))).unit == unit
    assert unit_proof(values(dict.fromkeys(COUNTS, 1.01 * step))).unit is None


def test_steps_of_several_whole_ranges_show_shares_and_their_ranges() -> None:
    proof = unit_proof(values({name: 200 / count for name, count in RANGES.items()}, offset=-3.7))
    assert proof.unit == "normalised"
    assert dict(proof.ranges) == RANGES
    shares = values({name: 200 / count for name, count in RANGES.items()})
    assert {name: range_counts(of_joint) for name, of_joint in shares.items()} == RANGES


def test_rounded_smoothed_or_few_values_show_nothing() -> None:
    assert unit_proof(values(dict.fromkeys(COUNTS, 0.1))).unit is None  # 2000 counts on all joints: decimals
    random = np.random.default_rng(0)
    assert unit_proof({"a": random.normal(0, 30, 300)}).unit is None
    assert unit_proof({"a": np.repeat([0.0, 360 / 4095], 50)}).unit is None
    assert unit_proof({"a": np.full(100, np.nan)}).unit is None


def test_a_run_in_degrees_or_counts_is_refused_whatever_its_file_says() -> None:
    run = goals()
    counts = np.round(run.goal_position * 4096 / (2 * np.pi))

    def read(position: np.ndarray) -> RobotRun:
        return screened_run(
            name="run", joints=JOINTS, time=run.time, goal_position=run.goal_position, position=position
        )

    for step in (360.0 / 4096.0, 1.0):
        with refused(BadData, thing="run, position of 'shoulder'"):
            read(step * counts)
    for position in (2 * np.pi / 4096 * counts, run.position):
        assert read(position).joints == JOINTS
