# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM as a wish to end, so that a command releases its servos before it goes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call the handler for SIGINT and SIGTERM, as `signal.signal` does; the earlier ones come back after."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
