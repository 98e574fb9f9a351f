# SPDX-License-Identifier: Apache-2.0
"""Whether a bench is recorded fast enough to see friction change."""

from __future__ import annotations

LEAST_RATE = 90.0
"""Hz. Recordings of an STS3215 at 100 Hz determine its friction. A USB adapter whose latency timer has its
default of 16 ms gives about 60."""


def rate_warning(states: int, duration: float) -> str:
    """Return a warning about a run with few states per second; empty where they are enough.

    Args:
        states: of the run.
        duration: of the script, s.
    """
    rate = states / duration
    if rate >= LEAST_RATE:
        return ""
    return (
        f"the driver reports {rate:.0f} states per second ({LEAST_RATE:.0f} or more expected), which hides "
        "how friction changes near standstill; set the adapter's latency timer to 1 ms, or use a higher "
        "baud rate"
    )
