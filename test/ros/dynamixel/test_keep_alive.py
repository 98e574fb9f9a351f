# SPDX-License-Identifier: Apache-2.0
"""While the driver waits for late answers, servos and guardian do not take it for dead."""

from __future__ import annotations

import pytest

from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.dynamixel.servo import WATCHDOG
from test.ros.dynamixel.wired_bus import WiredBus, wired_bus


def lose_answers(wired: WiredBus, servo: int, times: int) -> None:
    """Lose the next answers of one servo to writes, as where the machine has no time for its emulator."""
    lost = iter(range(times))

    def answered(data: bytes) -> bytes:
        confirms = len(data) == 11 and data[4] == servo
        return b"" if confirms and next(lost, None) is not None else data

    wired.port.answered = answered


def test_a_servo_that_is_switched_on_late_trips_no_watchdog_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with wired_bus(monkeypatch, "xm430_w350", 2) as wired:
        on = ServoGoal(torque_enable=(True, True), position=(0.0, 0.0))
        lose_answers(wired, 2, times=3)
        began = wired.port.now
        sample = wired.bus.exchange(on)
        assert wired.port.now - began > WATCHDOG
        assert sample.torque_enabled == (True, True)
        assert all(servo.registers.get("bus_watchdog") > 0 for servo in wired.servos)
        wired.bus._next_check = 0.0
        assert wired.bus.exchange(on).torque_enabled == (True, True)


@pytest.mark.parametrize("servo", ["mx106", "xm430_w350", "h54_200_s500_r", "sts3215"])
def test_the_guardian_hears_of_a_driver_that_waits(servo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with wired_bus(monkeypatch, servo) as wired:
        wired.bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,)))
        beats: list[float] = []
        watch = wired.bus._watch
        assert watch is not None
        monkeypatch.setattr(watch._guardian, "beat", lambda now, torque: beats.append(wired.port.now))
        began = wired.port.now
        wired.port.drain(0.3)
        assert wired.port.now - began >= 0.3
        gaps = [after - before for before, after in zip([began, *beats], beats, strict=False)]
        assert max(gaps) < 0.1
        assert beats[-1] > began + 0.2
