# SPDX-License-Identifier: Apache-2.0
"""The clock of a virtual bus on a machine that does not always run it."""

from __future__ import annotations

import time

import pytest

from bam_ros.emulators.dynamixel.served_clock import LONGEST_STEP, ServedClock
from test.ros.virtual_helpers import virtual_bus


def test_it_follows_the_machine():
    clock = ServedClock(100.0)
    assert [clock.at(100.0 + 0.05 * i) for i in range(4)] == pytest.approx([100.0, 100.05, 100.1, 100.15])


def test_it_stands_still_while_nobody_looks_and_goes_on_from_there():
    clock = ServedClock(100.0)
    assert clock.at(103.0) == pytest.approx(100.0 + LONGEST_STEP)
    assert clock.at(103.05) == pytest.approx(100.05 + LONGEST_STEP)


def test_time_that_was_meant_to_pass_passes():
    assert ServedClock(100.0).at(103.0, intended=2.9) == pytest.approx(103.0)


def test_a_bus_that_got_no_processor_does_not_take_its_client_for_dead():
    with virtual_bus("xl330", ids=(1,)) as served:
        served.client.write("bus_watchdog", 25)  # 0.5 s
        with served.server.lock:
            time.sleep(1.0)
        assert served.client.read("bus_watchdog") == 25
