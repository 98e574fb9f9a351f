# SPDX-License-Identifier: Apache-2.0
"""A goal reaches its servo though the packet that brought it was damaged, and though it changes no more."""

from __future__ import annotations

import math

import pytest

from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout, ServoGoal
from test.ros.dynamixel.wired_bus import wired_bus

BUSES = ("mx106", "xm430_w350", "h54_200_s500_r", "sts3215")


def on(position: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,), position=(position,))


@pytest.mark.parametrize("servo", BUSES)
@pytest.mark.parametrize("then", [0.3, math.nan], ids=["the same", "none"])
def test_a_goal_that_was_damaged_on_the_line_is_in_force_after_the_next_cycle(
    servo: str, then: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo) as wired:
        wired.bus.exchange(on(0.0))
        table = wired.servos[0].table
        wired.port.asked = lambda data: data[:4] + bytes((data[4] ^ 4,)) + data[5:]  # first packet alone
        wired.bus.exchange(on(0.3))
        wired.port.asked = bytes
        wired.bus.exchange(on(then))
        held = wired.servos[0].registers.get("goal_position")
        assert held == table["goal_position"].from_si(0.3)


@pytest.mark.parametrize("servo", BUSES)
def test_a_goal_that_stands_is_written_twice_and_no_more(servo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with wired_bus(monkeypatch, servo) as wired:
        written = wired.note_writes(0, "goal_position")
        count = wired.servos[0].table["goal_position"].from_si
        for position in (0.0, 0.0, 0.1, 0.2, 0.2, 0.2, math.nan, 0.3, math.nan, math.nan):
            wired.bus.exchange(on(position))
        wanted = (0.0, 0.1, 0.2, 0.2, 0.3, 0.3)  # the first with torque on, confirmed
        assert [value for _, value in written] == [count(position) for position in wanted]


@pytest.mark.parametrize("servo", BUSES)
def test_a_goal_beside_a_lost_answer_is_written_again(servo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with wired_bus(monkeypatch, servo) as wired:
        wired.bus.exchange(on(0.0))
        wired.bus.exchange(on(0.3))
        wired.port.asked = lambda data: b""  # what disturbs the line disturbs it for two cycles
        for _ in range(2):
            with pytest.raises((BusTimeout, BusCorrupt)):
                wired.bus.exchange(on(0.5))
        wired.port.asked = bytes
        wired.bus.exchange(on(0.5))
        held = wired.servos[0].registers.get("goal_position")
        assert held == wired.servos[0].table["goal_position"].from_si(0.5)
