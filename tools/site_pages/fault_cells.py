# SPDX-License-Identifier: Apache-2.0
"""The page of the fault matrix's cells: as `make faults` found them, else what has to follow each event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from site_pages.markdown import plain, table
from studies.faults.cells_file import read_cells
from studies.faults.events import ALL, EVENTS, Event, Follows, Off
from studies.faults.page import page
from studies.faults.startup import BOUND, WRONG

RESULTS = Path(__file__).resolve().parents[2] / "faults.json"
"""Where `make faults` writes."""
PAGE = "faults_cells.md"
_OF_ANY_KIND = "."  # regular expression of events whose cause no words have to name


def pages(results: Path = RESULTS) -> dict[str, str]:
    """Return the page by its name.

    Args:
        results: file of `make faults`; where there is none, the page has the declared cells.
    """
    return {PAGE: page(read_cells(results)) if results.is_file() else _declared()}


def _declared() -> str:
    lines = [
        "# Expected outcome of every fault\n",
        "The required outcome of each event ([events and states](faults.md)). `make faults` measures it. If"
        f" its `{RESULTS.name}` is in the checkout, this page has the measured times.\n",
        "`all`: torque of all joints has to go off within the bound. `of one client`: that of its joints."
        " `once it can be reached`: the bound begins when the servo is plugged again."
        " `kept`: torque stays on.\n",
    ]
    for driver in ALL:
        rows = [_row(event, event.follows[driver]) for event in EVENTS if driver in event.follows]
        header = ("event", "torque off", "bound, s", "diagnostics match", "torque again by")
        lines += [f"## {driver}\n", table(header, rows)]
        if startups := list(_startups(driver)):
            lines += [f"Wrong before it starts; torque stays off, a refusal comes within {BOUND:g} s:\n"]
            lines += [table(("what", "the driver"), startups)]
    return "\n".join(lines)


def _row(event: Event, follows: Follows) -> tuple[str, ...]:
    bound = "-" if follows.off is Off.NONE else f"{follows.within:.2f}"
    return plain(event.name), follows.off.value, bound, _pattern(follows.says), follows.back.value


def _startups(driver: str) -> Iterator[tuple[str, str]]:
    for wrong in WRONG:
        if driver in wrong.drivers:
            ends = f"ends with one line, which matches {_pattern(wrong.says)}" if wrong.says else "starts"
            yield plain(wrong.name), ends
    if driver == "erob":
        yield "each SDO request of a start-up aborted, one at a time", "starts, or ends with one line"


def _pattern(words: str) -> str:
    """Return a regular expression as code; Markdown ends a cell at a bare bar."""
    if words == _OF_ANY_KIND:
        return "any words"
    return f"`{words}`".replace("|", r"\|") if words else "-"
