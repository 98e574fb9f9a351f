# SPDX-License-Identifier: Apache-2.0
"""Health of a bus loop in figures: rate, jitter of the period, lost samples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

_WINDOW = 16384  # periods kept between two reports; later ones overwrite the oldest


@dataclass(frozen=True, kw_only=True)
class BusStatistics:
    """What happened on the bus since the last report, and in total.

    Attributes:
        rate: samples per second since the last report, 1/s.
        jitter_p50, jitter_p99, jitter_max: deviation of the period from its median since the last report, s.
        lost: share of the reads since the last report that brought no sample, 0..1.
        samples, timeouts, corrupt: totals since the loop started.
    """

    rate: float = 0.0
    jitter_p50: float = 0.0
    jitter_p99: float = 0.0
    jitter_max: float = 0.0
    lost: float = 0.0
    samples: int = 0
    timeouts: int = 0
    corrupt: int = 0


class BusCounter:
    """Collects figures in the loop (cheap) and sums them up on request (from any thread)."""

    def __init__(self) -> None:
        self.samples = 0
        self.timeouts = 0
        self.corrupt = 0
        self._periods = np.zeros(_WINDOW)
        self._count = 0
        self._last = 0.0
        self._reported = (0, 0)

    def sample(self, now: float) -> None:
        """Count a sample that arrived at `now`, s on the monotonic clock."""
        if self.samples:
            self._periods[self._count % _WINDOW] = now - self._last
            self._count += 1
        self._last = now
        self.samples += 1

    def report(self) -> BusStatistics:
        """Return the figures and start a new window."""
        count, self._count = self._count, 0
        periods = self._periods[: min(count, _WINDOW)].copy()
        statistics = BusStatistics(
            lost=self._lost_share(), samples=self.samples, timeouts=self.timeouts, corrupt=self.corrupt
        )
        if not len(periods):
            return statistics
        p50, p99, largest = np.percentile(np.abs(periods - np.median(periods)), (50, 99, 100))
        return replace(
            statistics,
            rate=float(1.0 / periods.mean()),
            jitter_p50=float(p50),
            jitter_p99=float(p99),
            jitter_max=float(largest),
        )

    def _lost_share(self) -> float:
        samples, lost = self.samples, self.timeouts + self.corrupt
        new_samples, new_lost = samples - self._reported[0], lost - self._reported[1]
        self._reported = (samples, lost)
        return new_lost / (new_samples + new_lost) if new_lost else 0.0
