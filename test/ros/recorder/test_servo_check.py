# SPDX-License-Identifier: Apache-2.0
"""A session is only recorded with the servo that it is written for, which has to hold every gain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bam_bench.msg import ServoConfiguration

from bam_core.errors import Conflict, OutOfRange
from bam_core.servo.model import load_servo
from bam_ros.recorder.servo_check import require_gains, require_same_servo
from test.ros.recorder_bench import short_session


def found(servo: str, identifier: int) -> ServoConfiguration:
    return ServoConfiguration(name=["elbow", "joint"], servo=["xl330", servo], id=[7, identifier])


@pytest.mark.parametrize(
    ("servo", "identifier"),
    [("mx106", 1), ("mx106", -1), ("", 1), ("", -1), ("a file of somebody's own", -1)],
)
def test_the_same_servo_passes_and_what_a_driver_cannot_tell_is_not_compared(
    servo: str, identifier: int
) -> None:
    require_same_servo(short_session(), found(servo, identifier))


def test_another_servo_is_refused_by_name() -> None:
    with pytest.raises(Conflict, match=r"mx106, .* xl330 as joint 'joint'"):
        require_same_servo(short_session(), found("xl330", 1))


def test_another_firmware_of_the_same_servo_is_another_servo() -> None:
    with pytest.raises(Conflict, match="mx106_2"):
        require_same_servo(short_session(), found("mx106_2", 1))


def test_another_id_is_refused_by_number() -> None:
    with pytest.raises(Conflict, match=r"id is 3, .* id 1"):
        require_same_servo(short_session(id=3), found("mx106", 1))


def test_a_servo_of_ones_own_has_to_have_the_same_firmware() -> None:
    session = short_session(servo=replace(load_servo("mx106"), name="mine"))
    require_same_servo(session, found("mx106", 1))
    with pytest.raises(Conflict, match=r"mine, .* xl330"):
        require_same_servo(session, found("xl330", 1))


@pytest.mark.parametrize("servo", ["mx106", "", "a file of somebody's own"])
def test_gains_that_the_register_cannot_hold_are_all_named_before_the_first_run(servo: str) -> None:
    session = short_session(gains=(8.0, 8.5, 254.0, 300.0))
    with pytest.raises(OutOfRange, match="0 to 254 for MX-106") as caught:
        require_gains(session, found(servo, 1))
    assert caught.value.value == [8.5, 300.0]
    require_gains(short_session(gains=(8.0, 254.0)), found(servo, 1))


def test_gains_of_a_servo_without_a_bus_are_its_drivers_business() -> None:
    require_gains(short_session(gains=(300.0,)), found("mx106", -1))
    unknown = short_session(gains=(300.0,), servo=replace(load_servo("mx106"), name="mine"))
    require_gains(unknown, found("", 1))
