# SPDX-License-Identifier: Apache-2.0
"""`make mutants`: put deliberate bugs in, one at a time, and print the share of them that tests notice.

This is a script of the project, and none of the tools that there are. mutmut 3 calls each function through
another one, which Numba cannot compile. cosmic-ray changes the working tree itself. Neither knows C++,
compiled kernels, or which tests mirror a source. `python_mutations` and `cpp_mutations` list what is changed.

Bugs are put into a copy of the working tree, `build/mutants/tree`. A bug is noticed where a short test fails,
crashes or reaches its limit of time. The tests of the mirrored name come first, then those of the room, then
all that import the source. No other test of `make test` is run: the share printed is a lower bound of its.
All bugs meet their first tests before those left meet the next ones, which take longer.
SEED draws which bugs are tried, COUNT of each room. `build/mutants/record.jsonl` keeps what became of each;
it is not tried again until its source or its tests change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bam_core.errors import BamError, UnknownName
from studies.mutants.record import harmless, share_table, survivors
from studies.mutants.rooms import ROOMS, Room
from studies.mutants.trial import Trial

ROOT = Path(__file__).resolve().parents[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Try bugs until COUNT of each room are known or SECONDS are over; print the shares and the survivors."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=40, help="bugs of each room (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="limit of time (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: %(default)s)")
    parser.add_argument("--place", type=Path, default=ROOT / "build" / "mutants", help="of copy and record")
    parser.add_argument("rooms", nargs="*", help=f"of {', '.join(ROOMS)}, or groups (default: all)")
    arguments = parser.parse_args(argv)
    try:
        chosen = _rooms(arguments.rooms)
        reasons = harmless()
        trial = Trial(ROOT, arguments.place, seconds=arguments.seconds)
        outcomes = trial.run(chosen, arguments.seed, arguments.count)
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    print(survivors(outcomes, reasons))
    print(share_table(outcomes, reasons))
    return 0


def _rooms(names: Sequence[str]) -> dict[str, Room]:
    groups = {room.group for room in ROOMS.values()}
    for name in names:
        if name not in ROOMS and name not in groups:
            raise UnknownName("room", name, [*groups, *ROOMS])
    return {name: room for name, room in ROOMS.items() if not names or name in names or room.group in names}


if __name__ == "__main__":
    sys.exit(main())
