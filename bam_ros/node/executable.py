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

_OURS = ("bam_core", "bam_ros")  # where one of these lacks a module, that is our mistake
_SOURCED = ("rclpy", "ament_index_python")  # come with ROS 2 alone
_PACKAGES = {"serial": "pyserial", "yaml": "PyYAML"}
"""Module -> package of the Python index, where the names differ."""


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
        print(_lack(name, missing), file=sys.stderr)
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


def _lack(name: str, missing: str) -> str:
    """Return what a missing module means, in the form of `bam_core.errors`, which itself needs one."""
    if missing == "bam_bench":
        cure = "source install/setup.bash of the workspace that built it"
    elif missing in _SOURCED or missing.endswith(("_msgs", "_interfaces", "_srvs")):
        cure = "source ROS 2, and install this package's dependencies: rosdep install --from-paths ."
    else:
        package = _PACKAGES.get(missing, missing)
        pip = f"{sys.executable} -m pip install {package}"
        cure = f"run `make setup` in bam_bench, which builds with all of them, or {pip}"
    problem = f"Python module {missing!r} is not installed for {sys.executable}"
    return f"{name}: {problem}; {cure}"
