# SPDX-License-Identifier: Apache-2.0
"""How recording ends before its time."""

from __future__ import annotations

from bam_core.errors import Unavailable


class DriverSilent(Unavailable):
    """A driver publishes no states any more.

    Attributes:
        duration: longest time without states, s.
    """

    def __init__(self, duration: float, topic: str) -> None:
        """Compose the line.

        Args:
            duration: longest time without states, s.
            topic: of the states.
        """
        self.duration = duration
        super().__init__(
            "driver",
            f"silent for {duration:g} s (no message on {topic})",
            advice="look at its log, then record again",
        )


class RecordingStopped(Exception):  # noqa: N818
    """Somebody asked for the end: a cancelled goal, a signal, Ctrl-C."""
