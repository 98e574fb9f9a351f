# SPDX-License-Identifier: Apache-2.0
"""Cells of the matrix as a JSON file: `make faults` writes it, the site's page of cells is made from it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from bam_core.files.atomic_file import write_text
from studies.faults.cell import Cell

_TIMES = ("seconds", "back")
"""Fields of a cell that may be NaN, which JSON does not know: null in the file."""


def read_cells(path: Path) -> list[Cell]:
    """Return the cells that a run has written."""
    cells = []
    for fields in json.loads(path.read_text()):
        times = {name: math.nan if fields[name] is None else fields[name] for name in _TIMES}
        cells.append(Cell(**{**fields, **times, "problems": tuple(fields["problems"])}))
    return cells


def write_cells(path: Path, cells: Iterable[Cell]) -> None:
    """Write cells."""
    write_text(path, json.dumps([_written(cell) for cell in cells], indent=1))


def merged(cells: Iterable[Cell]) -> list[Cell]:
    """Return the last of each cell, in the order of the first ones."""
    return list({(cell.driver, cell.state, cell.event): cell for cell in cells}.values())


def _written(cell: Cell) -> dict[str, object]:
    fields = asdict(cell)
    times = {name: None for name in _TIMES if math.isnan(fields[name])}
    return {**fields, **times, "problems": [str(problem) for problem in cell.problems]}
