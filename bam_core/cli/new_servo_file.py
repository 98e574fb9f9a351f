# SPDX-License-Identifier: Apache-2.0
"""The file that ``bam servos new`` writes."""

from __future__ import annotations

from pathlib import Path

from bam_core.errors import Missing, NotWritable, WrongType


def new_file(given: str | None) -> Path:
    """Return the path of the servo file; refuse other kinds of files, and a file that exists."""
    from bam_core.files.atomic_file import require_file

    if given is None:
        raise Missing("FILE", "the servo file to write, such as my_servo.yaml", advice="name it")
    path = Path(given)
    if path.suffix not in (".yaml", ".yml"):
        raise WrongType("FILE", given, "the name of a servo file, such as my_servo.yaml")
    require_file(path)
    if path.exists():
        raise NotWritable(path, "exists", expected="a new file", advice="choose another name, or remove it")
    return path
