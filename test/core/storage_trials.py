# SPDX-License-Identifier: Apache-2.0
"""Work that changes files, with a fault at each of its steps.

Runs in a process of its own with `write_faults.cc` preloaded, and forks for every trial, so that nothing is
imported or computed twice; what came of them is printed as JSON.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import json
import logging
import os
import re
import shutil
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import ClassVar

from bam_core.errors import BamError
from bam_core.files.atomic_file import LEFT_AFTER

KINDS = {"killed before": 1, "killed halfway": 2, "disk full": 3, "read-only": 4}
"""Of faults, as write_faults.cc numbers them. The last two hold from the step on."""
_KILLED = ("killed before", "killed halfway")
_OWN = re.compile(r"\.\d+\.[0-9a-f]{6}\.tmp")  # what differs in hidden names from process to process


class Case(ABC):
    """Something that is written.

    Args:
        beside: directory for what the case needs and no fault meets.

    Attributes:
        may_stay: hidden names that may be left for good.
    """

    may_stay: ClassVar[tuple[str, ...]] = ()

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
        self._finished: set[str] = set()
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
        assert self._case.state(self._place) == "new", self._words()
        assert not self._left()
        return int(os.read(read, 100))

    def states(self, kind: str, chosen: Iterable[int]) -> Counter[str]:
        """Try a kind of fault at each of these steps; return what was there afterwards, and how often."""
        found: Counter[str] = Counter()
        for at in chosen:
            try:
                found[self._try(kind, at)] += 1
            except Exception as error:
                words = " ".join(f"{type(error).__name__}: {error}".split())
                self.problems.append(f"{kind}, step {at}: {words}")
        return found

    def _try(self, kind: str, at: int) -> str:
        case, place = self._case, self._place
        self._clear()
        status = self._run(KINDS[kind], at)
        there = self._fingerprint()
        state = case.state(place)
        if kind in _KILLED:
            assert status in (-signal.SIGKILL, 0), f"status {status}"
        else:
            assert status in (0, 2), f"status {status}, {state}: {self._words()}"
            assert status == 0 or kind == "read-only" or not self._left(), f"left: {self._left()}"
            assert state != "new" or at > 1
        if there not in self._finished:
            self._finish()
            self._finished.add(there)
        return state

    def _finish(self) -> None:
        """Check that the same work goes well afterwards and leaves nothing of what was left."""
        for path in self._left():
            past = time.time() - 2.0 * LEFT_AFTER
            os.utime(path, (past, past))
        self._case.clear(self._place)
        status = self._run(0, 0)
        assert status == 0, f"again: status {status}: {self._words()}"
        assert self._case.state(self._place) == "new"
        assert not self._left(), f"left for good: {self._left()}"

    def _fingerprint(self) -> str:
        """Return a digest of names and contents: where two are equal, the same work goes on alike."""
        files = sorted((_OWN.sub(".tmp", str(path)), path) for path in self._place.rglob("*"))
        digest = hashlib.sha256()
        for name, path in files:
            digest.update(f"{name}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"directory")
        if self._case.acknowledged.exists():
            digest.update(self._case.acknowledged.read_bytes())
        return digest.hexdigest()

    def _left(self) -> list[Path]:
        """Return what is hidden below the place and must not stay."""
        return [path for path in self._place.rglob(".*.tmp") if path.name not in self._case.may_stay]

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


def main(cases: Mapping[str, type[Case]]) -> None:
    """Try the case that the first argument names, in the directory that the second one names.

    The third argument is how many steps are tried with each kind of fault, evenly from the first to the
    last; 0: all. Prints how many steps there are, how many were tried, what was there after each kind of
    fault, and what is not as it must be.
    """
    logging.disable()
    name, beside, most = sys.argv[1], Path(sys.argv[2]).resolve(), int(sys.argv[3])
    trials = Trials(cases[name](beside), beside / "place")
    steps = trials.steps()
    count = min(most, steps) if most else steps
    chosen = sorted({1 + index * (steps - 1) // max(count - 1, 1) for index in range(count)})
    states = {kind: trials.states(kind, chosen) for kind in KINDS}
    print(json.dumps({"steps": steps, "tried": len(chosen), "states": states, "problems": trials.problems}))
