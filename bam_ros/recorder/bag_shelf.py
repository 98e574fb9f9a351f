# SPDX-License-Identifier: Apache-2.0
"""The bags in a session's output directory: complete or interrupted. Nothing is ever deleted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bam_core.errors import BamError, Conflict
from bam_core.recordings.bag_files import data_files, read_messages
from bam_core.recordings.bag_metadata import promised_messages
from bam_core.recordings.bag_writer import METADATA_NAME
from bam_core.recordings.run_end import is_set_aside, seconds_of
from bam_ros.recorder.session import PlannedRun, Session
from bam_ros.text.recorder_notices import BrokenBag

_RUN = "bam_bench/msg/BenchRun"
_STATES = "bam_bench/msg/ServoStates"
_SAME = 1e-9  # kg, m, V: as equal as a number written twice in YAML


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """What a directory holds of a session.

    Attributes:
        complete: names of runs whose bag is complete.
        broken: names of runs that are there in part -> what is wrong with it.
        others: number of bags of other runs, as of another session.
    """

    complete: frozenset[str]
    broken: dict[str, BrokenBag]
    others: int = 0


def inspect(output: Path, session: Session, topic: str) -> Shelf:
    """Look at the bag of every run of a session, without changing anything.

    Args:
        output: directory of the bags.
        session: that is recorded.
        topic: full name of that of `BenchRun`, by which two benches differ.

    Raises:
        Conflict: the directory of a run holds a complete bag of another run, or of another bench.
    """
    complete: set[str] = set()
    broken: dict[str, BrokenBag] = {}
    for run in session.runs():
        directory = output / run.name
        if not directory.exists():
            continue
        problem = _problem(directory, run, session, topic)
        if problem is None:
            complete.add(run.name)
        else:
            broken[run.name] = problem
    planned = {run.name for run in session.runs()}
    others = sum(
        (bag / METADATA_NAME).is_file() and bag.name not in planned and not is_set_aside(bag)
        for bag in (output.iterdir() if output.is_dir() else ())
    )
    return Shelf(complete=frozenset(complete), broken=broken, others=others)


def set_aside(directory: Path, reason: str = "interrupted") -> Path:
    """Rename the bag of a run that does not count, so that it can be recorded again; return its path.

    Searches for recordings know it by its name: see `run_end.is_set_aside`.
    """
    number = 1
    while (aside := directory.with_name(f"{directory.name}.{reason}-{number}")).exists():
        number += 1
    return directory.rename(aside)


def _problem(directory: Path, run: PlannedRun, session: Session, topic: str) -> BrokenBag | None:
    """What is wrong with a bag; None where it is the complete bag of this run."""
    try:
        promised = promised_messages(directory)
        finished = promised is not None
        files = [
            read_messages(file, {_RUN} if finished else {_RUN, _STATES}) for file in data_files(directory)
        ]
    except BamError as error:
        return BrokenBag(kind="unreadable", reason=str(error))
    except OSError as error:
        return BrokenBag(kind="unreadable", reason=error.strerror or str(error))
    messages = [message for file in files for message in file.messages]
    headers = [message for message in messages if message.type == _RUN]
    runs = [message.value for message in headers]
    if not finished:
        states = [message for message in messages if message.type == _STATES]
        if not runs or not states:
            return BrokenBag(kind="no_state")
        start = runs[0].header.stamp.sec * 10**9 + runs[0].header.stamp.nanosec
        return BrokenBag(kind="interrupted", duration=max(states[-1].log_time - start, 0) * 1e-9)
    count = sum(file.count for file in files)
    if promised is not None and count < promised:
        return BrokenBag(kind="cut_short", messages=count, expected=promised)
    if not runs:
        return BrokenBag(kind="no_header", expected=_RUN)
    if headers[-1].topic != topic:
        raise Conflict(
            str(directory),
            f"holds a run of another bench ({headers[-1].topic}, not {topic})",
            advice="choose another output directory for this bench",
        )
    difference = _difference(runs[-1], run, session)
    if difference:
        raise Conflict(
            str(directory),
            f"holds another run ({difference})",
            advice="choose another output directory for this session",
        )
    return None


def _difference(recorded: Any, run: PlannedRun, session: Session) -> str | None:
    """Name the first field in which a recorded run differs from a planned one."""
    texts = {"servo": session.servo.name, "joint": session.joint, "script": run.script.name}
    for field, text in texts.items():
        if getattr(recorded, field) != text:
            return f"{field} {getattr(recorded, field)!r}, not {text!r}"
    numbers = {
        "id": session.id,
        "mass": run.load.mass,
        "arm_mass": run.load.arm_mass,
        "length": run.load.length,
        "kp": run.kp,
        "supply_voltage": session.supply_voltage,
        "duration": run.script.duration,
    }
    for field, number in numbers.items():
        value = getattr(recorded, field)
        if field == "duration":
            value = seconds_of(value)
        if abs(value - number) > _SAME:
            return f"{field} {value:g}, not {number:g}"
    return None
