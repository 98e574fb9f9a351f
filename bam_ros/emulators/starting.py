# SPDX-License-Identifier: Apache-2.0
"""How the command of an emulator starts: at once with a line, for its imports take seconds."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from bam_ros.text.emulator_notices import EmulatorStarts

_INTERRUPTED = 130
_CLOSED = 141  # as of a program that SIGPIPE ends


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(_INTERRUPTED)  # nothing is open yet


def begin(argv: Sequence[str] | None, start: EmulatorStarts) -> list[str]:
    """Print what starts, and let an interrupt before the command serves end it quietly.

    Args:
        argv: arguments of the command; None: those of the process.
        start: what to print.

    Returns:
        The arguments.
    """
    signal.signal(signal.SIGINT, _leave)
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not {"-h", "--help"} & set(arguments):
        try:
            print(start, flush=True)
        except BrokenPipeError:
            raise SystemExit(output_closed()) from None
    return arguments


def output_closed() -> int:
    """Return the exit status of a command whose output nobody reads any more; it prints nothing further."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _CLOSED
