# SPDX-License-Identifier: Apache-2.0
"""Work that changes files, with a fault at each of its steps: `storage_cases.py CASE PLACE`.

Runs in a process of its own with `write_faults.cc` preloaded, and forks for every trial; what came of them is
printed as JSON.
"""

from __future__ import annotations

import ctypes
import io
import json
import logging
import os
import shutil
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import ClassVar

import pytest
from identification_cases import leave_out_intervals, mx106, record, write_log

from bam_core.atomic_file import LEFT_AFTER
from bam_core.cli import main
from bam_core.errors import BamError
from bam_core.identification import writing
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.writing import write_identification
from bam_core.recordings import load_recordings
from bam_core.recordings.bag_writer import METADATA_NAME, BagWriter
from bam_core.recordings.mcap_messages import read_messages
from bam_core.servo.model import load_servo

KINDS = {"killed before": 1, "killed halfway": 2, "disk full": 3, "read-only": 4}
"""Of faults, as write_faults.cc numbers them. The last two hold from the step on."""
_KILLED = ("killed before", "killed halfway")


class Case(ABC):
    """Something that is written.

    Args:
        beside: directory for what the case needs and no fault meets.
    """

    def __init__(self, beside: Path) -> None:
        self.acknowledged = beside / "acknowledged"

    @abstractmethod
    def prepare(self, place: Path) -> None:
        """Bring an empty directory into the state before."""

    @abstractmethod
    def work(self, place: Path) -> int:
        """Change it; return an exit status, or raise BamError."""

    @abstractmethod
    def state(self, place: Path) -> str:
        """Say what is there: "old", "new", or what else is whole; AssertionError where nothing is."""

    def clear(self, place: Path) -> None:  # noqa: B027 - most replace what is there
        """Take away what the same work would refuse to replace."""

    def acknowledge(self, count: int) -> None:
        """Note how many things were written for good."""
        self.acknowledged.write_text(str(count))

    def count(self) -> int:
        """Return how many things were written for good."""
        return int(self.acknowledged.read_text())


class ServoFile(Case):
    """A servo file that replaces another one."""

    def prepare(self, place: Path) -> None:
        load_servo("mx64").save(place / "servo.yaml")

    def work(self, place: Path) -> int:
        load_servo("mx106").save(place / "servo.yaml")
        return 0

    def state(self, place: Path) -> str:
        return {"mx64": "old", "mx106": "new"}[load_servo(place / "servo.yaml").name]


class Bag(Case):
    """A bag of a run, whose messages are handed over every now and then."""

    TOPICS: ClassVar = {"/chatter": ("std_msgs/msg/UInt64", "uint64 data\n", "")}
    MESSAGES = 60

    def prepare(self, place: Path) -> None:
        self.acknowledge(0)

    def work(self, place: Path) -> int:
        bag = BagWriter(place / "run", self.TOPICS)
        try:
            for number in range(self.MESSAGES):
                bag.write("/chatter", 1 + number, b"\0\1\0\0" + number.to_bytes(8, "little"))
                if number % 4 == 3:
                    bag.flush()
                    self.acknowledge(number + 1)
            bag.close()
        except OSError:  # as the recorder does
            bag.abandon()
            return 2
        return 0

    def clear(self, place: Path) -> None:
        self.acknowledge(0)
        if (place / "run").exists():  # the recorder sets it aside
            (place / "run").rename(place / "run.interrupted-1")

    def state(self, place: Path) -> str:
        run = place / "run"
        files = sorted(run.glob("*.mcap"))
        numbers: list[int] = []
        if files and (self.count() or files[0].stat().st_size):
            try:
                numbers = [m.value.data for m in read_messages(files[0], {"std_msgs/msg/UInt64"}).messages]
            except BamError:
                assert not self.count()
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= self.count(), f"{self.count()} acknowledged, {len(numbers)} there"
        if (run / METADATA_NAME).exists():
            assert len(numbers) == self.MESSAGES
            return "new"
        return "interrupted" if run.exists() else "none"


