# SPDX-License-Identifier: Apache-2.0
"""How an emulator ends; how its command waits: for lines that it executes, until a signal or end of input."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable

CLIENT_TIMEOUT = 4.0
"""How long a node that emulates servos goes on answering, after a signal, while a client uses them, s.

Ctrl-C reaches driver and emulated servos at once, and the driver has to turn torque off. `ros2 launch` sends
SIGTERM after 5 s.
"""
_STOP = (signal.SIGINT, signal.SIGTERM)


def stop_signals() -> int:
    """Take SIGINT and SIGTERM over; return a file descriptor that becomes readable with the first of them.

    Waiting for the signals themselves would not do: threads of numerical libraries receive them, too.
    """
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in _STOP:
        signal.signal(number, lambda number, frame: None)
    return readable


def serve(stopped: int, execute: Callable[[str], str] | None) -> None:
    """Execute lines from standard input until it ends, or just wait, until a signal comes.

    Args:
        stopped: of `stop_signals`.
        execute: from a line to its answer; None: input is not read.
    """
    poll = select.poll()
    poll.register(stopped, select.POLLIN)
    if execute is not None:
        poll.register(sys.stdin.fileno(), select.POLLIN)
    rest = b""
    while True:
        for which, _ in poll.poll():
            if which == stopped or execute is None:
                return
            data = os.read(which, 4096)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                print(execute(line.decode(errors="replace")), flush=True)


def ignore_signals() -> None:
    """Let one more signal not change how the process ends."""
    for number in _STOP:
        signal.signal(number, signal.SIG_IGN)
