# SPDX-License-Identifier: Apache-2.0
"""A servo file is fed forward only to the servo that it describes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.errors import Conflict
from bam_core.servo.model import load_servo
from bam_ros.driver.servo_bus import ServoIdentity
from bam_ros.feedforward.settings import FeedForwardSettings
from test.ros.ros_helpers import FakeBus


def settings(*servos: str) -> FeedForwardSettings:
    return FeedForwardSettings(servos=servos, limits=[(-3.0, 3.0)] * len(servos))


def bus(*found: str) -> FakeBus:
    made = FakeBus(("hip", "knee"))
    made.servos = [ServoIdentity(servo=name, id=number) for number, name in enumerate(found, 1)]
    return made


def identified(directory: Path, servo: str, name: str = "") -> str:
    """A file such as `bam identify` leaves, of this servo."""
    model = load_servo(servo)
    replace(model, name=name or model.name).save(directory / "m4.yaml")
    return str(directory / "m4.yaml")


def test_a_file_of_another_servo_is_refused_with_both_names(tmp_path: Path) -> None:
    file = identified(tmp_path, "mx106_2")
    with pytest.raises(Conflict) as caught:
        settings("", file).for_bus(bus("mx64_2", "mx64_2"))
    assert caught.value.thing == "joint 'knee'"
    assert f"mx106_2 of {file}" in caught.value.problem
    assert "found mx64_2" in caught.value.problem


@pytest.mark.parametrize("given", ["xl330", "mx106", "xl330_bam"])
def test_a_name_of_another_servo_is_refused(given: str) -> None:
    with pytest.raises(Conflict) as caught:
        settings(given, "").for_bus(bus("mx64_2", "mx64_2"))
    assert caught.value.thing == "joint 'hip'"


@pytest.mark.parametrize(
    ("given", "found"),
    [("mx64_2", "mx64_2"), ("mx64", "mx64_2"), ("xl330_bam", "xl330"), ("mx106", ""), ("mx106", "mine")],
)
def test_the_same_motor_passes_whatever_its_firmware_and_what_the_bus_cannot_tell(
    given: str, found: str
) -> None:
    followed = settings(given, given).for_bus(bus(found, found))
    assert followed.supply == [load_servo(given).nominal_voltage] * 2


def test_a_file_is_compared_by_the_servo_in_it_and_a_name_of_ones_own_by_its_firmware(tmp_path: Path) -> None:
    settings(identified(tmp_path, "mx106_2"), "").for_bus(bus("mx106_2", "mx64_2"))
    mine = identified(tmp_path, "mx106_2", name="mine")
    settings(mine, mine).for_bus(bus("mx106_2", "mx64_2"))
    with pytest.raises(Conflict, match=r"mine of .* found xl330"):
        settings(mine, mine).for_bus(bus("mx106_2", "xl330"))
