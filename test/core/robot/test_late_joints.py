# SPDX-License-Identifier: Apache-2.0
"""Readings of one joint that are late against the others are named, and moved where that is proven."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.robot.late_joints import late_joints, with_true_times, without_lateness
from bam_core.robot.run import RobotRun
from bam_core.robot.validation import errors_of, simulate_runs
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos

TYPES = {"shoulder": "one", "elbow": "one"}
OTHER_TYPES = {"shoulder": "strong", "elbow": "weak"}


@pytest.fixture(scope="module")
def runs() -> list[RobotRun]:
    return [recorded(servos("m1"), seed=seed, duration=8.0) for seed in (0, 1)]


def late(run: RobotRun, joint: int, by: float) -> RobotRun:
    """The run with readings of one joint that were true some time before."""
    position = run.position.copy()
    position[:, joint] = np.interp(run.time - by, run.time, position[:, joint])
    return replace(run, position=position)


def error(runs: list[RobotRun]) -> float:
    return errors_of(runs, JOINTS, simulate_runs(bench(), runs, servos("m1"))).mae


@pytest.mark.parametrize("by", [0.0, 0.03, 0.6])
def test_joints_that_are_late_together_have_a_delay(by: float, runs: list[RobotRun]) -> None:
    both = [late(late(run, 0, by), 1, by) for run in runs]
    simulated = simulate_runs(bench(), runs, servos("m1"))
    assert late_joints(both, simulated, JOINTS, TYPES) == []


@pytest.mark.parametrize("by", [0.03, 0.6])
def test_a_late_joint_is_named_and_moved(by: float, runs: list[RobotRun]) -> None:
    given = [late(run, 1, by) for run in runs]
    simulated = simulate_runs(bench(), given, servos("m1"))
    (finding,) = late_joints(given, simulated, JOINTS, TYPES)
    assert (finding.joint, finding.runs, finding.is_corrected) == ("elbow", ("run0", "run1"), True)
    assert finding.lateness == pytest.approx(by, abs=0.005)
    assert finding.other_error < 0.2 * finding.error
    moved = without_lateness(given, [finding])
    assert error(moved) < 0.3 * error(given)
    assert not moved[0].is_sound[moved[0].time > moved[0].time[-1] - by + 0.011, 1].any()
    assert moved[0].is_sound[:, 0].all()


def test_a_joint_that_is_late_in_one_run_is_moved_there(runs: list[RobotRun]) -> None:
    given = [runs[0], late(runs[1], 0, 0.2)]
    first, second = with_true_times(bench(), given, JOINTS, servos("m1"), TYPES)
    assert first is runs[0]
    off = np.abs(second.position - runs[1].position)[second.is_sound[:, 0]]
    assert off.mean() < 2e-3


def test_a_joint_with_a_servo_of_its_own_is_named_only(runs: list[RobotRun]) -> None:
    given = [late(run, 1, 0.03) for run in runs]
    simulated = simulate_runs(bench(), given, servos("m1"))
    (finding,) = late_joints(given, simulated, JOINTS, OTHER_TYPES)
    assert not finding.is_corrected
    assert without_lateness(given, [finding]) == given
