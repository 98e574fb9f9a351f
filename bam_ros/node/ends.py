# SPDX-License-Identifier: Apache-2.0
"""What ends a process of nodes from outside: signals, and the end of the `ros2` command that started it."""

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
    """Becomes true once the `ros2 launch` or `ros2 run` that started this process has gone.

    At SIGTERM (of systemd, of docker) or kill -9 these end without ending their nodes, which would hold their
    servos for ever. A node that another program started outlives that program, as usual: see `OrphanWatch`.
    """

    def __init__(self) -> None:
        parent = os.getppid()
        self._launch = parent if _is_ros2(parent) else None

    def __call__(self) -> bool:
        """Return whether the process shall end."""
        return self._launch is not None and os.getppid() != self._launch


class OrphanWatch:
    """Becomes true once the process that started this one, such as a shell in a terminal, has gone.

    A service of systemd or the first process of a container has no such parent: it is never true there.
    """

    def __init__(self) -> None:
        self._parent = os.getppid()

    def __call__(self) -> bool:
        """Return whether nobody is left who started this process."""
        return os.getppid() != self._parent


def _is_ros2(process: int) -> bool:
    """Return whether a process is `ros2 launch` or `ros2 run`, by its command line."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    is_run = b"run" in words and any(Path(word.decode(errors="replace")).name == "ros2" for word in words)
    return b"launch" in words or is_run
