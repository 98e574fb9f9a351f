# SPDX-License-Identifier: Apache-2.0
"""What a robot description may make MuJoCo do: open files of its own alone, and make so many copies at most.

MuJoCo opens what `include`, `mesh`, `texture`, `hfield` and `skin` name, wherever it lies, and allocates what
`replicate` and grids ask for. The text is searched with patterns, not parsed: MuJoCo accepts XML that other
parsers refuse, and what it accepts is what has to be checked.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from bam_core.errors import Malformed

FOLDER_VARIABLE = "BAM_MODEL_FOLDER"
"""Environment variable with a folder that holds all files of a model, where they are not beside it."""
MOST_COPIES = 100_000
"""Bodies that nested `replicate`, or particles that one `count`, may ask for, of some kB each."""
MOST_CELLS = 50_000_000
"""Points of a height field or a texture, of a few bytes each."""
_LONGEST_TEXT = 100 << 20  # bytes; meshes that stand in the description itself take megabytes

_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z]\w*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([A-Za-z]\w*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_GRIDS = (("nrow", "ncol"), ("width", "height"))


def check_model_files(path: Path) -> None:
    """Look at a description, and at all that it includes, before MuJoCo does.

    Files may lie in the folder of the description, in the one above it, and below these.

    Raises:
        Malformed: it names a file elsewhere, asks for too many copies, or is too long.
    """
    home = _whole(path).parent
    root = _whole(os.environ.get(FOLDER_VARIABLE) or home.parent)
    seen: set[Path] = set()
    waiting = [_whole(path)]
    while waiting:
        file = waiting.pop()
        if file in seen or not file.is_file():  # MuJoCo says so
            continue
        seen.add(file)
        if file.stat().st_size > _LONGEST_TEXT:
            raise Malformed(path, "is too long", expected="100 MB at most", advice="put meshes into files")
        tags = list(_tags(file.read_text(encoding="utf-8", errors="replace")))
        _check_copies(path, tags)
        for name in _named(tags, bare=path.suffix == ".urdf"):
            places = {_whole(folder / name) for folder in (home, file.parent)}
            if not all(place.is_relative_to(root) for place in places):
                raise Malformed(
                    path,
                    f"names {name}, which lies elsewhere",
                    expected=f"files in {root}",
                    advice=f"move it there, or set {FOLDER_VARIABLE} to a folder that holds them all",
                )
        waiting += [
            _whole(folder / values["file"])
            for _, tag, values in tags
            if tag == "include" and "file" in values
            for folder in {home, file.parent}
        ]


def _whole(path: str | Path) -> Path:
    """Return an absolute path without `..`; links are not followed, of which a colcon build may consist."""
    return Path(os.path.normpath(Path.cwd() / path))


def _tags(text: str) -> Iterator[tuple[bool, str, dict[str, str]]]:
    """Give the tags of a description: whether one ends an element, its name, its attributes."""
    for ends, name, rest in _TAG.findall(_without_comments(text)):
        values = {key: unescape(one or other) for key, one, other in _ATTRIBUTE.findall(rest)}
        if rest.rstrip().endswith("/"):
            yield False, name, values
            yield True, name, {}
        else:
            yield bool(ends), name, values


def _without_comments(text: str) -> str:
    """Not by a pattern, which would take the square of the length where comments do not end."""
    parts, begin = [], 0
    while (start := text.find("<!--", begin)) >= 0:
        parts.append(text[begin:start])
        end = text.find("-->", start + 4)
        if end < 0:
            return "".join(parts)
        begin = end + 3
    return "".join([*parts, text[begin:]])


def _named(tags: list[tuple[bool, str, dict[str, str]]], *, bare: bool) -> Iterator[str]:
    """Give the names of files as MuJoCo puts them together, but for the description's own folder.

    Args:
        tags: of the description.
        bare: whether MuJoCo leaves folders of names out unless told otherwise, as in URDF.
    """
    folders = {values[key] for _, _, values in tags for key in _FOLDERS if key in values}
    told = [values["strippath"] for _, _, values in tags if "strippath" in values]
    for _, tag, values in tags:
        for key, value in values.items():
            if not key.startswith("file") or not value:
                continue
            name = re.sub(r"^(package|file)://", "", value).replace("\\", "/")
            if tag != "include" and (told[-1] == "true" if told else bare):
                name = name.rsplit("/", 1)[-1]
            yield name
            if tag != "include":
                yield from (f"{folder}/{name}" for folder in folders)


def _check_copies(path: Path, tags: list[tuple[bool, str, dict[str, str]]]) -> None:
    copies = [1.0]
    for ends, tag, values in tags:
        if tag == "replicate":
            if ends:
                copies = copies[:-1] or [1.0]
            else:
                copies.append(copies[-1] * _number(values.get("count", "1")))
        elif "count" in values:
            _require(path, f"{tag} count", math.prod(map(_number, values["count"].split())), MOST_COPIES)
        _require(path, "replicate", copies[-1], MOST_COPIES)
        for one, other in _GRIDS:
            cells = _number(values.get(one, "1")) * _number(values.get(other, "1"))
            _require(path, f"{tag} {one} by {other}", cells, MOST_CELLS)


def _require(path: Path, what: str, asked: float, most: int) -> None:
    if asked > most:
        raise Malformed(
            path, f"{what} asks for {asked:g}", expected=f"{most:g} at most", advice="ask for less"
        )


def _number(text: str) -> float:
    try:
        return abs(float(text))
    except ValueError:  # MuJoCo says so
        return 1.0
