# SPDX-License-Identifier: Apache-2.0
"""Folders of isaac-sim2real/sage are runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData, Malformed, Unreadable
from bam_core.recordings.recording_map import RecordingMap
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.sage_run import read_sage_run
from test.core.refusals import refused

JOINTS = ("Rotation", "Pitch", "Elbow", "Wrist_Pitch", "Wrist_Roll", "Jaw")
PERIOD = 20060.0  # us
CYCLES = 200


def positions(cycle: int, lag: int = 0) -> list[float]:
    return [float(0.2 * np.sin(0.02 * (cycle - lag) + joint) + 0.1 * joint) for joint in range(len(JOINTS))]


def write_run(path: Path, joints: tuple[str, ...] = JOINTS) -> Path:
    """A folder as SAGE writes it; goals begin three cycles after the states."""
    path.mkdir(parents=True)
    goals = [f'CONTROL,{PERIOD * k + 7.1},"{positions(k)}"' for k in range(3, CYCLES)]
    states = [
        f'STATE_MOTOR,{PERIOD * k + 7.1},"{positions(k, 2)}","{[0.0] * 6}","{[0.0] * 6}"'
        for k in range(CYCLES)
    ]
    (path / "control.csv").write_text("\n".join(["type,timestamp,positions", *goals]) + "\n")
    header = "type,timestamp,positions,velocities,torques"
    (path / "state_motor.csv").write_text("\n".join([header, *states]) + "\n")
    (path / "event.csv").write_text("type,timestamp,event\nEVENT,0,MOTION_START\n")
    (path / "joint_list.txt").write_text("\n".join(joints) + "\n")
    return path


def test_a_folder_is_a_run_of_its_name_in_seconds_and_radians(tmp_path: Path) -> None:
    run = read_sage_run(write_run(tmp_path / "sweep"))
    assert (run.name, run.joints) == ("sweep", JOINTS)
    assert run.time == pytest.approx(1e-6 * PERIOD * np.arange(CYCLES - 3))
    assert run.goal_position == pytest.approx(np.array([positions(k) for k in range(3, CYCLES)]))
    assert run.position == pytest.approx(np.array([positions(k, 2) for k in range(3, CYCLES)]))


def test_the_map_of_the_suite_gives_lerobot_s_names_and_leaves_out_the_jaw(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_run(tmp_path / "runs" / name)
    runs = load_runs([tmp_path / "runs"], RunSettings(kp=16.0, map=("sage_so101",)))
    assert [run.name for run in runs] == ["one", "two"]
    assert runs[0].joints == ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
    assert runs[0].time[1] == pytest.approx(1e-6 * PERIOD)


def test_another_clock_is_what_a_map_says(tmp_path: Path) -> None:
    path = write_run(tmp_path / "sweep")
    (tmp_path / "bench.yaml").write_text("map: {time_unit: ns}\n")
    (run,) = load_runs([path], RunSettings(kp=16.0))
    assert run.time[1] == pytest.approx(1e-9 * PERIOD)


def test_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a", JOINTS[:-1])
    with refused(Malformed, path=str(path / "control.csv")):
        read_sage_run(path)
    (path / "joint_list.txt").write_text("\n")
    with refused(Malformed, path=str(path / "joint_list.txt")):
        read_sage_run(path)
    (path / "joint_list.txt").unlink()
    with refused(Unreadable):
        read_sage_run(path)


@pytest.mark.parametrize("lost", ["control.csv", "state_motor.csv", "joint_list.txt"])
def test_a_missing_file_is_named(tmp_path: Path, lost: str) -> None:
    path = write_run(tmp_path / "a")
    (path / lost).unlink()
    for given in (path, tmp_path):
        with refused(Unreadable, path=str(path / lost)):
            load_runs([given], RunSettings(kp=16.0, strict=True))


@pytest.mark.parametrize("cell", ['"[1, 2"', "x", '"[1, 2, 3, 4, 5, ""a""]"', "3", '"null"'])
def test_a_cell_that_is_no_list_of_numbers_is_named(tmp_path: Path, cell: str) -> None:
    path = write_run(tmp_path / "a")
    with (path / "control.csv").open("a") as file:
        file.write(f"CONTROL,9e6,{cell}\n")
    with refused(Malformed, path=str(path / "control.csv")) as caught:
        read_sage_run(path)
    assert f"row {CYCLES - 1}" in str(caught.value)


def test_goals_after_all_states_are_no_run(tmp_path: Path) -> None:
    path = write_run(tmp_path / "a")
    (path / "control.csv").write_text(f'type,timestamp,positions\nCONTROL,9e9,"{positions(0)}"\n')
    with refused(BadData):
        read_sage_run(path)
    (path / "control.csv").write_text("type,timestamp,positions\n")
    with refused(Malformed):
        read_sage_run(path)


def test_an_error_names_the_folder_once(tmp_path: Path) -> None:
    path = write_run(tmp_path / "reach")
    with refused(BadData, place=(str(path),)) as caught:
        read_sage_run(path, RecordingMap(time_unit="s"))
    assert str(caught.value).count("reach") == 1
