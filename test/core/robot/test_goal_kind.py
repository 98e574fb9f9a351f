# SPDX-License-Identifier: Apache-2.0
"""Goals are positions in the unit of the readings; what is none is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.robot.goal_kind import require_goal_positions
from bam_core.robot.run import RobotRun
from test.core.refusals import refused
from test.core.robot.test_goal_order import following
from test.core.whole_robot_cases import JOINTS, recorded, servos

DEGREES = 180.0 / np.pi


def test_goals_of_real_servos_pass_also_of_weak_ones() -> None:
    require_goal_positions(following(), JOINTS)
    require_goal_positions(following(0.3), JOINTS)
    run = recorded(servos(), duration=4.0)
    require_goal_positions(run, JOINTS)
    require_goal_positions(
        replace(run, position=0.02 * np.sin(3.0 * run.time)[:, None] + 0.0 * run.position), JOINTS
    )


@pytest.mark.parametrize(
    ("scale", "offset", "thing"),
    [
        (DEGREES, 0.0, "run0, goals of 'shoulder'"),
        (1.0 / DEGREES, 0.0, "run0, readings of 'shoulder'"),
        (2048.0 / np.pi, 2048.0, "run0, goals of 'shoulder'"),
    ],
)
def test_goals_in_another_unit_than_readings_are_named(scale: float, offset: float, thing: str) -> None:
    run = following()
    with refused(BadData, thing=thing):
        require_goal_positions(replace(run, goal_position=offset + scale * run.goal_position), JOINTS)


def speeds(run: RobotRun) -> RobotRun:
    return replace(run, goal_position=np.gradient(run.goal_position, run.time, axis=0))


def test_goals_that_are_speeds_are_named() -> None:
    with refused(BadData, thing="run0, goals"):
        require_goal_positions(speeds(following()), JOINTS)


def test_goals_that_are_steps_from_the_reading_are_named() -> None:
    run = following()
    with refused(BadData, thing="run0, readings"):
        require_goal_positions(replace(run, goal_position=run.goal_position - run.position), JOINTS)


def test_one_joint_that_follows_shows_that_goals_are_positions() -> None:
    run = following()
    goal = run.goal_position.copy()
    goal[:, 1] = speeds(run).goal_position[:, 1]
    require_goal_positions(replace(run, goal_position=goal), JOINTS)
