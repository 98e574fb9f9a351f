# SPDX-License-Identifier: Apache-2.0
"""Goals begin where the servo is, and never move faster than they may, whatever rate the loop has."""

from __future__ import annotations

import itertools
import math

import pytest

from test.ros.stepped_bus import SteppedBus, SteppedLoop

RATES = pytest.mark.parametrize("rate", [10.0, 20.0, 50.0, 500.0, 2000.0])


def moved(goals: list[float]) -> list[float]:
    return [abs(b - a) for a, b in itertools.pairwise(goals)]


def positions(stepped: SteppedLoop, seconds: float, goal: float) -> list[float]:
    return [told.position[0] for told in stepped.run(seconds, joint=goal) if told.torque_enable[0]]


@RATES
def test_after_torque_on_the_goal_leaves_where_the_servo_is_at_its_own_speed(rate: float) -> None:
    stepped = SteppedLoop(SteppedBus(position=0.9, step=1.0 / rate), torque_on_speed=0.5)
    goals = positions(stepped, 6.0, -0.9)
    assert goals[0] == 0.9
    assert max(moved(goals)) == pytest.approx(0.5 / rate)
    arrived = goals.index(-0.9)
    # One period passes before the first step, and the first step of a slow loop counts as a stall.
    assert arrived / rate == pytest.approx(1.8 / 0.5, abs=2.0 / rate)


@RATES
def test_after_it_has_caught_up_the_goal_moves_with_the_limit_of_speed(rate: float) -> None:
    stepped = SteppedLoop(SteppedBus(step=1.0 / rate), speed_limit=2.0)
    positions(stepped, 1.0, 0.0)
    goals = positions(stepped, 2.0, 1.5)
    assert max(moved(goals)) == pytest.approx(2.0 / rate)
    assert goals[-1] == 1.5


def test_a_goal_within_the_limit_of_speed_is_told_as_it_is() -> None:
    stepped = SteppedLoop(SteppedBus(), speed_limit=20.0)
    positions(stepped, 0.1, 0.0)
    for number in range(1, 200):
        goal = math.sin(number * 0.002 * 12.0)  # as fast as the fastest script
        assert positions(stepped, 0.002, goal) == [goal]


@pytest.mark.parametrize("rate", [20.0, 500.0])
def test_after_a_stall_the_goal_goes_on_where_it_was(rate: float) -> None:
    stepped = SteppedLoop(SteppedBus(step=1.0 / rate), torque_on_speed=1.0, command_timeout=100.0)
    before = positions(stepped, 0.5, 3.0)[-1]
    stepped.bus.time += 5.0
    after = positions(stepped, 1.0 / rate, 3.0)[-1]
    assert after - before <= 1.0 * max(0.02, 2.0 / rate) + 1e-9
    stepped.bus.time += 5.0  # and once more, right after the first
    again = positions(stepped, 1.0 / rate, 3.0)[-1]
    assert again - after <= 1.0 * max(0.02, 2.0 / rate) + 1e-9


def test_time_that_stands_still_moves_no_goal() -> None:
    stepped = SteppedLoop(SteppedBus(), torque_on_speed=1.0)
    before = positions(stepped, 0.5, 3.0)[-1]
    stepped.bus.step = 0.0
    for _ in range(1000):
        stepped.command(3.0)
        stepped.loop.step()
    assert stepped.bus.goals[-1].position[0] == pytest.approx(before, abs=0.002 + 1e-9)
    stepped.bus.step = 0.002
    goals = positions(stepped, 0.1, 3.0)
    assert max(moved([before, *goals])) <= 2.0 * 0.002 + 1e-9


def test_torque_without_a_position_holds_the_servo_where_it_is() -> None:
    stepped = SteppedLoop(SteppedBus(position=0.7))
    assert set(positions(stepped, 0.1, math.nan)) == {0.7}


def test_the_limit_also_holds_where_torque_on_may_be_faster() -> None:
    stepped = SteppedLoop(SteppedBus(position=0.9), torque_on_speed=50.0, speed_limit=1.0)
    assert max(moved(positions(stepped, 1.0, -0.9))) == pytest.approx(0.002)
