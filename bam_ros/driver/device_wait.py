# SPDX-License-Identifier: Apache-2.0
"""Whether a driver that finds no device at its start looks for it again."""

from __future__ import annotations

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.servo_bus import BusGone

_OTHER_FAILURES = 3
"""Failures of another kind in a row that end the wait.

A port that was just plugged in may belong to nobody yet, or to a program that looks for modems; a drive that
just got power may not answer everything.
"""


class DeviceWait:
    """The attempts to open a bus at the start of a driver.

    Args:
        longest: time that may pass until the device is there, s; infinite: any time; 0: none.
        now: time of the first attempt, s.
    """

    def __init__(self, longest: float, now: float) -> None:
        self._longest = longest
        self._end = now + longest
        self._reason = ""
        self._others = 0

    def is_over(self, failure: BamError, now: float) -> bool:
        """Return whether this failure of an attempt is the end of the wait.

        Args:
            failure: why the bus did not open; `BusGone` where the device is not there.
            now: s.
        """
        if now >= self._end:
            return True
        if isinstance(failure, BusGone):
            self._others = 0
            return False
        self._others += 1
        lasting = not self._reason and not isinstance(failure, Unavailable)
        return lasting or self._others >= _OTHER_FAILURES

    def line(self, failure: BamError) -> str:
        """Return what is waited for, in one line; empty where that is known already."""
        if not isinstance(failure, BusGone) or str(failure) == self._reason:
            return ""
        self._reason = str(failure)
        limit = "" if self._longest == float("inf") else f" for at most {self._longest:g} s"
        return f"waiting{limit} for the device: {failure}"
