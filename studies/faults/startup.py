# SPDX-License-Identifier: Apache-2.0
"""What is wrong before a driver starts: it says so and ends, or starts all the same, and torque stays off."""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bam_core.errors import BamError
from studies.faults.cell import Cell
from studies.faults.events import SERIAL
from studies.faults.problems import NotStarted, Problem
from studies.faults.rig import TIMEOUT, Rig

STATE = "start-up"
BOUND = TIMEOUT
"""s until a driver has said that it cannot start."""
REFUSAL = r"^[^:]+: .+"


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """Something that is wrong before the driver starts.

    Attributes:
        name: in the table.
        drivers: that know it.
        lines: that the emulator executes before.
        repair: likewise, afterwards.
        parameters: of the driver, instead of those that fit.
        says: regular expression of the one line with which it ends; "": it starts all the same.
    """

    name: str
    drivers: tuple[str, ...]
    lines: tuple[str, ...] = ()
    repair: tuple[str, ...] = ()
    parameters: Mapping[str, object] = field(default_factory=dict)
    says: str = ""


WRONG = (
    Wrong(name="another baud rate", drivers=SERIAL, parameters={"baud_rate": 57600}),
    Wrong(name="an id that is not there", drivers=SERIAL, parameters={"ids": [1, 7]}, says="id 7"),
    Wrong(
        name="two servos with one id",
        drivers=SERIAL,
        lines=("double 1",),
        repair=("single",),
        says="no other id|of this id",
    ),
    Wrong(
        name="a servo in fault",
        drivers=SERIAL,
        lines=("faults overload@1",),
        repair=("faults", "power_cycle"),
    ),
    Wrong(
        name="every answer damaged",
        drivers=SERIAL,
        lines=("faults corrupt=1",),
        repair=("faults",),
        says=".",
    ),
    Wrong(name="no answer", drivers=SERIAL, lines=("faults drop=1",), repair=("faults",), says="."),
    Wrong(
        name="no drive at a position", drivers=("erob",), parameters={"positions": [1, 3]}, says="position 3"
    ),
    Wrong(name="a drive missing", drivers=("erob",), lines=("faults lost@2",), repair=("faults",), says="2"),
    Wrong(name="a drive in fault", drivers=("erob",), lines=("faults overheat@1",), repair=("faults",)),
    Wrong(
        name="a drive that does not go to OP",
        drivers=("erob",),
        lines=("faults safe_op@1",),
        repair=("faults",),
        says="position 1",
    ),
    Wrong(
        name="no SDO answered",
        drivers=("erob",),
        lines=("faults sdo_timeout@1",),
        repair=("faults",),
        says="position 1",
    ),
    Wrong(
        name="no frame answered", drivers=("erob",), lines=("faults drop=1",), repair=("faults",), says="."
    ),
)


def try_startups(rig: Rig) -> Iterator[Cell]:
    """Try all that can be wrong for this driver, and for drives the abort of each SDO request in turn."""
    driver = rig.servos.driver
    for wrong in WRONG:
        if driver in wrong.drivers:
            yield try_startup(rig, wrong)
    if driver == "erob":
        requests = _requests(rig)
        for number in range(1, requests + 1):
            name = f"SDO request {number} of {requests} aborted"
            lines, repair = (f"abort 1 {number}",), ("abort 1 0",)
            yield try_startup(
                rig, Wrong(name=name, drivers=("erob",), lines=lines, repair=repair), either=True
            )


def _requests(rig: Rig) -> int:
    """Return how many SDO requests a drive gets in a start-up that goes well."""
    rig.servos.request("abort 1 0")
    rig.start_driver()
    count = rig.servos.sdo_requests()
    rig.end_driver()
    return count


def try_startup(rig: Rig, wrong: Wrong, *, either: bool = False) -> Cell:
    """Start a driver where something is wrong; `either`: it may start, or refuse with one line."""
    problems: list[Problem | str] = []
    said = ""
    began = time.monotonic()
    rig.break_(wrong.lines, wrong.repair)
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        process = rig.spawn_driver(log, wrong.parameters)
        try:
            ended = _watch(rig, process, problems)
            lines = log.read_text(errors="replace").strip().splitlines()
            if ended:
                said = lines[-1] if lines else ""
                problems += _refusal(process, lines, wrong.says or ("." if either else ""))
            elif wrong.says:
                problems.append(f"it started (expected {wrong.says!r})")
        finally:
            process.kill()
            process.wait()
            rig.repair()
    seconds = time.monotonic() - began
    if not problems:
        problems += _goes_afterwards(rig)
    return Cell(
        driver=rig.servos.driver,
        state=STATE,
        event=wrong.name,
        bound=BOUND,
        seconds=seconds,
        says=said,
        back=math.nan,
        problems=tuple(problems),
    )


def _watch(rig: Rig, process: subprocess.Popen[bytes], problems: list[Problem | str]) -> bool:
    """Wait until the driver has ended or publishes, and watch the torque; return whether it ended."""
    began = time.monotonic()
    while process.poll() is None:
        if any(rig.driven()):
            problems.append("torque came on")
        if rig.watcher.arrived > began + 0.1:
            return False
        if time.monotonic() - began > BOUND:
            problems.append(f"neither started nor ended within {BOUND:g} s")
            return False
        time.sleep(0.01)
    return True


def _refusal(process: subprocess.Popen[bytes], lines: list[str], pattern: str) -> list[Problem | str]:
    problems: list[Problem | str] = []
    if not pattern:
        problems.append(NotStarted(last="".join(lines[-1:])))
    if process.returncode != 2:
        problems.append(f"status {process.returncode} (expected 2)")
    if any("Traceback" in line for line in lines):
        problems.append("a traceback")
    if not lines or not re.search(REFUSAL, lines[-1]) or not re.search(pattern, lines[-1]):
        problems.append(f"says {lines[-1:]} (expected {pattern!r})")
    return problems


def _goes_afterwards(rig: Rig) -> list[str]:
    """Return what is wrong with a start once all is repaired."""
    try:
        rig.start_driver()
        return ["torque came on"] if any(rig.driven()) else []
    except BamError as error:
        return [str(error)]
    finally:
        rig.end_driver()
