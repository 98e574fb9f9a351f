# SPDX-License-Identifier: Apache-2.0
"""The master's own last check of goals: range, speed and following error, for two drives at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from bam_ros.erob.goal_guard import GoalGuard, GoalLimits
from bam_ros.erob.messages import AxisGoal
from bam_ros.text.goal_faults import GoalJumped, GoalOutsideLimits
from bam_ros.text.torque_reasons import JointNotFollowing
from test.ros.erob_master import OFF, Master, on

PERIOD = 1e-3


def guard(**limits: float) -> GoalGuard:
    return GoalGuard("elbow", GoalLimits(**limits), PERIOD)


@pytest.mark.parametrize("goal", [30.0, -30.0, 3.3, math.inf])
def test_a_goal_outside_the_limits_is_refused_with_these(goal: float) -> None:
    reason = guard().take(on(goal), goal if math.isfinite(goal) else 0.0, 0.0)
    assert reason == GoalOutsideLimits(joint="elbow", goal=goal, low=-math.pi, high=math.pi)


def test_limits_are_those_of_the_user_and_an_arm_at_its_stop_may_hold_there() -> None:
    wide = guard(low=-10.0, high=10.0)
    assert wide.take(on(9.0), 9.0, 0.0) is None
    narrow = guard(low=-0.5, high=0.5)
    assert narrow.take(on(0.6), 0.6, 0.0) is None
    refused = narrow.take(on(0.7), 0.6, 1e-3)
    assert refused == GoalOutsideLimits(joint="elbow", goal=0.7, low=-0.5, high=0.5)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_arm_may_hold_a_little_beyond_its_limits_on_either_side(side: float) -> None:
    assert guard(low=-0.5, high=0.5).take(on(0.6 * side), 0.6 * side, 0.0) is None
    refused = guard(low=-0.5, high=0.5).take(on(0.62 * side), 0.62 * side, 0.0)
    assert isinstance(refused, GoalOutsideLimits)


@pytest.mark.parametrize("before", [[], [on(0.0)], [on(0.0), OFF], [on(0.0), on(math.nan)]])
def test_a_goal_that_jumps_is_refused(before: Sequence[AxisGoal]) -> None:
    looked_at = guard(speed=5.0)
    for count, goal in enumerate(before):
        assert looked_at.take(goal, 0.0, count * PERIOD) is None
    reason = looked_at.take(on(2.0), 0.0, len(before) * PERIOD)
    assert reason == GoalJumped(joint="elbow", goal=2.0, step=2.0, speed=5.0)
    assert "parameter speed_limit" in str(reason)


def test_goals_at_full_speed_pass_though_they_arrive_unevenly_and_stop_now_and_then() -> None:
    looked_at = guard(low=-1e3, high=1e3, speed=5.0)
    goal = made = now = arrived = 0.0
    for count in range(5000):
        made += 0.5 if count % 500 == 499 else 0.01  # s; a stall of the node every now and then
        goal += 5.0 * min(made - now, 0.5)
        now = made
        late = 0.05 if count % 7 == 0 else 0.0  # between making a goal and its arrival
        arrived = max(arrived, now + late)
        assert looked_at.take(on(goal), goal, arrived) is None


def test_goals_that_are_a_little_too_fast_all_the_while_are_refused() -> None:
    looked_at = guard(low=-1e3, high=1e3, speed=5.0)
    refused = [looked_at.take(on(6.0 * 0.01 * count), 0.0, 0.01 * count) for count in range(100)]
    assert refused[1] is None
    assert any(refused)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_rest_earns_no_jump(side: float) -> None:
    looked_at = guard(speed=5.0)
    for count in range(1001):  # 10 s
        assert looked_at.take(on(0.0), 0.0, 0.01 * count) is None
    reason = looked_at.take(on(side * 5.0 * 0.2), 0.0, 10.01)
    assert reason == GoalJumped(joint="elbow", goal=side, step=1.0, speed=5.0)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_goals_that_are_late_may_catch_up_by_what_they_were_late(side: float) -> None:
    looked_at = guard(speed=5.0)
    for count in range(1001):
        looked_at.take(on(0.0), 0.0, 0.01 * count)
    assert looked_at.take(on(side * 5.0 * 0.1), 0.0, 10.01) is None
    assert looked_at.take(on(side * 5.0 * 0.2), 0.0, 10.02) is not None  # only once


def test_a_goal_after_torque_was_off_is_compared_with_where_the_joint_is() -> None:
    looked_at = guard(speed=5.0)
    assert looked_at.take(on(0.0), 0.0, 0.0) is None
    assert looked_at.take(OFF, 0.0, 0.01) is None
    assert looked_at.take(on(2.0), 2.0, 0.02) is None  # it was turned by hand
    assert looked_at.take(OFF, 2.0, 0.03) is None
    jumped = looked_at.take(on(0.0), 2.0, 0.04)
    assert jumped == GoalJumped(joint="elbow", goal=0.0, step=2.0, speed=5.0)


def test_a_joint_that_stays_behind_for_a_second_is_named_and_one_that_catches_up_is_not() -> None:
    looked_at = guard(following_error=0.5)
    for _ in range(2):
        for _ in range(1000):
            looked_at.note(0.6)
        assert looked_at.behind == looked_at.max_behind
        looked_at.note(0.4)
    for _ in range(1001):
        looked_at.note(0.6)
    assert looked_at.behind > looked_at.max_behind
    assert looked_at.complaint(0.6) == JointNotFollowing(joint="elbow", distance=0.6, limit=0.5, duration=1.0)
    anything = guard(following_error=0.0)
    anything.note(1e3)
    assert anything.behind == 0


@pytest.mark.parametrize("wrong", [0, 1])
@pytest.mark.parametrize("goal", [30.0, 1.0])
def test_torque_goes_off_on_both_drives_before_a_wrong_goal_has_any_effect(wrong: int, goal: float) -> None:
    master = Master(GoalLimits(speed=5.0), GoalLimits(speed=5.0))
    master.go(on(0.1), on(0.1), cycles=10)
    assert master.drives.torques[-1] == [333, 333]
    assert master.trip == ""
    goals = [on(0.1), on(0.1)]
    goals[wrong] = on(goal)
    master.go(*goals, cycles=3)
    assert master.drives.torques[-3:] == [[0, 0]] * 3
    assert master.trip.startswith(f"{'ab'[wrong]}: goal ")
    master.go(on(0.1), on(0.1), cycles=5)
    assert master.drives.torques[-1] == [0, 0]  # until the segment is opened anew


def test_each_drive_has_limits_of_its_own() -> None:
    master = Master(GoalLimits(low=-1.0, high=1.0), GoalLimits(low=-2.0, high=2.0))
    master.go(on(0.0), on(1.5), cycles=10)
    assert master.trip == ""
    master.go(on(1.5), on(1.5))
    assert master.trip == str(GoalOutsideLimits(joint="a", goal=1.5, low=-1.0, high=1.0))


def test_the_drive_that_does_not_follow_is_named_and_both_let_go() -> None:
    master = Master(GoalLimits(following_error=0.5), GoalLimits(following_error=0.05))
    for axis in master.cycle._axes:
        axis._guard.max_behind = 20  # cycles instead of those of a second
    master.go(on(0.1), on(0.1), cycles=40)
    assert master.trip == str(JointNotFollowing(joint="b", distance=0.1, limit=0.05, duration=1.0))
    assert master.drives.torques[-1] == [0, 0]
