# SPDX-License-Identifier: Apache-2.0
"""Limits of what one input may take, also where it is replayed and no fuzzing engine watches.

Time is that of the processor: neither other work on the machine counts nor a pause of the process.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from test.fuzz.target import HANG, MEMORY

_STATUS = Path("/proc/self/status")


class HangError(Exception):
    """An input took more time of the processor than it may."""


class Watch:
    """Raises HangError in work that takes longer than inputs may, s; costs little where it is often used."""

    def __init__(self, longest: float = HANG) -> None:
        self._longest = longest
        self._before = signal.signal(signal.SIGVTALRM, self._stop)

    def __enter__(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, self._longest)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)

    def close(self) -> None:
        """Let signals do what they did before."""
        signal.signal(signal.SIGVTALRM, self._before)

    def _stop(self, *_: object) -> None:
        raise HangError(f"takes more than {self._longest:g} s")


@contextmanager
def limited(longest: float = HANG, most: int = MEMORY) -> Iterator[None]:
    """Raise HangError where work takes longer than inputs may, AssertionError where it takes more memory."""
    Path("/proc/self/clear_refs").write_text("5")  # begin a new peak
    resident = _memory("VmRSS")
    watch = Watch(longest)
    try:
        with watch:
            yield
    finally:
        watch.close()
    grown = _memory("VmHWM") - resident
    assert grown < most, f"takes {grown >> 20} MB"


def _memory(field: str) -> int:
    line = next(each for each in _STATUS.read_text().splitlines() if each.startswith(f"{field}:"))
    return int(line.split()[1]) << 10
