# SPDX-License-Identifier: Apache-2.0
"""What a robot description may make MuJoCo do: open files of its own alone, and make so many copies at most.

MuJoCo opens what `include`, `model`, `mesh`, `texture`, `hfield` and `skin` name, wherever it lies, and
allocates what counts and sizes ask for, see `model_demands`. The text is searched with patterns, not parsed:
MuJoCo accepts XML that other parsers refuse, and what it accepts is what has to be checked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from bam_core.errors import Malformed
from bam_core.mujoco.model_demands import Demands, Tag, number
from bam_core.mujoco.packages import FOLDER_VARIABLE, package_of

LONGEST_TEXT = 100 << 20  # bytes; meshes that stand in the description itself take megabytes

_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z]\w*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([A-Za-z]\w*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_DEEPEST = 50  # files that include each other
_PARTS = ("include", "model")
POINTER = b"version https://git-lfs"
"""Beginning of a file that Git LFS has not fetched."""
_PACKAGE = re.compile(r"(package|model)://")


def check_model_files(path: Path) -> None:
    """Look at a description, and at all that it includes or attaches, before MuJoCo does.

    Files may lie in the folder of the description, in the one above it, in its ROS package, and below these.

    Raises:
        Malformed: it names a file elsewhere, asks for too much, includes itself, or is too long.
    """
    _Description(path).check()


class _Amount(NamedTuple):
    """What a file makes: its elements with their copies, and how many copies of one there are at most."""

    elements: float = 0.0
    copies: float = 1.0


class _Description:
    """A description with all its files: where they lie, and what they ask for together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._home = _whole(path).parent
        self._roots = _roots(path)
        self._demands = Demands(path=path)
        self._seen: dict[Path, _Amount] = {}
        self._models = _Amount()  # those that may be attached, together

    def check(self) -> None:
        self._demands.require_small(*self._amount(_whole(self._path), ()))

    def _amount(self, file: Path, within: tuple[Path, ...]) -> _Amount:
        """Return what a file asks for; `within` are the files through which it came in."""
        real = Path(os.path.realpath(file))
        if real in within or len(within) > _DEEPEST:  # of models that are each other's MuJoCo makes no end
            problem = "includes itself" if real in within else f"includes more than {_DEEPEST} deep"
            raise Malformed(self._path, problem, advice="leave that out")
        if file not in self._seen:
            self._seen[file] = self._looked(file, (*within, real)) if file.is_file() else _Amount()
        return self._seen[file]

    def _looked(self, file: Path, within: tuple[Path, ...]) -> _Amount:
        if file.stat().st_size > LONGEST_TEXT:
            raise Malformed(
                self._path, "is too long", expected="100 MB at most", advice="put meshes into files"
            )
        tags = list(_tags(file.read_text(encoding="utf-8", errors="replace")))
        self._require_own(tags, file)
        for tag in tags:
            if tag.name == "model" and "file" in tag.values:
                more = self._part(tag, file, within)
                self._models = _Amount(
                    self._models.elements + more.elements, max(self._models.copies, more.copies)
                )
        elements, most, copies = 0.0, 1.0, [1.0]
        for tag in tags:
            if tag.ends:
                if tag.name == "replicate":
                    copies = copies[:-1] or [1.0]
                continue
            if tag.name == "replicate":
                copies.append(copies[-1] * number(tag.values.get("count", "1")))
            self._demands.add(tag)
            inner = _Amount()
            if tag.name == "include" and "file" in tag.values:
                inner = self._part(tag, file, within)
            elif tag.name == "attach":
                inner = self._models
            elements += copies[-1] * (1.0 + inner.elements)
            most = max(most, copies[-1] * inner.copies)
            self._demands.require_copies(most)
        return _Amount(elements, most)

    def _part(self, tag: Tag, file: Path, within: tuple[Path, ...]) -> _Amount:
        """Return what an included file, or a model that may be attached, asks for."""
        places = {_whole(folder / tag.values["file"]) for folder in (self._home, file.parent)}
        amounts = [self._amount(place, within) for place in sorted(places)]
        return _Amount(sum(amount.elements for amount in amounts), max(amount.copies for amount in amounts))

    def _require_own(self, tags: list[Tag], file: Path) -> None:
        for name in _named(_opened(tags) if self._path.suffix.lower() == ".urdf" else tags):
            if not all(self._holds(folder / name) for folder in {self._home, file.parent}):
                raise Malformed(
                    self._path,
                    f"names {name}, which lies elsewhere",
                    expected=f"files in {' or '.join(map(str, self._roots))}, links included",
                    advice=f"move it there, or set {FOLDER_VARIABLE} to a folder that holds them all",
                )
        for tag in tags:  # of the others, those that are not needed are left out
            if tag.name in _PARTS and tag.values.get("file"):
                for folder in {self._home, file.parent}:
                    self._require_content(tag.values["file"], folder / tag.values["file"])

    def _require_content(self, name: str, place: Path) -> None:
        if place.is_file():
            with place.open("rb") as file:
                if file.read(len(POINTER)) == POINTER:
                    raise Malformed(
                        self._path,
                        f"names {name}, which is only a pointer of Git LFS",
                        expected="the file itself",
                        advice="run 'git lfs pull' in its repository",
                    )

    def _holds(self, place: Path) -> bool:
        """Whether a file, if it is there, lies where it may, links followed: before `..` and after it."""
        real = {Path(os.path.realpath(path)) for path in (place, _whole(place))}
        return all(any(path.is_relative_to(root) for root in self._roots) for path in real)


