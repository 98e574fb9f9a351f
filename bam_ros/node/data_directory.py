# SPDX-License-Identifier: Apache-2.0
"""Paths in requests, confined to one directory: whoever can call a node shall not reach the whole machine."""

from __future__ import annotations

from pathlib import Path

from bam_core.errors import OutOfRange

PARAMETER = "data_directory"
"""Name of the parameter that has the directory."""


def confined(directory: Path, path: str, field: str) -> Path:
    """Return an absolute path below a directory, links followed.

    Args:
        directory: absolute, links followed.
        path: relative to the directory, or absolute and below it.
        field: of the request, for messages.

    Raises:
        OutOfRange: it leads out of the directory, by `..`, a link or because it is absolute, or is no path.
    """
    try:
        resolved = (directory / path).resolve()
        resolved.exists()  # which fails for a name that is too long
        inside = resolved.is_relative_to(directory)
    except (OSError, ValueError, RuntimeError):  # too long, with a zero byte, links in a circle
        inside = False
    if not inside:
        raise OutOfRange(
            field,
            path,
            f"a path below {directory}",
            advice=f"move it there or set the parameter {PARAMETER}",
        )
    return resolved
