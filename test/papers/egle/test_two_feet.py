# SPDX-License-Identifier: Apache-2.0
"""What two standing feet leave undetermined, and what not."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.errors import Conflict
from papers.egle.two_feet import required_torques
from test.core.refusals import refused
from test.core.whole_body_cases import arm, robot, walk

FIRST = slice(2, 150, 30)
"""Samples of the first double support, in which both soles lie flat."""
ARMS = ("waist", "right_shoulder_1", "left_shoulder_2", "right_shoulder_3", "left_elbow")


def required(share: float = 0.5) -> Array:
    made = walk()
    return required_torques(
        robot(), made.log.position[FIRST], made.velocity[FIRST], made.acceleration[FIRST], share=share
    ).torque


def column(name: str) -> int:
    return robot().names.index(name)


@pytest.mark.long
def test_open_chains_take_the_torques_that_the_walk_applied() -> None:
    found = required()
    for name in ARMS:
        assert found[:, column(name)] == pytest.approx(walk().log.effort[FIRST, column(name)], abs=1e-6), name


@pytest.mark.long
def test_open_chains_do_not_know_how_feet_share_the_weight() -> None:
    half, most = required(), required(0.9)
    for name in ARMS:
        assert half[:, column(name)] == pytest.approx(most[:, column(name)], abs=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("joint", ["hip_pitch", "knee", "ankle_pitch"])
def test_sums_over_both_legs_hardly_depend_on_the_sharing_that_each_leg_depends_on(joint: str) -> None:
    change = required(0.7) - required()
    left, right = (change[:, column(f"{side}_{joint}")] for side in ("left", "right"))
    assert np.max(np.abs(left)) > 1.0
    assert np.max(np.abs(left + right)) < 0.05 * np.max(np.abs(left))


@pytest.mark.long
def test_both_feet_carry_the_robot() -> None:
    made = walk()
    found = required_torques(robot(), made.log.position[:1], 0.0 * made.velocity[:1], 0.0 * made.velocity[:1])
    assert found.weight == pytest.approx(79.2 * 9.80665, rel=1e-6)


def test_a_robot_with_a_fixed_base_is_refused() -> None:
    with refused(Conflict, thing="robot"):
        required_torques(arm(), np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2)))
