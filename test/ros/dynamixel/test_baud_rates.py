# SPDX-License-Identifier: Apache-2.0
"""Servos at several baud rates on one bus are refused in one line with the rate of each."""

from __future__ import annotations

import re

import pytest

from bam_core.errors import BamError, Conflict
from test.ros.dynamixel.wired_bus import WiredBus, wired_bus

MIXED = ("ax12a,mx28_2,xm430_w350", (57600, 1_000_000, 4_000_000))
ALIKE = ("sts3215", (1_000_000, 500_000, 115_200))


def set_rates(wired: WiredBus, rates: tuple[int, ...]) -> None:
    for servo, rate in zip(wired.servos, rates, strict=True):
        servo.registers.set("baud_rate", servo.table.baud_value(rate))


def named(error: BamError) -> dict[int, int]:
    """Return id -> rate of each that the line names."""
    return {int(servo): int(rate) for servo, rate in re.findall(r"id (\d+)[^,;(]*? (\d+) baud", str(error))}


@pytest.mark.parametrize(("servos", "rates"), [MIXED, ALIKE])
def test_each_servo_is_named_with_its_rate(
    servos: str, rates: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servos, 3, opened=False) as wired:
        set_rates(wired, rates)
        with pytest.raises(Conflict) as refused:
            wired.bus.open()
        assert "\n" not in str(refused.value)
        assert named(refused.value) == dict(enumerate(rates, 1))


@pytest.mark.parametrize(("servos", "rates"), [MIXED, ALIKE])
def test_so_they_are_beside_a_silent_one(
    servos: str, rates: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with wired_bus(monkeypatch, servos, 3, opened=False) as wired:
        set_rates(wired, rates)
        wired.deafen(0)
        with pytest.raises(BamError, match="no answer from id 1") as refused:
            wired.bus.open()
        assert {2: rates[1], 3: rates[2]}.items() <= named(refused.value).items()
