# SPDX-License-Identifier: Apache-2.0
"""Readings against goals show a frame rate that was not kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.robot.frame_rate import rate_findings
from bam_core.robot.run import RobotRun
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
