# SPDX-License-Identifier: Apache-2.0
"""`make faults`: every event on every driver in every state, into faults.md and faults.json."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bam_core.errors import BamError, UnknownName
from bam_core.files.atomic_file import write_text
from bam_ros.node.private_domain import private_domain
from studies.faults.cell import Cell, try_cell
from studies.faults.cells_file import merged, read_cells, write_cells
from studies.faults.events import BY_DUTY, EVENTS, Event, State
from studies.faults.page import page
from studies.faults.rig import Rig, Watcher, end_with_what_was_started
from studies.faults.servos import DRIVERS
from studies.faults.startup import STATE, try_startups

STATES = (*(state.value for state in State), STATE)


def states_of(driver: str) -> Sequence[State]:
    """Return the states that a driver has: duties have no ramp; what no model has is not recorded."""
    if driver in BY_DUTY:
        return (State.IDLE, State.HOLDING, State.MOVING)
    return tuple(state for state in State if state is not State.RECORDING or DRIVERS[driver].servo)


def run(
    drivers: Iterable[str], events: Iterable[Event], states: Iterable[State], *, startups: bool
) -> Iterable[Cell]:
    """Try all cells, a driver at a time; with `startups` also what is wrong before a driver starts."""
    states, events = set(states), tuple(events)
    watcher = Watcher()
    try:
        for driver in drivers:
            wanted = [state for state in states_of(driver) if state in states]
            for count in (2, 1):  # a bench has one joint
                chosen = [state for state in wanted if (state is State.RECORDING) == (count == 1)]
                here = [event for event in events if driver in event.follows and event.joints <= count]
                if not (chosen and here) and not (startups and count == 2):
                    continue
                with DRIVERS[driver](count) as servos, Rig(servos, watcher) as rig:
                    for event in here:
                        for state in chosen:
                            yield try_cell(rig, event, state)
                    if startups and count == 2:
                        yield from try_startups(rig)
    finally:
        watcher.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; status 1 where a cell is not safe."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--drivers", nargs="+", default=list(DRIVERS), metavar="NAME", help="(default: all)")
    parser.add_argument("--events", nargs="+", metavar="WORDS", help="events whose names have these words")
    parser.add_argument(
        "--states",
        nargs="+",
        default=STATES,
        choices=STATES,
        metavar="NAME",
        help=f"of {', '.join(STATES)} (default: all)",
    )
    parser.add_argument("--output", type=Path, default=Path("faults"), help="of OUTPUT.md and OUTPUT.json")
    parser.add_argument(
        "--merge",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="OUTPUT.json of other runs: they become one page, nothing is run; of a cell that is in several,"
        " the last one counts",
    )
    arguments = parser.parse_args(argv)
    end_with_what_was_started()
    try:
        for driver in arguments.drivers:
            if driver not in DRIVERS:
                raise UnknownName("driver", driver, DRIVERS)
        events = [
            event
            for event in EVENTS
            if not arguments.events or any(word in event.name for word in arguments.events)
        ]
        names = [state for state in arguments.states if state != STATE]
        states, startups = [State(name) for name in names], STATE in arguments.states
        cells = merged(cell for path in arguments.merge or () for cell in read_cells(path))
        with private_domain():
            for cell in () if arguments.merge else run(arguments.drivers, events, states, startups=startups):
                cells.append(cell)
                told = "; ".join(map(str, cell.problems)) or "safe"
                after = "" if math.isnan(cell.seconds) else f" {cell.seconds:.2f} s"
                print(f"{cell.driver}, {cell.state}, {cell.event}:{after} {told}", flush=True)
    except BamError as error:
        print(f"make faults: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("make faults: ended before its end, nothing is written", file=sys.stderr)
        return 130
    write_cells(arguments.output.with_suffix(".json"), cells)
    write_text(arguments.output.with_suffix(".md"), page(cells))
    return 1 if any(cell.problems for cell in cells) else 0


if __name__ == "__main__":
    raise SystemExit(main())
