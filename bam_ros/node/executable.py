# SPDX-License-Identifier: Apache-2.0
"""An executable of `ros2 run`: a `main`, and one line where a Python module that it needs is missing.

It imports nothing that may be missing itself.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from importlib import import_module

from bam_ros.text.missing_module import missing_module

_OURS = ("bam_core", "bam_ros")  # where one of these lacks a module, that is our mistake


def run(name: str, module: str) -> int:
    """Run a module's `main` and return its exit status; 2 where it lacks a Python module.

    Args:
        name: of the executable.
        module: that has the `main`.
    """
    try:
        with _ended_by_ctrl_c():
            loaded = import_module(module)
        return int(loaded.main() or 0)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing in _OURS:
            raise
        print(missing_module(name, missing), file=sys.stderr)
        return 2


@contextlib.contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Let SIGINT end the process at once, as SIGTERM does: nothing is open yet.

    The KeyboardInterrupt of Python may be lost while modules are imported, which takes seconds: callbacks of
    weak references drop it, and so does a module that catches everything. The process would run on.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
