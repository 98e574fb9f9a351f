# SPDX-License-Identifier: Apache-2.0
"""SIGTERM as an end like that of Ctrl-C, for commands that keep what is finished."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

from bam_core.errors import Terminated

_ENDING = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end a search as Ctrl-C does.

    After the first signal no other counts: what is finished is being written, which takes a second.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    ended = False

    def end(number: int, _: object) -> None:
        nonlocal ended
        ended = True
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)
        raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        if not ended:
            for number, handler in before.items():
                signal.signal(number, handler)
