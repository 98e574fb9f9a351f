# SPDX-License-Identifier: Apache-2.0
"""Joints whose positions were updated by a clock of their own; the others stay as they were read."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.robot.run import RobotRun
from bam_core.robot.updates import as_of_their_times
from bam_core.text.recording_findings import LatePositions
from test.core.finding_cases import logged


def run(elbow: np.ndarray, wrist: np.ndarray, time: np.ndarray) -> RobotRun:
    position = np.column_stack([elbow, wrist])
    return RobotRun(
        name="wave",
        joints=("elbow", "wrist"),
        time=time,
        goal_position=np.zeros_like(position),
        position=position,
    )


def wave(time: np.ndarray) -> np.ndarray:
    """Return a joint that swings, in counts of an encoder, rad."""
    count = 2.0 * np.pi / 4096
    return np.round(np.sin(2.0 * np.pi * 0.7 * time) / count) * count


def test_only_the_joint_of_a_slow_bus_is_corrected(caplog: pytest.LogCaptureFixture) -> None:
    time = np.arange(0.0, 6.0, 0.01) + np.random.default_rng(1).uniform(0.0, 0.002, 600)
    late = wave(0.008 * np.floor(time / 0.008))
    read = run(late, wave(time), time)
    found = as_of_their_times(read)
    (finding,) = logged(caplog)
    assert isinstance(finding, LatePositions)
    assert (finding.names, finding.joints) == (("wave",), ("elbow",))
    assert finding.median == pytest.approx(0.008, rel=0.01)
    assert (found.position[:, 1] == read.position[:, 1]).all()
    true = np.sin(2.0 * np.pi * 0.7 * time)
    off = np.abs(found.position[:, 0] - true)[:-1].mean()
    assert off < 0.3 * np.abs(late - true)[:-1].mean()


def test_a_sound_run_is_returned_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    time = np.arange(0.0, 6.0, 0.01)
    read = run(np.sin(4.0 * time), np.cos(3.0 * time), time)
    assert as_of_their_times(read) is read
    assert caplog.text == ""
