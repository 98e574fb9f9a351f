# SPDX-License-Identifier: Apache-2.0
"""The measured real-time factor is a mean over the recent past, and 0 while the simulation stands."""

from __future__ import annotations

import math

import pytest

from bam_ros.simulator.speed_meter import SPAN, SpeedMeter


class Run:
    """A simulation that passes at a speed of the test's choice."""

    def __init__(self) -> None:
        self.now, self.simulated = 50.0, 7.0
        self.meter = SpeedMeter(monotonic=lambda: self.now)

    def go_on(self, seconds: float, factor: float) -> float:
        for _ in range(round(seconds / 1e-3)):
            self.now += 1e-3
            self.simulated += factor * 1e-3
            self.meter.note(self.simulated)
        return self.meter.factor


def test_nothing_is_known_at_first() -> None:
    assert math.isnan(Run().meter.factor)


@pytest.mark.parametrize("factor", [0.25, 1.0, 30.0])
def test_a_steady_speed_is_measured(factor: float) -> None:
    assert Run().go_on(1.0, factor) == pytest.approx(factor)


def test_what_is_longer_ago_does_not_count() -> None:
    run = Run()
    run.go_on(10.0, 5.0)
    assert 1.0 < run.go_on(0.5 * SPAN, 1.0) < 5.0
    assert run.go_on(SPAN, 1.0) == pytest.approx(1.0)


def test_a_simulation_that_stands_has_none() -> None:
    run = Run()
    run.go_on(3.0, 1.0)
    assert run.go_on(2.0 * SPAN, 0.0) == 0.0