class Bags(Case):
    """Logs that become bags."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._logs = beside / "logs"
        self._logs.mkdir()
        for script in ("sin_sin", "up_and_down"):
            path = write_log(record(mx106("m1"), script, 8.0), self._logs / f"{script}.json")
            log = json.loads(path.read_text())
            path.write_text(json.dumps({**log, "entries": log["entries"][:100]}))
        self._samples = {log.name: len(log) for log in load_recordings([self._logs])}

    def prepare(self, place: Path) -> None:
        pass

    def work(self, place: Path) -> int:
        return main(["import", str(self._logs), "--output", str(place / "bags")])

    def clear(self, place: Path) -> None:
        for bag in (place / "bags").glob("[!.]*"):
            shutil.rmtree(bag)

    def state(self, place: Path) -> str:
        bags = [bag for bag in (place / "bags").glob("*") if not bag.name.startswith(".")]
        for bag in bags:
            (found,) = load_recordings([bag])
            assert len(found) == self._samples[bag.name]
        return {0: "none", len(self._samples): "new"}.get(len(bags), "some")


class Report(Case):
    """A report that replaces another one."""

    def __init__(self, beside: Path) -> None:
        super().__init__(beside)
        self._results = beside / "results"
        write_identification(identified(), self._results)
        assert main(["report", str(self._results), "--output", str(beside / "page.html")]) == 0
        self._page = (beside / "page.html").read_text()

    def prepare(self, place: Path) -> None:
        (place / "report.html").write_text("old")

    def work(self, place: Path) -> int:
        return main(["report", str(self._results), "--output", str(place / "report.html")])

    def state(self, place: Path) -> str:
        return {"old": "old", self._page: "new"}[(place / "report.html").read_text()]


CASES: dict[str, type[Case]] = {
    "servo file": ServoFile,
    "bag": Bag,
    "bam import": Bags,
    "bam report": Report,
}


def identified() -> Identification:
    """Identify synthetic logs of an MX-106, briefly."""
    logs = [record(mx106("m1"), script, 8.0) for script in ("sin_sin", "lift_and_drop", "up_and_down")]
    with pytest.MonkeyPatch.context() as patch:
        leave_out_intervals(patch)
        return identify(logs, load_servo("mx106"), ["m1"], trials=60, test="script=up_and_down")


def left_in(place: Path) -> list[Path]:
    """Return what is hidden in a directory and what is below it."""
    return [path for path in place.rglob(".*.tmp") if path.name != f".{METADATA_NAME}.tmp"]


class Trials:
    """Trials of one case.

    Args:
        case: to try.
        place: directory in which files are changed.
    """

    def __init__(self, case: Case, place: Path) -> None:
        self._case, self._place = case, place
        self._faults = ctypes.CDLL(None)
        self._faults.faults_begin.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_long]
        self._faults.faults_steps.restype = ctypes.c_long
        self.problems: list[str] = []

    def steps(self) -> int:
        """Return in how many steps files are changed where all goes well."""
        read, write = os.pipe()
        self._clear()
        if not (child := os.fork()):
            self._begin(0, 0)
            self._work()
            os.write(write, str(self._faults.faults_steps()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert self._case.state(self._place) == "new"
        assert not left_in(self._place)
        return int(os.read(read, 100))

    def states(self, kind: str, steps: int) -> Counter[str]:
        """Try a kind of fault at every step; return what was there afterwards, and how often."""
        found: Counter[str] = Counter()
        for at in range(1, steps + 1):
            try:
                found[self._try(kind, at)] += 1
            except Exception as error:
                words = " ".join(f"{type(error).__name__}: {error}".split())
                self.problems.append(f"{kind}, step {at} of {steps}: {words}")
        return found

    def _try(self, kind: str, at: int) -> str:
        case, place = self._case, self._place
        self._clear()
        status = self._run(KINDS[kind], at)
        state = case.state(place)
        if kind in _KILLED:
            assert status in (-signal.SIGKILL, 0), f"status {status}"
        else:
            assert status in (0, 2), f"status {status}, {state}: {self._words()}"
            assert status == 0 or kind == "read-only" or not left_in(place), f"left: {left_in(place)}"
            assert state != "new" or at > 1
        for path in left_in(place):
            past = time.time() - 2.0 * LEFT_AFTER
            os.utime(path, (past, past))
        self._finish()
        return state

    def _finish(self) -> None:
        """Check that the same work goes well afterwards and leaves nothing of what was left."""
        self._case.clear(self._place)
        status = self._run(0, 0)
        assert status == 0, f"again: status {status}: {self._words()}"
        assert self._case.state(self._place) == "new"
        assert not left_in(self._place), f"left for good: {left_in(self._place)}"

    def _clear(self) -> None:
        shutil.rmtree(self._place, ignore_errors=True)
        self._place.mkdir(parents=True)
        self._case.prepare(self._place)

    def _run(self, kind: int, at: int) -> int:
        """Work in a process of its own; return its status."""
        if not (child := os.fork()):
            self._begin(kind, at)
            os._exit(self._work())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _begin(self, kind: int, at: int) -> None:
        self._faults.faults_begin(str(self._place).encode(), kind, at)

    def _work(self) -> int:
        """Work, and note what is said; return 0, 2 where it is one line, or 3."""
        said = io.StringIO()
        try:
            with redirect_stderr(said), redirect_stdout(io.StringIO()):
                status = self._case.work(self._place)
        except BamError as error:
            status = 2
            said.write(f"{error}\n")
        except BaseException as error:
            status = 3
            said.write(f"{type(error).__name__}: {error}")
        lines = [line for line in said.getvalue().splitlines() if line.strip()]
        self._case.acknowledged.with_name("said").write_text(" | ".join(lines))
        return 3 if status == 2 and len(lines) > 1 else status

    def _words(self) -> str:
        return self._case.acknowledged.with_name("said").read_text()


def try_case(name: str, beside: Path, kinds: Iterable[str] = KINDS) -> dict[str, object]:
    """Return the number of steps, what was there after each kind of fault, and what is not as it must be."""
    trials = Trials(CASES[name](beside), beside / "place")
    steps = trials.steps()
    states = {kind: trials.states(kind, steps) for kind in kinds}
    return {"steps": steps, "states": states, "problems": trials.problems}


if __name__ == "__main__":
    logging.disable()
    writing._plot = lambda *_: None  # a report draws its own
    print(json.dumps(try_case(sys.argv[1], Path(sys.argv[2]).resolve())))
