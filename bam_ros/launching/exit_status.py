# SPDX-License-Identifier: Apache-2.0
"""The exit status of a launch whose required node has failed: launch itself ends with 0."""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
from pathlib import Path


def exit_status(returncode: int) -> int:
    """Return the exit status of a process as shells count it: 128 and the number of the signal that ended it.

    Args:
        returncode: of the process; negative where a signal ended it.
    """
    return returncode if returncode >= 0 else 128 - returncode


def fail_launch(reason: str, status: int) -> None:
    """Let the launch that runs end as failed; called in its loop.

    Every launch then returns 1, as after an exception of its own. `ros2 launch` ends with the status itself,
    so that systemd and scripts know the bad parameter (2) from the crash.

    Args:
        reason: in one line.
        status: of the process that failed.
    """
    asyncio.get_running_loop().call_exception_handler({"message": reason})
    if not _failed and Path(sys.argv[0]).name == "ros2" and "launch" in sys.argv:
        atexit.register(_end, status)
    _failed.append(status)


_failed: list[int] = []  # the first one counts: others end because of it


def _end(status: int) -> None:
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)
