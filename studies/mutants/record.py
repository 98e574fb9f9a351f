# SPDX-License-Identifier: Apache-2.0
"""What became of deliberate bugs: a line of JSON each, so that a run that was ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from bam_core.text.table import format_table
from studies.mutants.rooms import ROOMS

NOTICED, SURVIVED, NOT_BUILT, UNFINISHED = "noticed", "survived", "not built", "unfinished"

HARMLESS = Path(__file__).with_name("harmless.yaml")
"""Bugs that change nothing that a user could see, each with the reason."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one bug.

    Attributes:
        room: as in `rooms.ROOMS`.
        key: see `Mutation.key`.
        line: of the source when the bug was tried.
        outcome: NOTICED, SURVIVED, or NOT_BUILT where C++ does not compile.
        by: the first test that failed, or the limit of time that was reached.
        state: digest of the source and of the test that noticed it, or of all that did not.
        seconds: of a processor.
    """

    room: str
    key: str
    line: int
    outcome: str
    by: str
    state: str
    seconds: float


class Record:
    """The file of outcomes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._known = {outcome.key: outcome for outcome in (Outcome(**json.loads(line)) for line in lines)}

    def known(self, key: str) -> Outcome | None:
        """Return what became of a bug the last time."""
        return self._known.get(key)

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        self._known[outcome.key] = outcome
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def harmless() -> dict[str, str]:
    """Return the reasons by the keys of bugs."""
    entries = yaml.safe_load(HARMLESS.read_text()) or []
    return {entry["bug"]: entry["reason"] for entry in entries}


def share_table(outcomes: Sequence[Outcome], reasons: Mapping[str, str]) -> str:
    """Return the share that is noticed, by room, by group and of all.

    Harmless bugs do not count. Unfinished ones count as not noticed: what is noticed is noticed early.
    """
    rows = []
    for group in dict.fromkeys(room.group for room in ROOMS.values()):
        names = [name for name, room in ROOMS.items() if room.group == group]
        rows += [
            _row(group, name, (outcome for outcome in outcomes if outcome.room == name), reasons)
            for name in names
        ]
        rows.append(
            _row(group, "together", (outcome for outcome in outcomes if outcome.room in names), reasons)
        )
    rows.append(_row("all", "", outcomes, reasons))
    header = ("group", "room", "bugs", "noticed", "harmless", "open", "unfinished", "share")
    return format_table(header, [row for row in rows if row is not None])


def _row(
    group: str, room: str, outcomes: Iterable[Outcome], reasons: Mapping[str, str]
) -> tuple[str, ...] | None:
    built = [outcome for outcome in outcomes if outcome.outcome != NOT_BUILT]
    noticed = sum(outcome.outcome == NOTICED for outcome in built)
    explained = sum(outcome.outcome == SURVIVED and outcome.key in reasons for outcome in built)
    if not built:
        return None
    counted = len(built) - explained
    share = f"{100.0 * noticed / counted:.1f} %" if counted else "–"
    unfinished = sum(outcome.outcome == UNFINISHED for outcome in built)
    numbers = (len(built), noticed, explained, counted - noticed - unfinished, unfinished)
    return group, room, *map(str, numbers), share


def survivors(outcomes: Sequence[Outcome], reasons: Mapping[str, str]) -> str:
    """List what no test has noticed, the unexplained first."""
    unnoticed = [outcome for outcome in outcomes if outcome.outcome == SURVIVED]
    lines = [
        f"{outcome.room}, line {outcome.line}: {outcome.key}\n"
        f"    {reasons.get(outcome.key, 'open: write a test')}"
        for outcome in sorted(unnoticed, key=lambda outcome: outcome.key in reasons)
    ]
    return "\n".join(lines)
