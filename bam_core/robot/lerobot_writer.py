# SPDX-License-Identifier: Apache-2.0
"""LeRobot datasets of version 3 from runs of a robot, without images; LeRobot's own class opens them.

A dataset has one row per frame, at `fps`. Its layout is that of lerobot 0.4.4 (lerobot/datasets):
`meta/info.json`, `meta/stats.json`, `meta/tasks.parquet`, `meta/episodes` and `data`, each in one file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict, NotWritable, OutOfRange
from bam_core.errors.field_types import require_field_types
from bam_core.files.atomic_file import scratch
from bam_core.robot.lerobot_dataset import is_gripper, parquet_module
from bam_core.robot.run import RobotRun
from bam_core.robot.value_steps import COUNTS_PER_TURN, LEROBOT_DEGREES

HIGHEST_FPS = 1000
"""A run of more frames per second than any servo bus reads, 1/s."""
_PART = "chunk-000/file-000.parquet"
_DEGREES_PER_RAD = LEROBOT_DEGREES * COUNTS_PER_TURN / (2.0 * math.pi)
_SAME_TIME = 1e-4  # s; datasets keep times in single precision
_QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)
_STATE, _ACTION = "observation.state", "action"


@dataclass(frozen=True, kw_only=True)
class DatasetSettings:
    """What a dataset has besides the runs.

    Attributes:
        fps: frames per second.
        task: what the robot does, in words.
        robot_type: LeRobot's name of the robot.
        gripper_ranges: gripper -> (closed, open) rad, which become 0 and 100; a gripper without is left out.

    Raises:
        OutOfRange: fps is not from 1 to HIGHEST_FPS.
    """

    fps: int = 30
    task: str = "move"
    robot_type: str = "so101_follower"
    gripper_ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_field_types(self)
        if not 1 <= self.fps <= HIGHEST_FPS:
            raise OutOfRange("--fps", self.fps, f"1 to {HIGHEST_FPS}", advice="correct it")


def write_dataset(path: Path, runs: Sequence[RobotRun], settings: DatasetSettings) -> list[str]:
    """Write runs of one robot as episodes, in LeRobot's degrees, a gripper as a share of its opening.

    A frame has the measurement before its time, and the goal that is in force from its time on.

    Args:
        path: new directory.
        runs: of the same joints.
        settings: of the dataset.

    Returns:
        Joints that are left out: grippers whose range is not known.

    Raises:
        Conflict: runs have different joints, or no joint remains.
        NotWritable: the directory is there, or cannot be written.
        MissingSoftware: pyarrow is not installed.
    """
    joints = _same_joints(runs)
    kept = [name for name in joints if not is_gripper(name) or name in settings.gripper_ranges]
    if not kept:
        raise Conflict(
            runs[0].name,
            "has grippers only",
            expected="ranges of them",
            advice="describe the robot (--robot)",
        )
    episodes = [_frames(run, kept, settings) for run in runs]
    parquet = parquet_module(path)
    import pyarrow

    def write(place: Path, columns: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.table(columns).replace_schema_metadata(metadata), place)

    lengths = [len(episode[_STATE]) for episode in episodes]
    wide = pyarrow.list_(pyarrow.float32(), len(kept))
    frames = _counters(lengths, settings.fps)
    columns = {
        name: pyarrow.array(list(np.concatenate([episode[name] for episode in episodes])), type=wide)
        for name in (_ACTION, _STATE)
    }
    try:
        if path.exists():
            raise NotWritable(
                path, "exists already", expected="a new directory", advice="choose another name"
            )
        with scratch(path, path.parent) as draft:
            draft.mkdir()
            write(draft / "data" / _PART, {**columns, **frames})
            write(draft / "meta" / "episodes" / _PART, _episode_table(lengths, settings.task))
            tasks = {"task_index": np.zeros(1, dtype=np.int64), "__index_level_0__": [settings.task]}
            write(draft / "meta" / "tasks.parquet", tasks, {"pandas": json.dumps(_TASK_INDEX)})
            for name, content in (
                ("info", _info([f"{joint}.pos" for joint in kept], lengths, settings)),
                ("stats", _stats({**_joined(episodes), **frames})),
            ):
                text = json.dumps(content, indent=4) + "\n"
                (draft / "meta" / f"{name}.json").write_text(text, encoding="utf-8")
            draft.rename(path)
    except OSError as error:
        raise NotWritable(path, error) from None
    return [name for name in joints if name not in kept]


def _same_joints(runs: Sequence[RobotRun]) -> tuple[str, ...]:
    """Return the joints of all runs; raises Conflict."""
    first = runs[0]
    for run in runs[1:]:
        if run.joints != first.joints:
            raise Conflict(
                run.name,
                f"has joints {', '.join(run.joints)}",
                expected=f"those of {first.name}: {', '.join(first.joints)}",
                advice="export them one by one",
            )
    return first.joints


def _frames(run: RobotRun, joints: Sequence[str], settings: DatasetSettings) -> dict[str, Array]:
    """Return state and action of each frame, (frames, joints), in LeRobot's units."""
    columns = [run.column(joint) for joint in joints]
    times = np.arange(run.time[0], run.time[-1] + _SAME_TIME, 1.0 / settings.fps)
    rows = np.searchsorted(run.time, times + _SAME_TIME, side="right") - 1
    return {
        name: np.stack(
            [
                _in_lerobot_units(values[rows, column], settings.gripper_ranges.get(joint))
                for joint, column in zip(joints, columns, strict=True)
            ],
            axis=1,
        ).astype(np.float32)
        for name, values in ((_STATE, run.position), (_ACTION, run.goal_position))
    }


