# SPDX-License-Identifier: Apache-2.0
"""The matrix as a page: one table per driver, the largest times, and what is not safe."""

from __future__ import annotations

import math
from collections.abc import Sequence

from studies.faults.cell import Cell
from studies.faults.events import State
from studies.faults.startup import STATE

_STATES = [state.value for state in State]


def page(cells: Sequence[Cell]) -> str:
    """Return the matrix in Markdown."""
    unsafe = [cell for cell in cells if cell.problems]
    lines = [
        "# The fault matrix",
        "",
        f"{len(cells)} cells, {len(unsafe)} unsafe. Times in s until torque was off on the servos themselves,"
        ' as the emulator knows it. "kept": torque is rightly kept; "off": it was off and stayed so.'
        " Torque is restored by what the event asks for: commands, torque off and on, `~/reboot`, or a new"
        " start of the driver, whose loading takes most of the longest of these times.",
        *_largest([cell for cell in cells if cell.state != STATE]),
    ]
    for driver in dict.fromkeys(cell.driver for cell in cells):
        mine = [cell for cell in cells if cell.driver == driver]
        states = [state for state in _STATES if any(cell.state == state for cell in mine)]
        lines += ["", f"## {driver}", ""]
        lines += [f"| event | bound | {' | '.join(states)} | largest | torque again after | it says |"]
        lines += ["|---" * (len(states) + 5) + "|"]
        for event in dict.fromkeys(cell.event for cell in mine if cell.state in states):
            row = {cell.state: cell for cell in mine if cell.event == event}
            bounds = [cell.bound for cell in row.values()]
            bound = "-" if bounds[0] is None else f"{bounds[0]:.2f}"
            times = [cell.seconds for cell in row.values() if not math.isnan(cell.seconds)]
            largest = f"{max(times):.2f}" if times else "-"
            says = next((cell.says for cell in row.values() if cell.says), "").replace("|", "/")
            shown = [_show(row[state]) if state in row else "" for state in states]
            again = max((cell.back for cell in row.values() if not math.isnan(cell.back)), default=math.nan)
            lines += [f"| {event} | {bound} | {' | '.join(shown)} | {largest} | {again:.1f} | {says} |"]
        lines += _startups([cell for cell in mine if cell.state == STATE])
    if unsafe:
        lines += ["", "## Not safe", ""]
        lines += [
            f"- {cell.driver}, {cell.state}, {cell.event}: {'; '.join(map(str, cell.problems))}"
            for cell in unsafe
        ]
    return "\n".join(lines) + "\n"


def _largest(cells: Sequence[Cell]) -> list[str]:
    """Return the table of the largest times over all states, a row per event, a column per driver."""
    drivers = list(dict.fromkeys(cell.driver for cell in cells))
    if len(drivers) < 2:
        return []
    lines = [
        "",
        "## Largest times",
        "",
        f"| event | {' | '.join(drivers)} |",
        "|---" * (len(drivers) + 1) + "|",
    ]
    for event in dict.fromkeys(cell.event for cell in cells):
        shown = []
        for driver in drivers:
            here = [cell for cell in cells if (cell.driver, cell.event) == (driver, event)]
            times = [cell.seconds for cell in here if not math.isnan(cell.seconds)]
            unsafe = sum(bool(cell.problems) for cell in here)
            told = f"{max(times):.2f}" if times else "kept" if here else "-"
            shown.append(f"{told} ({unsafe} of {len(here)} not safe)" if unsafe else told)
        lines.append(f"| {event} | {' | '.join(shown)} |")
    return lines


def _startups(cells: Sequence[Cell]) -> list[str]:
    """Return the table of what was wrong before the driver started."""
    if not cells:
        return []
    lines = ["", "Wrong before it starts; torque stays off:", "", "| what | safe | after s | it ends with |"]
    lines += ["|---|---|---|---|"]
    for cell in cells:
        says = cell.says.replace("|", "/") or "(starts)"
        lines += [f"| {cell.event} | {'**NO**' if cell.problems else 'yes'} | {cell.seconds:.1f} | {says} |"]
    return lines


def _show(cell: Cell) -> str:
    if cell.problems:
        return "**NO**"
    if cell.state == State.IDLE.value:
        return "off"
    return "kept" if cell.bound is None else f"{cell.seconds:.2f}"
