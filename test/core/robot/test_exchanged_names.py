# SPDX-License-Identifier: Apache-2.0
"""Two joints with each other's names follow their goals, and their simulations do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_core.robot.checked_validation import validate_robot
from bam_core.robot.exchanged_names import exchanged_names
from bam_core.robot.run import RobotRun
from bam_core.text.exchange_findings import ExchangedNames, ExchangedReadings
from test.core.finding_cases import logged
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos


@pytest.fixture(scope="module")
def clean() -> RobotRun:
    return recorded(servos("m1"), duration=3.0)


def renamed(run: RobotRun) -> RobotRun:
    return replace(run, joints=run.joints[::-1])


def test_names_that_are_right_show_nothing(clean: RobotRun) -> None:
    assert exchanged_names(bench(), [clean], JOINTS, servos("m1")) == []


def test_two_joints_with_each_others_names_are_one_finding(clean: RobotRun) -> None:
    (finding,) = exchanged_names(bench(), [renamed(clean)], JOINTS, servos("m1"))
    assert finding.joints == JOINTS
    assert finding.other_error < 0.5 * finding.error


def test_goals_with_stamps_of_their_own_are_exchanged_as_well(clean: RobotRun) -> None:
    """As bags have them, whose goals come between the readings."""
    wrong = renamed(clean)
    sent = {joint: (wrong.time, wrong.goal_position[:, wrong.column(joint)]) for joint in wrong.joints}
    (finding,) = exchanged_names(bench(), [replace(wrong, sent=sent)], JOINTS, servos("m1"))
    assert [finding] == exchanged_names(bench(), [wrong], JOINTS, servos("m1"))


def test_joints_that_rest_may_have_any_name(clean: RobotRun) -> None:
    still = replace(clean, position=0.0 * clean.position)
    assert exchanged_names(bench(), [still], JOINTS, servos("m1")) == []


def test_validation_in_python_names_them(clean: RobotRun, caplog: pytest.LogCaptureFixture) -> None:
    validate_robot(bench(), [renamed(clean)], JOINTS, servos("m1"))
    assert [type(finding) for finding in logged(caplog)] == [ExchangedNames]


def test_validation_in_python_puts_exchanged_readings_back(
    clean: RobotRun, caplog: pytest.LogCaptureFixture
) -> None:
    error = validate_robot(bench(), [clean], JOINTS, servos("m1")).mae
    mixed = replace(clean, position=clean.position[:, ::-1])
    assert validate_robot(bench(), [mixed], JOINTS, servos("m1")).mae == pytest.approx(error)
    assert [type(finding) for finding in logged(caplog)] == [ExchangedReadings]
