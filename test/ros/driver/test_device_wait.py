# SPDX-License-Identifier: Apache-2.0
"""A start waits for a device that is away, not for one that is wrong."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import Conflict, Unavailable
from bam_ros.driver.device_wait import DeviceWait
from bam_ros.driver.servo_bus import BusGone

AWAY = BusGone("port /dev/ttyUSB0", "does not exist", advice="plug it in")
DEAF = Unavailable("id 1", "no answer", advice="check its cable")
WRONG = Conflict("joint", "not in position mode", advice="set its limits")


@pytest.mark.parametrize(("longest", "over"), [(0.0, [True]), (2.0, [False, False, True])])
def test_the_wait_ends_after_its_time(longest: float, over: list[bool]) -> None:
    wait = DeviceWait(longest, 10.0)
    assert [wait.is_over(AWAY, 10.0 + second) for second in range(len(over))] == over


def test_without_limit_it_does_not_end() -> None:
    assert not DeviceWait(math.inf, 0.0).is_over(AWAY, 1e9)


def test_a_device_that_is_wrong_is_refused_at_once() -> None:
    assert DeviceWait(math.inf, 0.0).is_over(WRONG, 0.0)


@pytest.mark.parametrize("failure", [DEAF, WRONG])
def test_a_device_that_has_just_come_may_fail_twice(failure: Unavailable | Conflict) -> None:
    wait = DeviceWait(math.inf, 0.0)
    wait.line(AWAY)
    assert [wait.is_over(failure, 1.0) for _ in range(3)] == [False, False, True]


def test_failures_of_a_device_that_goes_again_count_anew() -> None:
    wait = DeviceWait(math.inf, 0.0)
    failures = (DEAF, DEAF, AWAY, DEAF, DEAF)
    assert not any(wait.is_over(failure, 1.0) for failure in failures)


def test_what_is_waited_for_is_said_once() -> None:
    wait = DeviceWait(30.0, 0.0)
    first = wait.line(AWAY)
    assert " 30 s " in first
    assert first.endswith(str(AWAY))
    assert wait.line(AWAY) == ""
    assert wait.line(DEAF) == ""  # it may pass, and is raised where it does not
    assert wait.line(BusGone("id 1", "no answer", advice="check it")).endswith("check it")
    assert "inf" not in DeviceWait(math.inf, 0.0).line(AWAY)
