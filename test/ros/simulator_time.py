# SPDX-License-Identifier: Apache-2.0
"""A clock for tests of the simulator, by which no machine is too slow."""

from __future__ import annotations

from bam_ros.simulator.pacer import Pacer


class FakeTime:
    """A clock that only sleeping and the test advance; sleeping takes a little too long, as it does."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept = 0.0

    def sleep(self, duration: float) -> None:
        self.slept += duration
        self.now += duration + 50e-6

    def pacer(self, factor: float) -> Pacer:
        return Pacer(factor, monotonic=lambda: self.now, sleep=self.sleep, wall=lambda: round(self.now * 1e9))
