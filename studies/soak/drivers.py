# SPDX-License-Identifier: Apache-2.0
"""`make soak-drivers`: six servos for long, recorded, while clients are killed and started at random."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from bam_core.errors import BamError, UnknownName
from bam_core.files.atomic_file import write_text
from bam_core.text.table import format_table
from bam_ros.node.private_domain import private_domain
from studies.faults.listener import Listener, recorded
from studies.faults.rig import Rig, Watcher, end_with_what_was_started
from studies.faults.servos import DRIVERS

JOINTS = 6
_SETTLING = 20.0  # s after which memory counts: until then caches fill
_PERIOD = 5.0  # s between two deaths of clients, on the mean
_GROWTH = 0.05
"""Share by which memory may grow after it has settled."""
_STEP = 1.0  # s


class Use(NamedTuple):
    """What a process has.

    Attributes:
        memory: MiB.
        descriptors: open files.
    """

    memory: float
    descriptors: int


@dataclass(frozen=True, kw_only=True)
class Soaked:
    """What a long run came to.

    Attributes:
        driver: which.
        seconds: how long.
        states: published by the driver, as their sequence counts.
        lost: of them, on their way to a listener that has nothing else to do but to record.
        undelivered: of those, see `listener.Counts`.
        missing: states that the listener's bag lacks between its first and its last one.
        deaths: of clients.
        before: of the driver's process once it has settled.
        after: of the driver's process at the end.
        recorder: of the listener's process, likewise; the index of its bag grows with the messages.
        faults: lines of the driver's log that are errors, and not of a client that died.
    """

    driver: str
    seconds: float
    states: int
    lost: int
    undelivered: int
    missing: int
    deaths: int
    before: Use
    after: Use
    recorder: tuple[Use, Use]
    faults: tuple[str, ...]

    def complaints(self) -> tuple[str, ...]:
        """Return what is not as it must be, one line each."""
        lines = []
        if self.after.memory > self.before.memory * (1.0 + _GROWTH):
            lines.append(
                f"{self.driver}: memory grew from {self.before.memory:.1f} to {self.after.memory:.1f} MiB"
            )
        for name, (before, after) in ((self.driver, (self.before, self.after)), ("recorder", self.recorder)):
            if after.descriptors > before.descriptors:
                lines.append(f"{name}: descriptors grew from {before.descriptors} to {after.descriptors}")
        if self.lost:
            lines.append(
                f"{self.driver}: {self.lost} of {self.states} states lost ({self.undelivered} of them were"
                f" dropped by the publisher)"
            )
        if self.missing:
            lines.append(f"{self.driver}: {self.missing} of {self.states} states are not in the bag")
        lines += [f"{self.driver}: {fault}" for fault in self.faults]
        return tuple(lines)


def soak(driver: str, seconds: float, rate: float, seed: int = 0, *, show: bool = False) -> Soaked:
    """Let a driver run; raises BamError where it does not start.

    Args:
        driver: key in DRIVERS.
        seconds: how long, after it has settled.
        rate: states per second.
        seed: of the deaths.
        show: whether to draw a progress bar.
    """
    dice = random.Random(seed)
    watcher = Watcher()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="bam_soak_") as place,
            DRIVERS[driver](JOINTS) as servos,
            Rig(servos, watcher) as rig,
            Listener(Path(place) / "bag") as listener,
        ):
            rig.start_driver({**servos.lenient, "rate": rate})
            line = "swing 0.2" if servos.by_position else "torque"
            for client in rig.clients:
                client.say(line)
            time.sleep(_SETTLING)
            assert rig.driver is not None
            processes = rig.driver.pid, listener.pid
            before, first = [_use(process) for process in processes], listener.counts()
            deaths = 0
            began = last = time.monotonic()
            with tqdm(total=round(seconds), disable=not show, unit="s", desc=driver) as progress:
                while time.monotonic() - began < seconds:
                    time.sleep(_STEP)
                    progress.update(round(time.monotonic() - last))
                    last = time.monotonic()
                    if dice.random() < _STEP / _PERIOD:
                        client = dice.choice(rig.clients)
                        client.kill()
                        client.say(line)
                        deaths += 1
            lasted = time.monotonic() - began
            after, end = [_use(process) for process in processes], listener.counts()
            listener.finish()
            return Soaked(
                driver=driver,
                seconds=lasted,
                states=end.newest - first.newest,
                lost=end.lost - first.lost,
                undelivered=end.undelivered - first.undelivered,
                missing=recorded(Path(place) / "bag").lost,
                deaths=deaths,
                before=before[0],
                after=after[0],
                recorder=(before[1], after[1]),
                faults=tuple(rig.errors(besides="no servo_commands for|commands are back|named by none")),
            )
    finally:
        watcher.close()


def _use(process: int) -> Use:
    """Return memory, MiB, and open files of a process."""
    place = Path("/proc") / str(process)
    pages = int((place / "statm").read_text().split()[1])
    return Use(pages * 4096 / 2**20, len(list((place / "fd").iterdir())))


def main(argv: Sequence[str] | None = None) -> int:
    """Run it for each driver and print the table; status 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(prog="make soak-drivers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0, help="of each driver (default: %(default)g)")
    parser.add_argument("--rate", type=float, default=100.0, help="states per second (default: %(default)g)")
    parser.add_argument("--drivers", nargs="+", default=list(DRIVERS), metavar="NAME", help="(default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="receives the figures")
    arguments = parser.parse_args(argv)
    end_with_what_was_started()
    results = []
    try:
        for driver in arguments.drivers:
            if driver not in DRIVERS:
                raise UnknownName("driver", driver, DRIVERS)
            with private_domain():
                results.append(soak(driver, arguments.seconds, arguments.rate, show=True))
    except BamError as error:
        print(f"make soak-drivers: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("make soak-drivers: ended before its end, nothing is written", file=sys.stderr)
        return 130
    rows = [
        (
            result.driver,
            f"{result.seconds:.0f}",
            str(result.states),
            f"{result.lost}, {result.missing}",
            str(result.deaths),
            f"{result.before.memory:.1f}, {result.after.memory:.1f}",
            f"{result.before.descriptors}, {result.after.descriptors}",
            ", ".join(f"{use.memory:.1f}" for use in result.recorder),
        )
        for result in results
    ]
    names = (
        "driver",
        "s",
        "states",
        "lost, missing in the bag",
        "clients killed",
        "MiB at start, end",
        "open files",
        "recorder MiB",
    )
    print(format_table(names, rows))
    if arguments.json:
        write_text(arguments.json, json.dumps([asdict(result) for result in results], indent=1))
    complaints = [line for result in results for line in result.complaints()]
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
