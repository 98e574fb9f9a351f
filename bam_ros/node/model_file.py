# SPDX-License-Identifier: Apache-2.0
"""Parameters that name a file: a path, or `package://NAME/PATH` of a ROS package."""

from __future__ import annotations

from pathlib import Path

from bam_core.errors import Unreadable
from bam_core.mujoco.packages import SEARCHED, package_file

_PACKAGE = "package://"


def model_file(name: str) -> str:
    """Return the path that a parameter names; raises Unreadable where a package or its file is not there.

    Args:
        name: a path, as it is; empty: none; or `package://NAME/PATH`.
    """
    if not name.startswith(_PACKAGE):
        return name
    package, _, rest = name.removeprefix(_PACKAGE).partition("/")
    path = package_file(package, rest, Path("robot"))
    if path is None:
        raise Unreadable(
            name,
            "is in no package",
            expected=f"the package in {SEARCHED}",
            advice="source the workspace that has it, or give a path",
        )
    return str(path)
