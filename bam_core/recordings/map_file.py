# SPDX-License-Identifier: Apache-2.0
"""Finds the map of a recording: `--map`, or the nearest `bench.yaml` above it that has one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from bam_core.errors import BamError, Conflict, Missing, UnknownName, WrongType
from bam_core.recordings.header_corrections import NAME, Rule, bench_yaml, rules_in
from bam_core.recordings.recording_map import NO_MAP, JointMap, Joints, MapFields, RecordingMap

_QUICK = re.compile(r"(-?)\s*([^\s+-][^\s+]*?)\s*(?:([+-])\s*([0-9]*\.[0-9]+))?")
"""Sign, name and zero; the zero needs its point, since joints have names such as joint-1."""

_EXPECTED = "RECORDED=JOINT, -JOINT or JOINT+ZERO (rad), as in main_*=* or lift=-lift+0.12"


def map_names() -> tuple[str, ...]:
    """Names of the maps that come with the suite, sorted."""
    return tuple(sorted(item.name[: -len(".yaml")] for item in _library().iterdir() if ".yaml" in item.name))


def map_above(path: Path) -> RecordingMap:
    """Return the map of the nearest bench.yaml above a recording, or in it; `NO_MAP` where there is none.

    Raises:
        BamError: a bench.yaml cannot be read, or its map is wrong.
    """
    place = path.absolute()
    for directory in (place, *place.parents):
        file = directory / NAME
        if file.is_file() and (fields := bench_yaml(file).map):
            return _named(fields, file)
    return NO_MAP


def map_file(words: Sequence[str]) -> Path | None:
    """Return the file that words of `--map` name; None: there is none among them.

    Raises:
        BamError: a word is no file and no name, or there are two.
    """
    named = [word for word in words if not _is_quick(word)]
    if len(named) > 1:
        raise Conflict(f"--map {named[1]}", f"is given beside {named[0]}", expected="one file or name")
    for word in named:
        if word in map_names():
            return Path(str(_library() / f"{word}.yaml"))
        if Path(word).suffix not in (".yaml", ".yml"):
            raise UnknownName("map", word, map_names(), advice=f"or name a YAML file, or give {_EXPECTED}")
        return Path(word)
    return None


def recording_map_for(path: Path, words: Sequence[str] = ()) -> RecordingMap:
    """Return the map of a recording; `NO_MAP` where there is none.

    Args:
        path: of the recording.
        words: of `--map`: a file or a name from `map_names`, which counts instead of a bench.yaml, and joints
            as in `lift=-lift+0.12`, which count more than either.

    Raises:
        BamError: a word is none of these, a file cannot be read, or has no map.
    """
    file = map_file(words)
    if file is None:
        base = map_above(path)
    else:
        fields = bench_yaml(file).map
        if fields is None:
            raise Missing(f"{file}, map", "columns, topics, joints or units of recordings")
        base = _named(fields, file)
        if file.parent == _library():
            base = replace(base, source=f"map {file.stem}", is_strict=False)
    joints = dict(_quick(word) for word in words if _is_quick(word))
    source = "--map" if base == NO_MAP else base.source
    return replace(base, joints=Joints({**base.joints, **joints}), source=source) if joints else base


def require_map(words: Sequence[str]) -> None:
    """Raise BamError where words of `--map` are no map; see `recording_map_for`."""
    recording_map_for(Path("/"), words)


def rules_of_map(words: Sequence[str]) -> tuple[Rule, ...]:
    """Return header fields and gains that the file of `--map` has besides its map."""
    file = map_file(words)
    return () if file is None else rules_in(file)


def _named(fields: MapFields, file: Path) -> RecordingMap:
    try:
        return fields.named(file)
    except BamError as error:
        raise error.within(file) from None


def _library() -> Path:
    return Path(str(files("bam_core") / "recordings" / "maps"))


def _is_quick(word: str) -> bool:
    return "=" in word


def _quick(word: str) -> tuple[str, JointMap]:
    """Return recorded name and joint of a word; recorded = sign · joint + zero."""
    recorded, _, text = (part.strip() for part in word.partition("="))
    match = _QUICK.fullmatch(text)
    if not recorded or not match:
        raise WrongType("--map", word, _EXPECTED)
    sign, name, direction, zero = match.groups()
    offset = float(zero or 0.0) * (-1.0 if direction == "-" else 1.0)
    return recorded, JointMap(name=name, sign=-1.0 if sign else 1.0, zero=offset)
