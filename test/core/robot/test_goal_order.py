# SPDX-License-Identifier: Apache-2.0
"""Readings follow their goals, in every run of servos."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.robot.goal_order import copied_joints, repeated_joints, require_followed, without_joints
from bam_core.robot.run import RobotRun
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, goals


def following(behind: float = 0.06) -> RobotRun:
    """A run whose readings are a bit behind their goals, in counts of an encoder."""
    run = goals(6.0)
    read = np.stack([np.interp(run.time - behind, run.time, goal) for goal in run.goal_position.T], axis=1)
    return replace(run, position=np.round(read / 1.534e-3) * 1.534e-3)


@pytest.mark.parametrize("behind", [0.0, 0.02, 0.2, -0.01])
def test_readings_behind_their_goals_are_right(behind: float) -> None:
    require_followed(following(behind))


def test_a_periodic_motion_may_be_behind_by_any_part_of_its_period() -> None:
    time = np.arange(0.0, 6.0, 0.01)
    goal = np.stack([np.sin(4.0 * np.pi * time)] * 2, axis=1)
    run = replace(goals(6.0), goal_position=goal)
    for behind in (0.1, 0.25, 0.35):
        late = np.sin(4.0 * np.pi * (time - behind))
        require_followed(replace(run, position=np.stack([late, late], axis=1)))


def test_goals_and_readings_that_are_exchanged_are_named() -> None:
    run = following()
    with refused(BadData, thing="run0, readings"):
        require_followed(replace(run, goal_position=run.position, position=run.goal_position))


def test_readings_that_are_the_goals_are_no_measurement() -> None:
    run = following()
    with refused(BadData, thing="run0, readings"):
        require_followed(replace(run, position=run.goal_position))
    copied = run.position.copy()
    copied[:, 1] = run.goal_position[:, 1]
    partly = replace(run, position=copied, kp={"shoulder": 16.0, "elbow": 32.0})
    require_followed(partly)
    assert copied_joints(partly) == ("elbow",)
    kept = without_joints(partly, ("elbow",))
    assert (kept.joints, kept.kp) == (("shoulder",), {"shoulder": 16.0})
    np.testing.assert_array_equal(kept.position, run.position[:, :1])
    assert copied_joints(run) == ()


def test_a_joint_that_rests_shows_nothing() -> None:
    run = following()
    still = np.zeros_like(run.goal_position)
    require_followed(replace(run, goal_position=still, position=still))


@pytest.mark.parametrize("later", [1, 3])
def test_goals_that_are_later_readings_are_found(later: int) -> None:
    run = following()
    goal = np.vstack([run.position[later:], np.repeat(run.position[-1:], later, axis=0)])
    assert repeated_joints(replace(run, goal_position=goal)) == JOINTS
    goal[:, 0] = run.goal_position[:, 0]
    assert repeated_joints(replace(run, goal_position=goal)) == ("elbow",)
    assert repeated_joints(run) == ()