def _roots(path: Path) -> list[Path]:
    """Return the folders in which the files of a description may lie.

    Besides the one above it that is the one above the file that it is a link to: a colcon build with
    --symlink-install consists of links to the package's sources.
    """
    if folder := os.environ.get(FOLDER_VARIABLE):
        return [Path(os.path.realpath(folder))]
    homes = os.path.realpath(_whole(path).parent), Path(os.path.realpath(path)).parent
    own = package_of(path)
    packages = set() if own is None else {Path(os.path.realpath(own))}
    return sorted({Path(home).parent for home in homes} | packages)


def _whole(path: str | Path) -> Path:
    """Return an absolute path without `..`; links are not followed."""
    return Path(os.path.normpath(Path.cwd() / path))


def _tags(text: str) -> Iterator[Tag]:
    """Give the tags of a description: whether one ends an element, its name, its attributes."""
    for ends, name, rest in _TAG.findall(without_comments(text)):
        values = {key: unescape(double or single) for key, double, single in _ATTRIBUTE.findall(rest)}
        if rest.rstrip().endswith("/"):
            yield Tag(False, name, values)
            yield Tag(True, name, {})
        else:
            yield Tag(bool(ends), name, values)


def without_comments(text: str) -> str:
    """Not by a pattern, which would take the square of the length where comments do not end."""
    parts, begin = [], 0
    while (start := text.find("<!--", begin)) >= 0:
        parts.append(text[begin:start])
        end = text.find("-->", start + 4)
        if end < 0:
            return "".join(parts)
        begin = end + 3
    return "".join([*parts, text[begin:]])


def _opened(tags: list[Tag]) -> list[Tag]:
    """Return the tags of a URDF without those of visuals, which MuJoCo discards by default."""
    if any(tag.values.get("discardvisual") == "false" for tag in tags):
        return tags
    result, inside = [], False
    for tag in tags:
        inside = inside and not (tag.ends and tag.name == "visual")
        if not inside:
            result.append(tag)
        inside = inside or (not tag.ends and tag.name == "visual")
    return result


def _named(tags: list[Tag]) -> Iterator[str]:
    """Give the names of files as MuJoCo puts them together, but for the description's own folder."""
    folders = {values[key] for _, _, values in tags for key in _FOLDERS if key in values}
    stripped = [values["strippath"] for _, _, values in tags if "strippath" in values]
    for _, tag, values in tags:
        for key, value in values.items():
            if not key.startswith("file") or not value:
                continue
            name = re.sub(r"^file://", "", value).replace("\\", "/")
            if tag not in _PARTS and stripped and stripped[-1] == "true":
                name = name.rsplit("/", 1)[-1]
            elif _PACKAGE.match(name):  # see `packages`
                continue
            yield name
            if tag != "include":
                yield from (f"{folder}/{name}" for folder in folders)
