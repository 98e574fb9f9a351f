# SPDX-License-Identifier: Apache-2.0
"""Dynaban's text files become one recording per run, and what is wrong with one is told in a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.errors import BadData, BamError, Malformed, Missing, OutOfRange, Unsupported
from bam_core.recordings import load_recordings, read_open_loop_text
from bam_core.recordings.header_corrections import rules_from
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.error_findings import OpenLoopErrors
from test.core.finding_cases import logged
from test.core.json_log_cases import log, save
from test.core.refusals import refused

COUNT = 2.0 * math.pi / 4096
SAMPLES = 30


def rows(command: int = 1500, start: int = 4000, step: int = 5) -> list[str]:
    """Return the lines of a run at a constant speed, whose counts start anew after a turn."""
    counts = [(start + step * k) % 4096 for k in range(SAMPLES)]
    return [
        f"{9 + 10 * k} {command} {count} {command if k == 0 else 1000 * step}"
        for k, count in enumerate(counts)
    ]


def written(path: Path, runs: Sequence[Sequence[str]], kind: str = "2") -> Path:
    blocks = [f"StartOfNewTest {kind}", ""]
    for run in runs:
        blocks += ["", "Time Command Position Speed", *run]
    path.write_text("\r\n".join(blocks))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "no_load.txt", [rows(), rows(command=-600, start=40, step=-5)])


def test_every_run_is_a_recording_of_its_own(path: Path) -> None:
    first, second = load_recordings(path)
    assert [first.name, second.name] == ["no_load_0", "no_load_1"]
    assert first.open_loop
    assert (first.kp, first.script, first.servo, first.supply_voltage) == (0.0, "type2", "mx64", 12.0)
    assert first.bench.inertia == 0.0
    np.testing.assert_allclose(first.time, 9e-4 + 1e-3 * np.arange(SAMPLES))
    np.testing.assert_array_equal(first.duty, 0.5)
    np.testing.assert_array_equal(second.duty, -0.2)
    assert np.isnan(first.goal_position).all()
    assert (first.sha256, first.source) != (second.sha256, second.source)


def test_positions_go_on_beyond_a_turn_and_stay_near_zero(path: Path) -> None:
    for recording, step in zip(load_recordings(path), (5, -5), strict=True):
        np.testing.assert_allclose(np.diff(recording.position), step * COUNT)
        assert abs(recording.position.mean()) <= math.pi


def test_the_speed_that_repeats_the_command_is_left_out(path: Path) -> None:
    first, _ = load_recordings(path)
    assert np.isnan(first.velocity[0])
    np.testing.assert_allclose(first.velocity[1:], 5000 * COUNT)


def test_a_search_takes_such_files_and_passes_over_other_texts(path: Path) -> None:
    (path.parent / "notes.txt").write_text("none")
    assert len(load_recordings(path.parent)) == 2


@pytest.mark.parametrize(("stem", "inertia"), [("no_load", 0.0), ("heavy_load", 0.004)])
def test_loads_of_the_published_files_are_known(tmp_path: Path, stem: str, inertia: float) -> None:
    (recording,) = load_recordings(written(tmp_path / f"{stem}.txt", [rows()]))
    assert recording.bench.inertia == inertia


def test_the_load_of_another_file_is_set_from_outside(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.txt", [rows()])
    with refused(Missing, thing="inertia") as caught:
        load_recordings(path)
    assert str(caught.value).startswith(f"{path}/mine_0: ")
    (recording,) = load_recordings(path, set_fields=["inertia=0.01", "motor=mx106", "vin=14"])
    assert (recording.bench.inertia, recording.servo, recording.supply_voltage) == (0.01, "mx106", 14.0)
    assert {each.field for each in recording.corrections} == {"inertia", "motor", "vin"}
    (tmp_path / "bench.yaml").write_text("set: {inertia: 0.02}")
    (recording,) = load_recordings(path)
    assert recording.bench.inertia == 0.02


def test_a_load_that_gravity_turns_is_a_pendulum(tmp_path: Path) -> None:
    path = written(tmp_path / "mine.txt", [rows()])
    (recording,) = load_recordings(path, set_fields=["mass=0.28", "length=0.12"])
    assert recording.bench == PendulumBench(mass=0.28, length=0.12)


def test_an_inertia_is_refused_for_logs_in_closed_loop(tmp_path: Path) -> None:
    path = save(tmp_path, log())
    with refused(Unsupported, thing="inertia"):
        load_recordings(path, set_fields=["inertia=1"])


BROKEN = {
    "another text": ("hello", Malformed, {"problem": "does not begin with StartOfNewTest"}),
    "no kind": ("StartOfNewTest\n", Malformed, {"problem": "line 1 is 'StartOfNewTest'"}),
    "no run": ("StartOfNewTest 0\n", Malformed, {"problem": "holds no run"}),
    "other columns": ("StartOfNewTest 0\nTime Speed\n", Malformed, {"problem": "line 2 is 'Time Speed'"}),
    "numbers first": ("StartOfNewTest 0\n9 50 10 0\n", Malformed, {"problem": "line 2 is '9 50 10 0'"}),
    "no samples": ("StartOfNewTest 0\nTime Command Position Speed\n", BadData, {"thing": "samples"}),
}


@pytest.mark.parametrize(("text", "error", "attributes"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused(
    tmp_path: Path, text: str, error: type[BamError], attributes: dict[str, str]
) -> None:
    path = tmp_path / "no_load.txt"
    path.write_text(text)
    with refused(error, **attributes) as caught:
        read_open_loop_text(path)
    assert str(path) in str(caught.value)


SPOILED = {
    "cut": ("129 1500 40", Malformed, {"problem": "line 17 is '129 1500 40'"}),
    "no number": ("129 1500 x 0", Malformed, {"problem": "line 17 is '129 1500 x 0'"}),
    "command": ("129 3001 100 0", OutOfRange, {"thing": "entry 12, Command", "value": 3001.0}),
    "position": ("129 1500 4096 0", OutOfRange, {"thing": "entry 12, Position", "value": 4096.0}),
    "time": ("119 1500 4060 5000", OutOfRange, {"thing": "entry 12, time"}),
}


@pytest.mark.parametrize(("row", "error", "attributes"), SPOILED.values(), ids=SPOILED)
def test_a_spoiled_line_is_named(
    tmp_path: Path, row: str, error: type[BamError], attributes: dict[str, object]
) -> None:
    run = rows()
    run[12] = row
    path = written(tmp_path / "no_load.txt", [run])
    with refused(error, **attributes):
        read_open_loop_text(path)


def test_a_time_in_another_unit_shows_in_the_speed(tmp_path: Path) -> None:
    run = [f"{each.split()[0]}0 {' '.join(each.split()[1:])}" for each in rows()]
    path = written(tmp_path / "no_load.txt", [run])
    with refused(BadData, thing="Time"):
        read_open_loop_text(path)


def test_rules_see_what_the_file_says(tmp_path: Path) -> None:
    path = written(tmp_path / "heavy_load.txt", [rows()])
    (recording,) = read_open_loop_text(path, rules=rules_from({"trajectory": "steps"}))
    assert recording.script == "steps"


@pytest.mark.parametrize("with_another", [False, True])
def test_errors_of_runs_in_open_loop_are_said_to_be_over_pieces(
    with_another: bool, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Together with runs in closed loop they are not."""
    others = [save(path.parent, log(motor="mx64"))] if with_another else []
    assert main(["validate", *map(str, [path, *others]), "--params", "mx64"]) == 0
    assert (OpenLoopErrors(restart=0.25) in logged(caplog)) != with_another
