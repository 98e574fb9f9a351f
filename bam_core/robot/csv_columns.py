# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers of a CSV file, by their names."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Malformed, Unreadable

_MOST_SHOWN = 20  # characters of a cell


def read_columns(path: Path, choose: Callable[[Collection[str]], Sequence[str]]) -> dict[str, Array]:
    """Read the chosen columns of a file.

    Args:
        path: of the file.
        choose: names of the columns to read, given all names, each once; may raise BamError.

    Returns:
        Name -> (n,) numbers, at least one, in the order that was chosen.

    Raises:
        BamError: the file cannot be read or has no samples; a chosen one is there twice, or holds no numbers.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            rows = list(reader)
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(path, error if isinstance(error, OSError) else "is no text") from None
    except csv.Error as error:
        raise Malformed(path, f"is no CSV file ({error})") from None
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
        table = np.array([[row[place] for place in places] for row in rows], dtype=np.float64)
    except (ValueError, IndexError):
        raise _bad_cell(path, rows, dict(zip(names, places, strict=True))) from None
    if table.ndim != 2:
        raise Malformed(path, "has no samples")
    return dict(zip(names, table.T, strict=True))


def _bad_cell(path: Path, rows: Sequence[Sequence[str]], place_of: Mapping[str, int]) -> Malformed:
    """Return the error about the first cell that is missing or no number; rows without the header's."""
    expected = "a number in every column that is read"
    for number, row in enumerate(rows, start=2):
        for name, place in place_of.items():
            if place >= len(row):
                return Malformed(path, f"row {number} ends before column {name!r}", expected=expected)
            try:
                float(row[place])
            except ValueError:
                told = f"row {number}, column {name!r}, is {row[place][:_MOST_SHOWN]!r}"
                return Malformed(path, told, expected=expected)
    return Malformed(path, "holds something else than numbers", expected=expected)
