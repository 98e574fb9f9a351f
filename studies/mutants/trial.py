# SPDX-License-Identifier: Apache-2.0
"""Bugs of rooms, tried one at a time: their tests are run in a copy of the tree until one of them fails."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import Unavailable
from studies.mutants.python_mutations import Mutation
from studies.mutants.record import NOT_BUILT, NOTICED, SURVIVED, UNFINISHED, Outcome, Record
from studies.mutants.rooms import Room, stages_of
from studies.mutants.tree import LIBRARIES, TestRun, Tree

_FIRST_LIMIT = 1800.0  # s, of a processor and of the wall: tests without a bug
_UNKNOWN = 5.0  # s; a file that was never run
_MORE = 3.0  # times what tests take without a bug is their limit with one,
_WALL = 40.0  # times the limit of a processor's time: other work goes on beside


def drawn(mutations: Sequence[Mutation], seed: int, room: str, count: int) -> list[Mutation]:
    """Return so many of the bugs of a room, in an order that the seed draws: a larger count begins alike."""
    order = list(mutations)
    random.Random(f"{seed} {room}").shuffle(order)
    return order[:count]


@dataclass
class _Bug:
    """A bug with its tests, and the seconds of a processor that they took so far."""

    name: str
    room: Room
    mutation: Mutation
    stages: list[list[str]]
    seconds: float = 0.0
    tested: bool = False  # by tests that pass without it


class Trial:
    """A copy of the tree, its tests without bugs, and the record."""

    def __init__(
        self,
        root: Path,
        place: Path,
        *,
        seconds: float,
        libraries: Sequence[str] = LIBRARIES,
        least: float = 30.0,
    ) -> None:
        """Copy the tree.

        Args:
            root: of the checkout.
            place: of copy and record.
            seconds: limit of time.
            libraries: see `Tree`.
            least: what the limit of a processor's time leaves besides that of the tests, s: for loading.
        """
        place = place.resolve()  # tests run in the copy
        self._least = least
        self._record = Record(place / "record.jsonl")
        self._times_path = place / "times.json"
        self._deadline = time.monotonic() + seconds
        self._tree = Tree(root, place / "tree", libraries)
        self._times: dict[str, float] = {}
        self._green: set[str] = set()  # files that this trial has seen pass,
        self._red: set[str] = set()  # and fail, without a bug
        self._tree.keep_kernels()
        if self._times_path.exists():
            self._times = json.loads(self._times_path.read_text())

    def run(self, rooms: dict[str, Room], seed: int, count: int) -> list[Outcome]:
        """Try bugs of rooms: all of them under their first tests, then those left under the next ones.

        Bugs that some tests have met, but not all, when the time ends are UNFINISHED; those that none has met
        have no outcome.

        Raises:
            Unavailable: all tests of a bug fail without it.
        """
        path = self._tree.path
        bugs = []
        for name, room in rooms.items():
            chosen = drawn(room.mutations(path), seed, name, count)
            stages = {
                source: stages_of(path, room, source) for source in {mutation.path for mutation in chosen}
            }
            bugs += [_Bug(name, room, mutation, stages[mutation.path]) for mutation in chosen]
        random.Random(seed).shuffle(bugs)  # so that all rooms have some where the time ends early
        known_outcomes = {bug.mutation.key: known for bug in bugs if (known := self._known(bug)) is not None}
        left = [bug for bug in bugs if bug.mutation.key not in known_outcomes]
        try:
            for level in range(max((len(bug.stages) for bug in left), default=0)):
                for bug in list(left):
                    if time.monotonic() > self._deadline:
                        unfinished = [bug for bug in left if bug.seconds]
                        return [
                            *known_outcomes.values(),
                            *(self._outcome(bug, UNFINISHED, "") for bug in unfinished),
                        ]
                    result, by = self._tried(bug, level)
                    if result != SURVIVED or level + 1 == len(bug.stages):
                        if result == SURVIVED and not bug.tested:
                            raise Unavailable(
                                f"tests of {bug.mutation.path}",
                                "all fail without a bug",
                                advice="run them, and fix them first",
                            )
                        known_outcomes[bug.mutation.key] = self._done(bug, result, by)
                        left.remove(bug)
        finally:
            self._tree.close()
        return list(known_outcomes.values())

    def _known(self, bug: _Bug) -> Outcome | None:
        known = self._record.known(bug.mutation.key)
        return known if known is not None and known.state == self._state(bug, known.by) else None

    def _outcome(self, bug: _Bug, result: str, by: str) -> Outcome:
        return Outcome(
            room=bug.name,
            key=bug.mutation.key,
            line=bug.mutation.line,
            outcome=result,
            by=by,
            state=self._state(bug, by),
            seconds=round(bug.seconds, 1),
        )

    def _done(self, bug: _Bug, result: str, by: str) -> Outcome:
        outcome = self._outcome(bug, result, by)
        self._record.add(outcome)
        print(f"{outcome.outcome:9} {outcome.seconds:6.1f} s  {outcome.key}  {by}", flush=True)
        return outcome

    def _tried(self, bug: _Bug, level: int) -> tuple[str, str]:
        """Run the tests of a stage with the bug; return what became of it, and what noticed it."""
        while files := [file for file in sorted(bug.stages[level], key=self._time) if file not in self._red]:
            limit = _MORE * sum(map(self._time, files)) + self._least + bug.room.compiled
            with self._tree.with_bug(bug.mutation) as built:
                if not built:
                    return NOT_BUILT, ""
                run = self._tree.run(files, processor=limit, wall=_WALL * limit)
            bug.seconds += run.processor
            if run.passed:
                bug.tested = True
                self._keep_times(files, run)
                break
            # Whatever noticed it has to pass without the bug, and its limit to be of that.
            suspects = [run.by.split("::")[0]] if "::" in run.by else files
            if all(file in self._green for file in suspects):
                return NOTICED, run.by
            self._measure(suspects)
        return SURVIVED, ""

    def _measure(self, files: Sequence[str]) -> None:
        """Run tests without a bug, each file by itself: how long they take, and that they pass."""
        for file in files:
            if file not in self._green:
                run = self._tree.run([file], processor=_FIRST_LIMIT, wall=_WALL * _FIRST_LIMIT)
                if run.passed:
                    self._keep_times([file], run)
                else:
                    print(f"left out: {run.by} fails without a bug", flush=True)
                    self._red.add(file)
        self._tree.keep_kernels()

    def _time(self, file: str) -> float:
        return self._times.get(file, _UNKNOWN)

    def _keep_times(self, files: Sequence[str], run: TestRun) -> None:
        self._green |= set(files)
        self._times |= {file: run.files.get(file, 0.0) for file in files}
        self._times_path.parent.mkdir(parents=True, exist_ok=True)
        self._times_path.write_text(json.dumps(self._times))

    def _state(self, bug: _Bug, by: str) -> str:
        """Return the digest of what an outcome depends on: of the test that noticed it, or of all."""
        noticed = by.split("::")[0]
        tests = [noticed] if "::" in by else [file for stage in bug.stages for file in stage]
        digest = hashlib.sha256()
        for path in sorted({bug.mutation.path, *tests}):
            digest.update((self._tree.path / path).read_bytes())
        return digest.hexdigest()[:16]
