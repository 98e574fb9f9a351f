# SPDX-License-Identifier: Apache-2.0
"""Finds recordings: files, bag directories, and directories searched recursively."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import BadData, Malformed, Unreadable
from bam_core.recordings.bag_files import MCAP, PACKED, SQLITE, bags_in, data_files, storage
from bam_core.recordings.bag_writer import METADATA_NAME
from bam_core.recordings.open_loop_text import is_open_loop_text
from bam_core.recordings.run_end import is_set_aside, reaches_its_end
from bam_core.recordings.telemetry_run import TABLE, is_telemetry
from bam_core.text.finding import log_findings
from bam_core.text.recording_findings import Interrupted, Repeated

log = logging.getLogger(__name__)

_OF_ROBOTS = (".csv", ".npz", ".parquet")
"""Suffixes of runs of robots, which are no recordings of a bench."""

_PACKED_FILES = (".zip", ".gz", ".tar", ".xz", ".7z")
_SUFFIXES = (".json", ".txt", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file or directory of recordings on disk, not read yet."""

    path: Path
    """JSON log, text file of runs in open loop, file of a bag, bag directory, or one with telemetry."""
    name: str
    """Unique among the sources found together."""
    named: bool
    """True: the user named this very path; false: a search found it."""

    @property
    def is_json(self) -> bool:
        """True for a JSON log."""
        return self.path.suffix == ".json"

    @property
    def is_text(self) -> bool:
        """True for a text file of runs in open loop."""
        return self.path.suffix == ".txt"

    @property
    def is_telemetry(self) -> bool:
        """True for a directory with a table of telemetry."""
        return self.path.is_dir() and is_telemetry(self.path)


def find_sources(paths: Iterable[str | os.PathLike[str]]) -> list[Source]:
    """Find all recordings under some paths, each once, in the order given (a search sorts by path).

    Bags without ``metadata.yaml`` that end before their run does, or that the recorder set aside, are taken
    where they are named, and passed over with a warning where a search meets them.

    Raises:
        FileError: a path does not exist, is no recording, or is a directory without any; or a search
            meets a bag without data.
        BadData: there are no paths.
    """
    candidates: dict[Path, tuple[Path, bool]] = {}
    for path in map(Path, paths):
        named = path.is_file() or _is_bag(path) or is_telemetry(path)
        for candidate in _check(path) if named else _search(path):
            place = candidate.resolve()
            if place in candidates:
                log_findings(log, [Repeated(kind="given_twice", source=candidate)])
            candidates.setdefault(place, (candidate, named))
    if not candidates:
        raise BadData(
            "recordings",
            "none given",
            expected="JSON logs, bag directories, or directories of these",
            advice="name some",
        )
    names = unique_names([path for path, _ in candidates.values()])
    return [
        Source(path=path, name=name, named=named)
        for name, (path, named) in zip(names, candidates.values(), strict=True)
    ]


def unique_names(paths: Sequence[Path]) -> list[str]:
    """Shortest distinct names: the stem, with parent directories in front where stems clash."""
    places = [path.absolute().parent / _stem(path) for path in paths]
    # a.json beside a.mcap: only the suffix tells them apart.
    stems = [
        path.name if places.count(place) > 1 else place.name
        for path, place in zip(paths, places, strict=True)
    ]
    names = list(stems)
    parents = [place.parts[1:-1] for place in places]
    for depth in range(1, max(map(len, parents), default=0) + 1):
        clashing = {name for name in names if names.count(name) > 1}
        for i, stem in enumerate(stems):
            if names[i] in clashing:
                names[i] = "/".join((*parents[i][-depth:], stem))
    return names


def _stem(path: Path) -> str:
    if storage(path):
        return path.name.removesuffix(PACKED).removesuffix(storage(path))
    return path.stem if path.suffix in _SUFFIXES else path.name


def _is_bag(path: Path) -> bool:
    return path.is_dir() and ((path / METADATA_NAME).is_file() or bool(data_files(path)))


def _check(path: Path) -> list[Path]:
    """Return the recordings that a named file or bag is; raises Malformed where no reader understands it."""
    if path.is_dir() and is_telemetry(path):
        return [path]
    if path.is_file() and not storage(path) and path.stat().st_size == 0:
        raise Malformed(path, "is empty", expected="a recording", advice="copy it again, or record it again")
    if path.is_file() and not storage(path) and not _is_log(path):
        raise Malformed(
            path,
            "is neither a log nor a bag",
            expected=f".json, {MCAP} or {SQLITE} or its directory, .txt of runs in open loop",
            advice=_advice(path),
        )
    if path.is_dir() and not data_files(path):
        raise Malformed(
            path,
            f"this bag has {METADATA_NAME} but no {MCAP} or {SQLITE} file",
            expected="the files that it names",
            advice="copy it again",
        )
    return bags_in(path) if path.is_dir() else [path]


def _advice(path: Path) -> str:
    """Return what to do with a file that is no recording."""
    ending = path.suffix.lower()
    if ending in _OF_ROBOTS:
        return "give runs of a robot to 'bam robot identify'"
    return "unpack it first" if ending in _PACKED_FILES else "leave it out or name the recording itself"


_RUNS_OF_A_ROBOT = "use `bam robot identify` and `bam robot validate` if these are runs of a robot"


def _search(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise Unreadable(directory, "does not exist", advice="check the path")
    interrupted: list[Path] = []
    paths = sorted(_walk(directory, interrupted))
    for path in sorted(interrupted):
        kind = "set_aside" if is_set_aside(path) else "ends_early"
        log_findings(log, [Interrupted(kind=kind, source=path)])
    if not paths:
        more = f" ({len(interrupted)} interrupted ones passed over)" if interrupted else ""
        raise Malformed(
            directory,
            f"no recordings in it{more}",
            expected=f"*.json logs, *.txt of runs in open loop and bags (*{MCAP}, *{SQLITE}), at any depth",
            advice=_RUNS_OF_A_ROBOT if _has_tables(directory) else "check the path",
        )
    return paths


def _has_tables(directory: Path) -> bool:
    return any(path.suffix in (".csv", ".npz", ".parquet") for path in directory.rglob("*"))


def _walk(directory: Path, interrupted: list[Path]) -> Iterator[Path]:
    for root, subdirectories, files in os.walk(directory):
        here = Path(root)
        if TABLE in files and is_telemetry(here):
            subdirectories.clear()
            yield here
        elif METADATA_NAME in files:
            subdirectories.clear()
            yield from _check(here)
        elif data_files(here):
            subdirectories.clear()
            for bag in bags_in(here):
                if reaches_its_end(data_files(bag)) and not is_set_aside(here):
                    yield bag
                else:
                    interrupted.append(bag)
        else:
            subdirectories[:] = sorted(name for name in subdirectories if not name.startswith("."))
            yield from (here / name for name in files if _is_log(here / name))


def _is_log(path: Path) -> bool:
    """Return whether a file is a log; of JSON files the reader finds out."""
    return path.suffix == ".json" or (path.suffix == ".txt" and is_open_loop_text(path))
