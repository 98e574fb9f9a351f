# SPDX-License-Identifier: Apache-2.0
"""A Python module that an executable lacks, in one line with the cure.

Imports nothing that may be missing itself.
"""

from __future__ import annotations

import sys

_SOURCED = ("rclpy", "ament_index_python")  # come with ROS 2 alone
_PACKAGES = {"serial": "pyserial", "yaml": "PyYAML"}
"""Module -> package of the Python index, where the names differ."""


def missing_module(name: str, missing: str) -> str:
    """Return what a missing module means, in the form of `bam_core.errors`, which itself needs one.

    Args:
        name: of the executable.
        missing: module, without what is inside it.
    """
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
