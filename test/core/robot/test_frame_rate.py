# SPDX-License-Identifier: Apache-2.0
"""Readings against goals show a frame rate that was not kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.robot.frame_rate import rate_findings, require_seconds
from bam_core.robot.run import RobotRun
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos


@pytest.fixture(scope="module")
def run() -> RobotRun:
    return recorded(servos("m1"), duration=3.0)


def test_a_rate_that_was_kept_is_no_finding(run: RobotRun) -> None:
    assert rate_findings(bench(), [run], JOINTS, servos("m1")) == []


@pytest.mark.parametrize(("factor", "shown"), [(0.5, 100.0), (1.5, 100.0)])
def test_a_rate_that_was_not_kept_is_named(factor: float, shown: float, run: RobotRun) -> None:
    (finding,) = rate_findings(bench(), [replace(run, time=factor * run.time)], JOINTS, servos("m1"))
    assert finding.rate == pytest.approx(100.0 / factor)
    assert finding.shown == pytest.approx(shown)
    assert finding.other_error < 1e-3 < 0.1 * finding.error


def test_times_that_were_measured_are_believed(run: RobotRun) -> None:
    jitter = 1e-3 * np.random.default_rng(0).uniform(size=len(run.time))
    assert rate_findings(bench(), [replace(run, time=0.5 * run.time + jitter)], JOINTS, servos("m1")) == []


def test_times_that_are_ten_times_too_long_are_refused_measured_or_not(run: RobotRun) -> None:
    require_seconds(bench(), [run], JOINTS, servos("m1"))
    jitter = 1e-4 * np.random.default_rng(0).uniform(size=len(run.time))
    for time in (10.0 * run.time, 10.0 * (run.time + jitter)):
        with refused(BadData, thing=f"{run.name}, time"):
            require_seconds(bench(), [replace(run, time=time)], JOINTS, servos("m1"))


def test_times_that_are_ten_times_too_short_are_refused(run: RobotRun) -> None:
    with refused(BadData, thing=f"{run.name}, time"):
        require_seconds(bench(), [replace(run, time=0.1 * run.time)], JOINTS, servos("m1"))


def test_gains_that_are_wrong_are_no_wrong_times(run: RobotRun) -> None:
    for share in (0.25, 4.0):
        assert run.kp is not None
        require_seconds(bench(), [replace(run, kp=share * 20.0)], JOINTS, servos("m1"))
