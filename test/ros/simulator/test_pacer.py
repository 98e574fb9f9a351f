# SPDX-License-Identifier: Apache-2.0
"""Simulated time follows the wall clock without drift, and gives up what it cannot make up for."""

from __future__ import annotations

import pytest

from bam_ros.simulator.pacer import CATCH_UP, Pacer
from test.ros.simulator_time import FakeTime


@pytest.mark.parametrize("factor", [0.25, 1.0, 4.0])
def test_late_wake_ups_do_not_add_up(factor: float) -> None:
    time = FakeTime()
    pacer = time.pacer(factor)
    simulated = 0.0
    for _ in range(1000):
        simulated = pacer.wait(simulated, 2e-3)
        assert simulated == pytest.approx((time.now - 100.0) * factor, abs=1e-9)
    assert simulated >= 2.0
    assert pacer.lost == 0.0


def test_a_late_caller_catches_up_at_once() -> None:
    time = FakeTime()
    pacer = time.pacer(1.0)
    time.now += 0.05
    assert pacer.wait(0.0, 2e-3) == pytest.approx(0.05)
    assert time.slept == 0.0


def test_a_stall_is_given_up_and_counted() -> None:
    time = FakeTime()
    pacer = time.pacer(1.0)
    time.now += 5.0
    assert pacer.wait(0.0, 2e-3) == pytest.approx(CATCH_UP)
    assert pacer.lost == pytest.approx(5.0 - CATCH_UP)
    assert pacer.stamp(CATCH_UP) == round(time.now * 1e9)
    assert pacer.wait(CATCH_UP, 2e-3) == pytest.approx(CATCH_UP + 2e-3, abs=1e-4)


def test_a_single_stall_is_no_lag() -> None:
    time = FakeTime()
    pacer = time.pacer(1.0)
    time.now += 5.0
    simulated = pacer.wait(0.0, 2e-3)
    assert pacer.lag() == 0.0
    for _ in range(200):
        simulated = pacer.wait(simulated, 20e-3)
        assert pacer.lag() == 0.0


def test_a_machine_that_is_too_slow_lags_until_it_is_not() -> None:
    time = FakeTime()
    pacer = time.pacer(1.0)
    simulated = 0.0
    while time.now < 110.0:
        simulated = pacer.wait(simulated, 2e-3)
        time.now += 0.25  # what a step of 0.1 s at most takes
    assert pacer.lag() == pytest.approx(0.6, abs=0.1)
    for _ in range(300):
        simulated = pacer.wait(simulated, 20e-3)
    assert pacer.lag() == 0.0


def test_without_a_factor_nothing_waits() -> None:
    time = FakeTime()
    pacer = time.pacer(0.0)
    assert pacer.wait(3.0, 2e-3) == 3.0 + 2e-3
    assert time.slept == 0.0


def test_stamps_are_the_wall_times_of_simulated_times() -> None:
    time = FakeTime()
    pacer = time.pacer(2.0)
    assert pacer.stamp(1.0) == round(100.5 * 1e9)
    time.now = 200.0
    pacer.restart(7.0)
    assert pacer.stamp(7.0) == 200_000_000_000


@pytest.mark.parametrize("factor", [0.0, 0.1, 1.0, 4.0])
def test_a_stamp_and_its_simulated_time_belong_together(factor: float) -> None:
    pacer = Pacer(factor, monotonic=lambda: 5.0, wall=lambda: 1_700_000_000_000_000_000)
    pacer.restart(3.0)
    assert pacer.simulated(1_700_000_000_000_000_000) == 3.0
    for simulated in (0.0, 3.5, 100.0):
        assert pacer.simulated(pacer.stamp(simulated)) == pytest.approx(simulated, abs=1e-6)
