# SPDX-License-Identifier: Apache-2.0
"""Samples in which all joints read 0 while they are elsewhere."""

from __future__ import annotations

import numpy as np

from bam_core.robot.screening import screened_run
from bam_core.robot.zero_rows import zero_rows
from test.core.whole_robot_cases import JOINTS, goals

TIME = np.arange(0.0, 2.0, 0.01)


def test_every_other_sample_may_be_of_a_second_publisher() -> None:
    run = goals(4.0)
    path = 1.5 + 0.9 * run.goal_position
    position = path.copy()
    position[1::2] = 0.0
    screened = screened_run(name="two", joints=JOINTS, time=run.time, goal_position=path, position=position)
    np.testing.assert_array_equal(screened.time, run.time[::2])
    np.testing.assert_array_equal(screened.position, path[::2])
    assert {joint: [part.samples for part in parts] for joint, parts in screened.left_out.items()} == {
        joint: [len(run.time) // 2] for joint in JOINTS
    }


def test_joints_may_pass_their_zeros_together_and_rest_there() -> None:
    together = np.stack([np.sin(4.0 * TIME)] * 2, axis=1)
    together[np.abs(together) < 0.02] = 0.0
    assert not zero_rows(TIME, together).any()
    rest = np.zeros_like(together)
    rest[:50] = 1.0  # moved by hand, where no sample shows how
    assert not zero_rows(TIME + np.where(TIME < 0.5, 0.0, 3.0), rest).any()
    assert not zero_rows(TIME, np.zeros_like(rest)).any()


def test_one_joint_alone_shows_nothing() -> None:
    position = np.where(np.arange(len(TIME)) % 2, 0.0, 1.0)[:, None]
    assert not zero_rows(TIME, position).any()
