# SPDX-License-Identifier: Apache-2.0
"""Whether a bench is recorded fast enough to see friction change."""

from __future__ import annotations

from bam_ros.text.recorder_notices import FewStates

LEAST_RATE = 90.0
"""Hz. Recordings of an STS3215 at 100 Hz determine its friction. A USB adapter whose latency timer has its
default of 16 ms gives about 60."""


def rate_warning(states: int, duration: float) -> FewStates | None:
    """Return a warning about a run with few states per second; None where they are enough.

    Args:
        states: of the run.
        duration: of the script, s.
    """
    rate = states / duration
    return None if rate >= LEAST_RATE else FewStates(rate=rate, least=LEAST_RATE)
