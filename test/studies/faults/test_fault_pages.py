# SPDX-License-Identifier: Apache-2.0
"""What the fault matrix and the long runs write and count, without any driver."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path

import pytest
from bam_bench.msg import ServoStates
from rclpy.serialization import serialize_message

from bam_core.recordings.bag_writer import BagTopic, BagWriter
from bam_core.recordings.message_definition import message_definition
from studies.faults.__main__ import main
from studies.faults.cell import Cell, _reach_in_the_end
from studies.faults.cells_file import read_cells, write_cells
from studies.faults.events import ALL, EVENTS, Off, State
from studies.faults.listener import recorded
from studies.faults.page import page
from studies.faults.startup import WRONG
from studies.soak.drivers import Soaked, Use

from site_pages import fault_cells  # isort: skip


def cell(driver: str, state: str, seconds: float, *problems: str) -> Cell:
    return Cell(
        driver=driver,
        state=state,
        event="SIGINT",
        bound=1.0,
        seconds=seconds,
        says="",
        back=0.1,
        problems=problems,
    )


def test_the_largest_time_of_all_states_is_shown_for_each_driver() -> None:
    cells = [cell("a", "holding", 0.1), cell("a", "moving", 0.3), cell("b", "holding", math.nan, "stays on")]
    (row,) = [line for line in page(cells).splitlines() if line.startswith("| SIGINT | 0.30 |")]
    assert "(1 of 1 " in row.split("|")[3]


def test_runs_of_parts_become_one_page(tmp_path: Path) -> None:
    parts = [cell("a", "holding", 0.1)], [cell("b", "holding", 0.2)]
    files = [tmp_path / f"{number}.json" for number in range(2)]
    for path, cells in zip(files, parts, strict=True):
        path.write_text(json.dumps([asdict(each) for each in cells]))
    assert main(["--merge", *map(str, files), "--output", str(tmp_path / "all")]) == 0
    assert "| SIGINT | 0.10 | 0.20 |" in (tmp_path / "all.md").read_text()
    assert len(json.loads((tmp_path / "all.json").read_text())) == 2
    files[1].write_text(json.dumps([asdict(cell("a", "holding", 0.3))]))  # tried again
    assert main(["--merge", *map(str, files), "--output", str(tmp_path / "all")]) == 0
    assert [each["seconds"] for each in json.loads((tmp_path / "all.json").read_text())] == [0.3]


def test_the_site_s_page_is_of_the_last_results(tmp_path: Path) -> None:
    results = tmp_path / "faults.json"
    write_cells(results, [cell("a", "holding", 0.125), cell("a", "recording", math.nan, "stays on")])
    assert fault_cells.pages(results)[fault_cells.PAGE] == page(read_cells(results))


def test_without_results_the_site_s_page_is_of_what_has_to_follow(tmp_path: Path) -> None:
    text = fault_cells.pages(tmp_path / "none.json")[fault_cells.PAGE]
    by_driver = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}
    assert list(by_driver) == list(ALL)
    for event in EVENTS:
        for driver, part in by_driver.items():
            (row,) = [line for line in part.splitlines() if line.startswith(f"| {event.name} |")] or [""]
            follows = event.follows.get(driver)
            assert bool(row) == (follows is not None)
            if follows is not None:
                assert f" {follows.off.value} | " in row
                assert (f" {follows.within:.2f} " in row) == (follows.off is not Off.NONE)
    assert all(wrong.name in by_driver[driver] for wrong in WRONG for driver in wrong.drivers)


class BusyRig:
    """A rig whose servo has torque from the second try to reach a state on."""

    def __init__(self, said: str) -> None:
        self.clients, self.tries, self._said = (), 0, said

    def driven(self) -> tuple[bool, ...]:
        return (self.tries > 1,)

    def said_since(self, began: float, pattern: str) -> str:
        return self._said if pattern in self._said else ""


@pytest.mark.parametrize(
    ("said", "tries"),
    [
        ("hip: stopped itself, the bus was silent for 0.3 s; the machine is too busy", 2),
        ("hip: torque went off by itself", 1),
    ],
)
def test_a_state_is_reached_anew_where_the_machine_was_too_busy_and_not_otherwise(
    said: str, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach(rig: BusyRig, state: State) -> None:
        rig.tries += 1

    monkeypatch.setattr("studies.faults.cell._reach", reach)
    rig = BusyRig(said)
    _reach_in_the_end(rig, State.HOLDING)
    assert rig.tries == tries


def test_states_that_a_bag_lacks_are_counted(tmp_path: Path) -> None:
    kind = "bam_bench/msg/ServoStates"
    with BagWriter(tmp_path / "bag", {"/servo_states": BagTopic(kind, message_definition(kind))}) as bag:
        for sequence in (5, 6, 9):
            bag.write("/servo_states", sequence, bytes(serialize_message(ServoStates(sequence=sequence))))
    counts = recorded(tmp_path / "bag")
    assert (counts.newest, counts.lost) == (9, 2)


def test_a_long_run_in_which_anything_grows_or_is_lost_complains() -> None:
    same, more = Use(80.0, 24), Use(90.0, 25)
    flat = {"driver": "a", "seconds": 9.0, "states": 100, "undelivered": 0, "deaths": 3, "faults": ()}
    assert not Soaked(lost=0, missing=0, before=same, after=same, recorder=(same, same), **flat).complaints()
    told = Soaked(lost=1, missing=2, before=same, after=more, recorder=(same, more), **flat).complaints()
    for words in ("memory grew from 80.0 to 90.0", "a: descriptors", "recorder: descriptors"):
        assert any(words in line for line in told)
    assert any("1 of 100 " in line for line in told)
    assert any("2 of 100 " in line and "bag" in line for line in told)
