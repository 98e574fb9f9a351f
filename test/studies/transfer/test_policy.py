# SPDX-License-Identifier: Apache-2.0
"""The policy, and the intervals over seeds and robots."""

from __future__ import annotations

import numpy as np
import pytest

from studies.transfer.bootstrap import mean_interval, ratio_interval
from studies.transfer.policy import PER_JOINT, Gains, dimension
from studies.transfer.tasks import Marks

MARKS = Marks(
    postures=np.array([[1.0, -0.4]]), tips=np.array([[0.0, 0.1, 0.2]]), gravity=np.array([[2.0, 0.5]])
)
START = np.zeros(2)
STILL = np.zeros((1, 2))


def gains(**values: float) -> Gains:
    table = np.zeros((1, len(PER_JOINT), 2))
    for name, value in values.items():
        table[0, PER_JOINT.index(name)] = value
    return Gains(values=table, duration=np.array([0.5]))


def test_without_gains_goals_move_from_start_to_mark_with_minimum_jerk() -> None:
    at = [gains().act(time, START, MARKS, STILL, STILL)[0, 0] for time in (0.0, 0.25, 0.5, 0.9)]
    assert at == pytest.approx([0.0, 0.5, 1.0, 1.0])


def test_gravity_and_feedback_add_to_the_reference() -> None:
    assert gains(gravity=0.1).act(0.5, START, MARKS, STILL, STILL) == pytest.approx(np.array([[1.2, -0.35]]))
    assert gains(proportional=2.0).act(0.5, START, MARKS, MARKS.postures - 0.1, STILL) == pytest.approx(
        MARKS.postures + 0.2
    )
    assert gains(derivative=0.1).act(0.5, START, MARKS, STILL, STILL + 1.0) == pytest.approx(
        MARKS.postures - 0.1
    )


def test_breakaway_points_along_the_motion_and_ends_with_it() -> None:
    moving = gains(breakaway=0.03).act(0.25, START, MARKS, STILL, STILL) - MARKS.postures / 2.0
    assert moving == pytest.approx(np.array([[0.03, -0.03]]), rel=1e-4)
    assert gains(breakaway=0.03).act(0.6, START, MARKS, STILL, STILL) == pytest.approx(MARKS.postures)


def test_the_middle_of_the_search_is_the_reference_alone() -> None:
    middle = Gains.of(np.zeros((3, dimension(2))), 2)
    assert not middle.values.any()
    assert middle.duration == pytest.approx([0.5] * 3)


def test_intervals_hold_what_seeds_and_robots_spread() -> None:
    random = np.random.default_rng(3)
    values = 2.0 + 0.3 * random.standard_normal((5, 1)) + 0.5 * random.standard_normal((1, 40))
    interval = mean_interval(values)
    seeds, robots = values.mean(axis=1).std(), values.mean(axis=0).std()
    expected = 2.0 * 1.96 * np.hypot(seeds / np.sqrt(5), robots / np.sqrt(40))
    assert interval.value == pytest.approx(values.mean())
    assert interval.high - interval.low == pytest.approx(expected, rel=0.15)


def test_a_ratio_of_errors_on_the_same_robots_is_sharper_than_the_errors() -> None:
    values = np.random.default_rng(3).uniform(1.0, 3.0, (4, 30))
    ratio = ratio_interval(0.5 * values, values)
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((0.5, 0.5, 0.5))


def test_intervals_overlap_where_they_have_a_value_in_common() -> None:
    values = np.random.default_rng(3).uniform(1.0, 2.0, (4, 30))
    interval = mean_interval(values)
    assert interval.overlaps(mean_interval(values + 0.01))
    assert not interval.overlaps(mean_interval(values + 2.0))
    assert not mean_interval(values + 2.0).overlaps(interval)