def _in_lerobot_units(values: Array, span: tuple[float, float] | None) -> Array:
    if span is None:
        return np.asarray(values * _DEGREES_PER_RAD)
    closed, opened = span
    return np.clip(100.0 * (values - closed) / (opened - closed), 0.0, 100.0)


def _joined(episodes: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.concatenate([episode[name] for episode in episodes]) for name in (_ACTION, _STATE)}


def _counters(lengths: Sequence[int], fps: int) -> dict[str, Array]:
    """Return the columns that count frames, of all episodes."""
    frame = np.concatenate([np.arange(length, dtype=np.int64) for length in lengths])
    return {
        "timestamp": (frame / fps).astype(np.float32),
        "frame_index": frame,
        "episode_index": np.repeat(np.arange(len(lengths), dtype=np.int64), lengths),
        "index": np.arange(len(frame), dtype=np.int64),
        "task_index": np.zeros(len(frame), dtype=np.int64),
    }


def _episode_table(lengths: Sequence[int], task: str) -> dict[str, Any]:
    ends = np.cumsum(lengths)
    zeros = np.zeros(len(lengths), dtype=np.int64)
    return {
        "episode_index": np.arange(len(lengths), dtype=np.int64),
        "tasks": [[task]] * len(lengths),
        "length": list(lengths),
        "data/chunk_index": zeros,
        "data/file_index": zeros,
        "dataset_from_index": ends - lengths,
        "dataset_to_index": ends,
        "meta/episodes/chunk_index": zeros,
        "meta/episodes/file_index": zeros,
    }


_TASK_INDEX = {
    "index_columns": ["__index_level_0__"],
    "column_indexes": [],
    "columns": [
        {
            "name": name,
            "field_name": place,
            "pandas_type": kind,
            "numpy_type": numpy_type,
            "metadata": None,
        }
        for name, place, kind, numpy_type in (
            ("task_index", "task_index", "int64", "int64"),
            (None, "__index_level_0__", "unicode", "object"),
        )
    ],
    "pandas_version": "2.0.0",
}
"""Metadata by which pandas has tasks as the index of their table, where LeRobot looks them up."""


def _info(names: Sequence[str], lengths: Sequence[int], settings: DatasetSettings) -> dict[str, Any]:
    def feature(dtype: str, entries: Sequence[str] | None) -> dict[str, Any]:
        return {"dtype": dtype, "shape": [len(entries or (0,))], "names": list(entries) if entries else None}

    features = {name: feature("float32", names) for name in (_ACTION, _STATE)}
    features["timestamp"] = feature("float32", None)
    for name in ("frame_index", "episode_index", "index", "task_index"):
        features[name] = feature("int64", None)
    return {
        "codebase_version": "v3.0",
        "robot_type": settings.robot_type,
        "total_episodes": len(lengths),
        "total_frames": sum(lengths),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": settings.fps,
        "splits": {"train": f"0:{len(lengths)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": None,
        "features": features,
    }


def _stats(columns: Mapping[str, Array]) -> dict[str, dict[str, list[float]]]:
    """Return what policies normalise with, of each column."""

    def of(values: Array) -> dict[str, list[float]]:
        table = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        rows = {
            "min": table.min(axis=0),
            "max": table.max(axis=0),
            "mean": table.mean(axis=0),
            "std": table.std(axis=0),
        }
        rows |= {f"q{round(100 * share):02d}": np.quantile(table, share, axis=0) for share in _QUANTILES}
        return {**{name: row.tolist() for name, row in rows.items()}, "count": [len(table)]}

    return {name: of(values) for name, values in columns.items()}
