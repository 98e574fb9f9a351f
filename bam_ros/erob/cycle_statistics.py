# SPDX-License-Identifier: Apache-2.0
"""What became of every cycle, and how even they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

PERCENTILES = (50.0, 99.0, 99.9)


@dataclass
class CycleStatistics:
    """Counts since process data began: sent = answered + lost, and lost = unanswered + wrong + stale.

    Attributes:
        sent: frames of process data sent.
        answered: came back in time with the right working counter.
        unanswered: did not come back in time.
        wrong: came back with a wrong working counter.
        stale: a frame of an earlier cycle came back instead.
        late: periods that the master missed; nothing was sent in them.
        jitter: deviation of the period, whole µs -> how often.
    """

    sent: int = 0
    answered: int = 0
    unanswered: int = 0
    wrong: int = 0
    stale: int = 0
    late: int = 0
    jitter: Counter[int] = field(default_factory=Counter)
    _largest: int = 0

    @property
    def lost(self) -> int:
        """Cycles that brought no sample."""
        return self.unanswered + self.wrong + self.stale

    def period(self, deviation: int) -> None:
        """Count the deviation of a period from its nominal length, ns."""
        deviation = abs(deviation)
        self.jitter[deviation // 1000] += 1
        if deviation > self._largest:
            self._largest = deviation

    def percentiles(self) -> Mapping[str, float]:
        """Return p50, p99, p99.9 and max of the period's deviation, µs (upper ends of bins of 1 µs)."""
        result = {f"p{share:g}": 0.0 for share in PERCENTILES}
        total = self.jitter.total()
        waiting = list(PERCENTILES)
        seen = 0
        for micros, count in sorted(self.jitter.items()):
            seen += count
            while waiting and seen >= total * waiting[0] / 100.0:
                result[f"p{waiting.pop(0):g}"] = min(micros + 1.0, self._largest / 1000.0)
        return {**result, "max": self._largest / 1000.0}

    def summary(self) -> dict[str, float]:
        """Return every figure by name; times in µs."""
        counts = {
            name: float(getattr(self, name))
            for name in ("sent", "answered", "lost", "unanswered", "wrong", "stale", "late")
        }
        return {**counts, **self.percentiles()}
