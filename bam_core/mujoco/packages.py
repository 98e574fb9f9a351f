# SPDX-License-Identifier: Apache-2.0
"""Where files of ROS packages lie: `package://NAME/PATH`, with ROS 2, ROS 1 or neither sourced."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

FOLDER_VARIABLE = "BAM_MODEL_FOLDER"
"""Environment variable with a folder that holds all files of a model, where they are not beside it."""
_MANIFEST = "package.xml"
_MANIFEST_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
_LEVELS = 6  # folders above a description that may be its package: NAME/urdf/robots/variant/arm.urdf
_BESIDE = 3  # folders in which another package may lie: beside the description, its folder, and its package
_VARIABLES = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", FOLDER_VARIABLE)

SEARCHED = f"a folder of that name above it or beside it, {', '.join(_VARIABLES)}"
"""Where packages are looked for, in words."""


def package_of(file: Path) -> Path | None:
    """Return the folder of the package that a file belongs to, by its `package.xml`; None: there is none."""
    for folder in _above(file):
        if (folder / _MANIFEST).is_file():
            return folder
    return None


def package_file(name: str, rest: str, file: Path) -> Path | None:
    """Return the place of `package://NAME/REST`, as a file names it; None where it is in no package.

    A path that leads out of its package is none. Links are followed: installed packages may consist of them.
    """
    if ".." in Path(rest).parts or not name or name in (".", "..") or Path(rest).is_absolute():
        return None
    for folder in _folders(name, file):
        place = folder / rest
        if place.is_file():
            return place
    return None


def _folders(name: str, file: Path) -> Iterator[Path]:
    """Give folders that may be a package, those that are nearest to the file first."""
    above = _above(file)
    yield from (folder for folder in above if folder.name == name)
    yield from (folder / name for folder in above[:_BESIDE])
    own = package_of(file)
    if own is not None and _manifest_name(own) == name:
        yield own
    for variable in _VARIABLES:
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            folder = Path(entry)
            yield from (folder / "share" / name, folder / name)
            if folder.name == name:
                yield folder


def _above(file: Path) -> list[Path]:
    """Return the folders above a file, also above the one that it is a link to."""
    places = dict.fromkeys((Path(os.path.normpath(Path.cwd() / file)), Path(os.path.realpath(file))))
    return list(dict.fromkeys(folder for place in places for folder in list(place.parents)[:_LEVELS]))


def _manifest_name(folder: Path) -> str:
    try:
        text = (folder / _MANIFEST).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = _MANIFEST_NAME.search(text)
    return match[1] if match else ""
