# SPDX-License-Identifier: Apache-2.0
"""Limits of what one input may take when it is replayed, where no fuzzing engine watches."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.target import HANG, MEMORY

_STATUS = Path("/proc/self/status")


class HangError(Exception):
    """An input took more time of the processor than `HANG`."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise HangError where the work takes longer than inputs may, AssertionError where it takes more memory.

    Time is that of the processor: other work on the machine does not count.
    """

    def stop(*_: object) -> None:
        raise HangError(f"takes more than {HANG:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
    Path("/proc/self/clear_refs").write_text("5")  # begin a new peak
    resident = _memory("VmRSS")
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)
    grown = _memory("VmHWM") - resident
    assert grown < MEMORY, f"takes {grown >> 20} MB"


def _memory(field: str) -> int:
    line = next(each for each in _STATUS.read_text().splitlines() if each.startswith(f"{field}:"))
    return int(line.split()[1]) << 10
