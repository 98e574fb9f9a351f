# SPDX-License-Identifier: Apache-2.0
"""Runs a driver in which a signal raises an exception, as a defect of ours would: `breakable MODULE ...`.

With `--wait` before the module it is loaded, and begins when its standard input has a line.
"""

from __future__ import annotations

import importlib
import signal
import sys
from types import FrameType

from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.servo_node import ServoNode

WAIT = "--wait"
IN_LOOP, IN_CALLBACK = signal.SIGUSR1, signal.SIGUSR2
_wanted: set[int] = set()


class Defect(Exception):  # noqa: N818 - what a defect raises
    """Nobody expects it."""


def _note(number: int, frame: FrameType | None) -> None:
    _wanted.add(number)


def _break_when_asked() -> None:
    step, publish_diagnostics = ServoLoop.step, ServoNode._publish_diagnostics

    def breaking_step(self: ServoLoop) -> None:
        if IN_LOOP in _wanted:
            _wanted.discard(IN_LOOP)
            raise Defect("in the loop")
        step(self)

    def breaking_callback(self: ServoNode) -> None:
        if IN_CALLBACK in _wanted:
            _wanted.discard(IN_CALLBACK)
            raise Defect("in a callback")
        publish_diagnostics(self)

    ServoLoop.step = breaking_step  # type: ignore[method-assign]
    ServoNode._publish_diagnostics = breaking_callback  # type: ignore[method-assign]
    for number in (IN_LOOP, IN_CALLBACK):
        signal.signal(number, _note)


if __name__ == "__main__":
    waits = sys.argv[1] == WAIT
    if waits:
        del sys.argv[1]
    module = sys.argv.pop(1)
    _break_when_asked()
    node = importlib.import_module(module)
    if waits:
        sys.stdin.readline()
    raise SystemExit(node.main())
