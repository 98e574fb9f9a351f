# SPDX-License-Identifier: Apache-2.0
"""What ends a process of nodes from outside: signals, and the end of the `ros2 launch` that started it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import FrameType


class StopRequest:
    """Becomes true with the first SIGINT, SIGTERM or SIGHUP; more of them change nothing.

    The handlers only set a flag, so a signal can arrive at any moment, also in the middle of a transaction
    that turns torque off.
    """

    def __init__(self) -> None:
        self._requested = False

    def install(self) -> None:
        """Take the signals over; to be called in the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        """Return whether the process shall end."""
        return self._requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._requested = True


class LaunchWatch:
    """Becomes true once the `ros2 launch` that started this process has gone.

    At SIGTERM (of systemd, of docker) or kill -9 it ends without ending its nodes, which would hold their
    servos for ever. A node that another program started outlives that program, as usual.
    """

    def __init__(self) -> None:
        parent = os.getppid()
        self._launch = parent if _is_launch(parent) else None

    def __call__(self) -> bool:
        """Return whether the process shall end."""
        return self._launch is not None and os.getppid() != self._launch


def _is_launch(process: int) -> bool:
    """Return whether a process is `ros2 launch`, by its command line."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"launch" in words
