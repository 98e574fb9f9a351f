# SPDX-License-Identifier: Apache-2.0
"""LeRobot datasets that are written: what each frame has, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

from bam_core.errors import Conflict, NotWritable, OutOfRange
from bam_core.robot.lerobot_dataset import read_dataset_runs
from bam_core.robot.lerobot_writer import DatasetSettings, write_dataset
from bam_core.robot.run import RobotRun
from test.core.refusals import refused

COUNT = 2.0 * np.pi / 4096
PART = "chunk-000/file-000.parquet"
GRIPPER = DatasetSettings(fps=50, gripper_ranges={"gripper": (-0.2, 1.8)})


def run(name: str = "reach", seconds: float = 1.0) -> RobotRun:
    """A run at 200 Hz whose goals are ahead of positions by 10 counts, in whole counts."""
    time = np.arange(0.0, seconds + 1e-9, 0.005)
    counts = np.stack([np.round(400 * np.sin(3.0 * time)), np.round(300 * np.sin(5.0 * time))], axis=1)
    return RobotRun(
        name=name,
        joints=("lift", "gripper"),
        time=time,
        goal_position=(counts + 10) * COUNT,
        position=counts * COUNT,
    )


def table(dataset: Path) -> dict[str, list[object]]:
    return parquet.read_table(dataset / "data" / PART).to_pydict()


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    runs = [run(), run("back", 2.0)]
    assert write_dataset(tmp_path / "desk", runs, GRIPPER) == []
    read = read_dataset_runs(tmp_path / "desk")
    assert [each.joints for each in read] == [("lift",)] * 2  # the reader leaves grippers out
    for wrote, each in zip(runs, read, strict=True):
        rows = slice(None, None, 4)  # 200 Hz to 50 Hz
        assert each.time == pytest.approx(wrote.time[rows], abs=1e-6)
        assert each.position[:, 0] == pytest.approx(wrote.position[rows, 0], abs=1e-5)
        assert each.goal_position[:, 0] == pytest.approx(wrote.goal_position[rows, 0], abs=1e-5)


def test_a_frame_has_the_last_measurement_before_it_and_the_goal_in_force(tmp_path: Path) -> None:
    goals = np.array([[0.0], [1.0], [2.0], [3.0]])
    late = RobotRun(
        name="late",
        joints=("lift",),
        time=np.array([0.0, 0.09, 0.11, 0.3]),
        goal_position=goals,
        position=-goals,
    )
    write_dataset(tmp_path / "desk", [late], DatasetSettings(fps=10))
    degrees = np.array(table(tmp_path / "desk")["action"]).ravel() * 4095 / 4096
    assert degrees == pytest.approx(np.degrees([0.0, 1.0, 2.0, 3.0]), rel=1e-5)
    states = np.array(table(tmp_path / "desk")["observation.state"]).ravel()
    assert states == pytest.approx(-np.degrees([0.0, 1.0, 2.0, 3.0]) * 4096 / 4095, rel=1e-5)


def test_a_gripper_is_a_share_of_its_opening_or_left_out(tmp_path: Path) -> None:
    write_dataset(tmp_path / "with", [run()], GRIPPER)
    shares = np.array(table(tmp_path / "with")["observation.state"])[:, 1]
    assert shares == pytest.approx(np.clip(50.0 * (run().position[::4, 1] + 0.2), 0.0, 100.0), abs=1e-4)
    assert write_dataset(tmp_path / "without", [run()], DatasetSettings()) == ["gripper"]
    info = json.loads((tmp_path / "without" / "meta" / "info.json").read_text())
    assert info["features"]["action"]["names"] == ["lift.pos"]


def test_episodes_and_statistics_are_those_of_the_frames(tmp_path: Path) -> None:
    write_dataset(tmp_path / "desk", [run(), run("back", 2.0)], replace(GRIPPER, task="wave"))
    meta = tmp_path / "desk" / "meta"
    episodes = parquet.read_table(meta / "episodes" / PART).to_pydict()
    assert (episodes["length"], episodes["dataset_from_index"], episodes["dataset_to_index"]) == (
        [51, 101],
        [0, 51],
        [51, 152],
    )
    assert episodes["tasks"] == [["wave"]] * 2
    stats = json.loads((meta / "stats.json").read_text())
    lift = np.array(table(tmp_path / "desk")["observation.state"])[:, 0]
    for name, value in (("min", lift.min()), ("max", lift.max()), ("mean", lift.mean()), ("std", lift.std())):
        assert stats["observation.state"][name][0] == pytest.approx(value)
    assert stats["observation.state"]["q50"][0] == pytest.approx(np.median(lift))
    assert stats["index"]["count"] == [152]


def test_what_cannot_be_one_dataset_is_refused(tmp_path: Path) -> None:
    other = replace(run(), joints=("elbow", "gripper"))
    with refused(Conflict, thing="reach"):
        write_dataset(tmp_path / "desk", [run(), other], GRIPPER)
    with refused(Conflict, thing="reach"):
        write_dataset(tmp_path / "desk", [replace(run(), joints=("a_gripper", "gripper"))], DatasetSettings())
    with refused(OutOfRange, thing="--fps", value=0):
        DatasetSettings(fps=0)
    (tmp_path / "desk").mkdir()
    with refused(NotWritable):
        write_dataset(tmp_path / "desk", [run()], GRIPPER)
    assert [path.name for path in tmp_path.iterdir()] == ["desk"]
