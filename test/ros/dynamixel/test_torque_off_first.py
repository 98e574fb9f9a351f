# SPDX-License-Identifier: Apache-2.0
"""Torque goes off on all servos that can be reached before the driver waits for one that cannot."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import BamError
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal
from test.ros.dynamixel.wired_bus import WiredBus, wired_bus

BUSES = ("mx106", "xm430_w350", "mx106,xm430_w350,mx106", "sts3215")
AT_ONCE = 2e-3  # s; less than any wait for an answer


def goal(*torque: bool) -> ServoGoal:
    return ServoGoal(torque_enable=torque, position=(0.0,) * len(torque))


def switched_on(wired: WiredBus) -> None:
    wired.bus.exchange(goal(False, True, True))
    assert wired.torques() == [False, True, True]


@pytest.mark.parametrize("servo", BUSES)
def test_a_silent_joint_that_goes_on_keeps_no_other_from_going_off(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 3) as wired:
        switched_on(wired)
        wired.deafen(0)
        off, began = wired.note_writes(2, "torque_enable"), wired.port.now
        with pytest.raises(BusTimeout):
            wired.bus.exchange(goal(True, True, False))
        assert off[0][1] == 0
        assert off[0][0] - began < AT_ONCE


@pytest.mark.parametrize("servo", BUSES)
def test_nothing_is_switched_on_before_torque_went_off_elsewhere(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 3) as wired:
        switched_on(wired)
        on, off = wired.note_writes(0, "torque_enable"), wired.note_writes(2, "torque_enable")
        wired.bus.exchange(goal(True, True, False))
        assert wired.torques() == [True, True, False]
        assert off[0][0] <= on[0][0]


@pytest.mark.parametrize("servo", BUSES)
def test_a_joint_beyond_its_limits_keeps_no_other_from_going_off(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 3) as wired:
        switched_on(wired)
        beyond = ServoGoal(torque_enable=(True, True, False), position=(9.0, math.nan, math.nan))
        with pytest.raises(BamError, match="joint1"):
            wired.bus.exchange(beyond)
        assert wired.torques() == [False, True, False]


@pytest.mark.parametrize("servo", BUSES)
@pytest.mark.parametrize("way_out", ["goal", "release"])
def test_a_lost_packet_for_all_is_made_good_before_a_silent_joint_is_waited_for(
    servo: str, way_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 3) as wired:
        wired.bus.exchange(goal(True, True, True))
        wired.deafen(0)
        off, began = wired.note_writes(2, "torque_enable"), wired.port.now
        lost = iter((b"",))
        wired.port.asked = lambda data: next(lost, data)
        if way_out == "release":
            wired.bus.release()
            assert wired.bus.unreleased == ("joint1",)
        else:
            with pytest.raises(BusTimeout, match="id 1"):
                wired.bus.exchange(goal(False, False, False))
        # The state is asked for once, and one confirmation of the silent joint is waited for.
        assert off[0][0] - began < 0.15
        assert wired.torques()[1:] == [False, False]


@pytest.mark.parametrize("servo", BUSES)
def test_opening_releases_all_before_the_first_is_made_ready(
    servo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servo, 3, opened=False) as wired:
        for emulated in wired.servos:
            emulated.registers.set("torque_enable", 1)
        first, last = (wired.note_writes(place, "torque_enable") for place in (0, 2))
        wired.bus.open()
        assert last[0][1] == 0
        assert last[0][0] - first[0][0] < AT_ONCE / 2
