# SPDX-License-Identifier: Apache-2.0
"""LeRobot datasets of version 3 from runs of a robot, without images: what a reader of positions needs.

Written with pyarrow as lerobot 0.4's `DatasetWriter` lays it out, without statistics. `lerobot` itself is a
large package; the reader is tested against files that it wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import NotWritable
from bam_core.robot.lerobot_dataset import parquet_module
from bam_core.robot.run import RobotRun

_ROBOT = "so101_follower"
_GRIPPER = "gripper"
_DEGREES = 360.0 / 4095.0  # per count, as LeRobot has it
_COUNT = 2.0 * np.pi / 4096.0  # rad
_WIDTH = 1.9  # rad, that a gripper opens
_PART = "chunk-000/file-000.parquet"


def write_dataset(path: Path, runs: Sequence[RobotRun], fps: int) -> None:
    """Write runs of one robot as episodes, in degrees, the gripper from 0 to 100.

    Raises:
        NotWritable: it is there, or cannot be written.
        MissingSoftware: pyarrow is not installed.
    """
    parquet = parquet_module(path)
    import pyarrow

    names = [f"{joint}.pos" for joint in runs[0].joints]
    lengths = [len(run.time) for run in runs]
    ends = np.cumsum(lengths)
    frame = np.concatenate([np.arange(length) for length in lengths])
    wide = pyarrow.list_(pyarrow.float32(), len(names))
    columns = {
        name: pyarrow.array(list(_values(runs, field).astype(np.float32)), type=wide)
        for name, field in (("action", "goal_position"), ("observation.state", "position"))
    }
    columns |= {
        "timestamp": (frame / fps).astype(np.float32),
        "frame_index": frame,
        "episode_index": np.repeat(np.arange(len(runs)), lengths),
        "index": np.arange(len(frame)),
        "task_index": np.zeros(len(frame), dtype=np.int64),
    }
    episodes = {
        "episode_index": np.arange(len(runs)),
        "length": lengths,
        "data/chunk_index": np.zeros(len(runs), dtype=np.int64),
        "data/file_index": np.zeros(len(runs), dtype=np.int64),
        "dataset_from_index": ends - lengths,
        "dataset_to_index": ends,
    }
    try:
        path.mkdir(parents=True)
        for folder, content in (("data", columns), ("meta/episodes", episodes)):
            (path / folder / _PART).parent.mkdir(parents=True)
            parquet.write_table(pyarrow.table(content), path / folder / _PART)
        info = json.dumps(_info(names, lengths, fps), indent=4)
        (path / "meta" / "info.json").write_text(info, encoding="utf-8")
    except OSError as error:
        raise NotWritable(path, error) from None


def _values(runs: Sequence[RobotRun], field: str) -> Array:
    """Return (frames, joints) degrees, of a gripper the share of its opening."""
    values = np.concatenate([getattr(run, field) for run in runs]) / _COUNT * _DEGREES
    for column, joint in enumerate(runs[0].joints):
        if joint == _GRIPPER:
            values[:, column] = np.clip(50.0 + 100.0 * np.radians(values[:, column]) / _WIDTH, 0.0, 100.0)
    return values


def _info(names: Sequence[str], lengths: Sequence[int], fps: int) -> dict[str, Any]:
    def feature(dtype: str, entries: Sequence[str] | None) -> dict[str, Any]:
        return {"dtype": dtype, "shape": [len(entries or (0,))], "names": list(entries) if entries else None}

    features = {name: feature("float32", names) for name in ("action", "observation.state")}
    features["timestamp"] = feature("float32", None)
    for name in ("frame_index", "episode_index", "index", "task_index"):
        features[name] = feature("int64", None)
    return {
        "codebase_version": "v3.0",
        "robot_type": _ROBOT,
        "total_episodes": len(lengths),
        "total_frames": sum(lengths),
        "total_tasks": 1,
        "chunks_size": 1000,
        "fps": fps,
        "splits": {"train": f"0:{len(lengths)}"},
        "data_path": "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
        "video_path": None,
        "features": features,
    }
