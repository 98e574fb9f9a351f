# SPDX-License-Identifier: Apache-2.0
"""The clock of a virtual bus that stands still while the machine does not run the bus.

A servo's own clock never stops. The thread that plays it gets no processor for seconds on a busy machine; a
client that was silent for 0.1 s would then lose its torque to the servo's bus watchdog.
"""

from __future__ import annotations

LONGEST_STEP = 0.25
"""How far the clock goes on between two looks at it, s: five idle periods. A recording with such a gap in its
stamps is not used (`bam_ros.recorder`), so nobody takes the servo's pause for its motion."""


class ServedClock:
    """Follows the machine's clock, but for the times at which nobody looked at it for long.

    Args:
        time: time.monotonic() at the start, s.
    """

    def __init__(self, time: float) -> None:
        self._last = time
        self._stood_still = 0.0

    def at(self, time: float, *, intended: float = 0.0, idle: bool = False) -> float:
        """Return the bus's time at the machine's time `time`, s.

        Args:
            time: time.monotonic(), s; not before the last one.
            intended: how long the caller meant to wait since its last call (bytes on the wire), s.
            idle: no client sent anything; silence counts all the same.
        """
        step = time - self._last
        self._stood_still += max(0.0, step - intended - LONGEST_STEP)
        self._last = time
        return time - self._stood_still
