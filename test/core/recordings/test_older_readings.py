# SPDX-License-Identifier: Apache-2.0
"""Readings that repeat older ones are found; motions that are made again are not."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.recordings.older_readings import older_readings

COUNT = 1.534e-3
TIME = np.arange(0.0, 20.0, 0.02)
GOAL = 0.8 * np.sin(0.9 * TIME) + 0.3 * np.sin(2.3 * TIME + 1.0)
READ = np.round(np.interp(TIME - 0.1, TIME, GOAL) / COUNT) * COUNT


def test_sound_readings_are_none() -> None:
    assert not older_readings(TIME, GOAL, READ).any()


@pytest.mark.parametrize("ago", [60, 400])
def test_a_stretch_that_repeats_an_earlier_one_is_found_alone(ago: int) -> None:
    read = READ.copy()
    read[500:560] = READ[500 - ago : 560 - ago]
    found = older_readings(TIME, GOAL, read)
    assert found[505:555].mean() > 0.9
    assert not np.delete(found, np.r_[495:565]).any()


def test_readings_that_come_out_of_order_are_found() -> None:
    late = np.arange(30, 1000, 25)
    read = READ.copy()
    read[late] = READ[late - 12]
    differs = np.abs(read - READ) > 40.0 * COUNT
    found = older_readings(TIME, GOAL, read)
    assert found[differs].mean() > 0.8
    assert not found[~differs & ~np.isin(np.arange(1000), late)].any()


def repeated_motion() -> tuple[Array, Array]:
    goal = 0.5 * np.sin(2.0 * np.pi * TIME / 2.0)
    return goal, np.round(np.interp(TIME - 0.1, TIME, goal) / COUNT) * COUNT


def test_a_motion_that_is_made_again_may_read_the_same() -> None:
    assert not older_readings(TIME, *repeated_motion()).any()


def test_a_joint_at_rest_repeats_its_count() -> None:
    assert not older_readings(TIME, GOAL, np.zeros_like(TIME)).any()
