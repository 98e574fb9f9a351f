# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers of a CSV file, by their names."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Malformed, Unreadable
from bam_core.recordings.recording_map import NO_MAP, RecordingMap

_SEPARATORS = (",", ";", "\t", " ")
_MISSING = ("", "none", "null", "na", "n/a")  # as recorders write a reading that failed
_TIME = "time"
_CLOCK = re.compile(r"(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d:\d\d)(?:[.,](\d{1,18}))?\s*(Z|[+-]\d\d:\d\d)?")
_NAMED = re.compile(r"([A-Za-z]\w*(?::\w+)?)\s*[:=]\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?![\w.:])")
_SOME_DAY = "1970-01-02"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MOST_SHOWN = 20  # characters of a cell


def read_columns(
    path: Path,
    choose: Callable[[Collection[str]], Sequence[str]],
    recording_map: RecordingMap = NO_MAP,
) -> dict[str, Array]:
    """Read the chosen columns of a file.

    Cells are separated as in its header: by commas, semicolons, tabs or spaces. Lines that begin with # are
    comments; where the first other line has numbers alone, the last comment above it is the header.
    Decimals may have a comma where cells are not separated by one. An empty cell is NaN. Times may be dates
    of ISO 8601, or times of a day. Text is UTF-8 or UTF-16, else Windows-1252.

    Args:
        path: of the file.
        choose: names of the columns to read, given all names, each once; may raise BamError.
        recording_map: which columns have other names in the file.

    Returns:
        Name -> (n,) numbers, at least one, in the order that was chosen.

    Raises:
        BamError: the file cannot be read or has no samples; a chosen one is there twice, or holds no numbers.
    """
    header, rows = _table(path)
    header = _renamed(header, recording_map)
    place_of = {name: place for place, name in enumerate(header)}
    names = choose(place_of.keys())
    times = Counter(header)
    for name in names:
        if times[name] > 1:
            raise Malformed(
                path, f"column {name!r} is there {times[name]} times", expected="once", advice="remove one"
            )
    places = [place_of[name] for name in names]
    try:
        readers = [_time if name == _TIME else _number for name in names]
        table = np.array(
            [[read(row[place]) for read, place in zip(readers, places, strict=True)] for row in rows.values()]
        )
    except (ValueError, IndexError):
        raise _bad_cell(path, rows, dict(zip(names, places, strict=True))) from None
    if table.ndim != 2:
        raise Malformed(path, "has no samples")
    return dict(zip(names, table.T, strict=True))


def comment_values(path: Path) -> dict[str, float]:
    """Return the numbers that comments of a file name, as in `# kp: 16, kd = 32`; raises Unreadable."""
    comments = [line for line in _text(path).splitlines() if line.startswith("#")]
    return {name: float(number) for line in comments for name, number in _NAMED.findall(line)}


def _number(cell: str) -> float:
    """Return the number in a cell, NaN where it is empty; raises ValueError.

    A comma within a cell is that of a decimal: of cells that are separated by commas none is left.
    """
    text = cell.strip()
    return math.nan if text.lower() in _MISSING else float(text.replace(",", ".", 1))


def _time(cell: str) -> float:
    """Return the number in a cell, or seconds of a date or of a time of the day; raises ValueError."""
    match = _CLOCK.fullmatch(cell.strip())
    if match is None:
        return _number(cell)
    date, clock, fraction, zone = match.groups()
    moment = datetime.fromisoformat(f"{date or _SOME_DAY}T{clock}{(zone or '+00:00').replace('Z', '+00:00')}")
    return moment.timestamp() + float(f"0.{fraction or 0}")


def _table(path: Path) -> tuple[list[str], dict[int, list[str]]]:
    """Return the names in the header, and line number -> cells of the rows below it."""
    lines = _text(path).splitlines()
    numbered = {number: line for number, line in enumerate(lines, start=1) if line.strip()}
    comments = [line.lstrip("# ") for line in numbered.values() if line.startswith("#")]
    numbered = {number: line for number, line in numbered.items() if not line.startswith("#")}
    first = next(iter(numbered.values()), "")
    if comments and _has_numbers_alone(first):
        header = comments[-1]
    else:
        header = first
        numbered = dict(list(numbered.items())[1:])
    separator = next((mark for mark in _SEPARATORS if mark in header), ",")
    try:
        names, *rows = csv.reader([header, *numbered.values()], delimiter=separator, skipinitialspace=True)
    except (csv.Error, ValueError) as error:
        raise Malformed(path, f"is no CSV file ({error})") from None
    return [name.strip() for name in names], dict(zip(numbered, rows, strict=False))


def _text(path: Path) -> str:
    """Return the text of a file; raises Unreadable."""
    try:
        content = path.read_bytes()
        if content.startswith(_UTF_16):
            return content.decode("utf-16")
        if b"\0" in content:
            raise Unreadable(path, "is no text", expected="a CSV file", advice="export it as CSV")
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:  # a degree sign in a comment, as spreadsheets write it
            return content.decode("cp1252", errors="replace")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(path, error if isinstance(error, OSError) else "is no text in UTF-16") from None


def _has_numbers_alone(line: str) -> bool:
    try:
        return bool([float(cell) for cell in re.split(r"[,;\s]+", line.strip())])
    except ValueError:
        return False


def _renamed(header: Sequence[str], recording_map: RecordingMap) -> list[str]:
    """Return our names of columns; one that is not meant, but has such a name, is called otherwise."""
    ours = {theirs: name for name, theirs in recording_map.column_names(header).items()}
    taken = set(ours.values())
    return [ours.get(name, f"(not mapped) {name}" if name in taken else name) for name in header]


def _bad_cell(path: Path, rows: Mapping[int, Sequence[str]], place_of: Mapping[str, int]) -> Malformed:
    """Return the error about the first cell that is missing or no number."""
    expected = "a number in every column that is read"
    for number, row in rows.items():
        for name, place in place_of.items():
            if place >= len(row):
                return Malformed(path, f"row {number} ends before column {name!r}", expected=expected)
            try:
                (_time if name == _TIME else _number)(row[place])
            except ValueError:
                problem = f"row {number}, column {name!r}, is {row[place][:_MOST_SHOWN]!r}"
                return Malformed(path, problem, expected=expected)
    return Malformed(path, "holds something else than numbers", expected=expected)
