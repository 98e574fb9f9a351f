# SPDX-License-Identifier: Apache-2.0
"""Readings in each other's columns are put back where goals show whose they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.robot.exchanged_joints import exchanged_joints, with_own_readings
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.run import RobotRun
from bam_core.text.exchange_findings import ExchangedReadings
from test.core.finding_cases import logged
from test.core.whole_robot_cases import recorded, servos, write_csv


@pytest.fixture(scope="module")
def clean() -> RobotRun:
    return recorded(servos("m1"), duration=4.0)


def test_readings_of_a_sound_run_are_where_they_belong(clean: RobotRun) -> None:
    assert exchanged_joints(clean) == {}


def test_two_columns_that_are_exchanged_are_put_back(clean: RobotRun) -> None:
    sound = np.ones(clean.position.shape, dtype=bool)
    sound[10, 1] = False
    run = replace(clean, position=clean.position[:, ::-1], sound=sound)
    exchanged = exchanged_joints(run)
    assert exchanged == {"shoulder": "elbow", "elbow": "shoulder"}
    own = with_own_readings(run, exchanged)
    np.testing.assert_array_equal(own.position, clean.position)
    assert not own.is_sound[10, 0]
    assert own.is_sound[:, 1].all()


def test_joints_that_move_alike_show_nothing(clean: RobotRun) -> None:
    goal = clean.goal_position[:, [0, 0]]
    read = clean.position[:, [0, 0]] + np.array([0.0, 1e-3])
    assert exchanged_joints(replace(clean, goal_position=goal, position=read)) == {}


def test_a_joint_that_sags_beside_one_with_the_same_goals_shows_nothing(clean: RobotRun) -> None:
    goal = clean.goal_position[:, [0, 0]] + np.array([0.0, 1e-4])  # so little decides for an exchange
    read = clean.goal_position[:, [0, 0]] + np.array([0.1, -0.01])
    assert exchanged_joints(replace(clean, goal_position=goal, position=read)) == {}


def test_a_joint_that_is_read_twice_is_not_put_back(clean: RobotRun) -> None:
    run = replace(clean, position=clean.position[:, [1, 1]])
    exchanged = exchanged_joints(run)
    assert with_own_readings(run, {"shoulder": "elbow"}) is run
    assert exchanged in ({}, {"shoulder": "elbow"})


def test_loading_names_and_corrects_them(
    clean: RobotRun, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_csv(replace(clean, position=clean.position[:, ::-1]), tmp_path / "run.csv")
    (run,) = load_runs([path], RunSettings(kp=16.0))
    (finding,) = logged(caplog)
    assert isinstance(finding, ExchangedReadings)
    assert finding.runs == ("run",)
    assert dict(finding.joints) == {"shoulder": "elbow", "elbow": "shoulder"}
    np.testing.assert_allclose(run.position, clean.position)
