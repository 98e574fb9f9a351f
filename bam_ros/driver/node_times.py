# SPDX-License-Identifier: Apache-2.0
"""Times of a servo node that no user has to choose."""

from __future__ import annotations

from dataclasses import dataclass

from bam_ros.driver.gains_hold import HOLD_TIME


@dataclass(frozen=True, kw_only=True)
class NodeTimes:
    """Times in s.

    Attributes:
        hold: for which a client holds gains without renewing that.
        device_poll: between two attempts to open a bus whose device is away at the start; as long as between
            those of one that was lost later.
        first_sample: for which activation waits for the first sample; lost ones are a fault long before.
        ignored: for which diagnostics name the reason why a command was ignored.
    """

    hold: float = HOLD_TIME
    device_poll: float = 1.0
    first_sample: float = 5.0
    ignored: float = 2.0
