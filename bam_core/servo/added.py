# SPDX-License-Identifier: Apache-2.0
"""Servos that a user has added to the library: a folder each, among the user's data."""

from __future__ import annotations

import os
from pathlib import Path


def added_folder() -> Path:
    """Return where added servos are: ``bam_bench/servos`` in ``$XDG_DATA_HOME``, or in ``~/.local/share``."""
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "bam_bench" / "servos"


def added_path(name: str) -> Path:
    """Return the path that the file of an added servo has."""
    return added_folder() / name / f"{name}.yaml"


def added_names() -> tuple[str, ...]:
    """Return the names of the servos that the user has added, sorted."""
    files = added_folder().glob("[!.]*/*.yaml")  # a folder that is being written begins with a point
    return tuple(sorted(file.stem for file in files if file.stem == file.parent.name))
