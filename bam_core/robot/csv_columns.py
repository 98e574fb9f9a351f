# SPDX-License-Identifier: Apache-2.0
"""Columns of numbers of a CSV file, by their names."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Malformed, Unreadable


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
        raise Malformed(path, "has a row that is too short or holds something else than numbers") from None
    if table.ndim != 2:
        raise Malformed(path, "has no samples")
    return dict(zip(names, table.T, strict=True))
