# SPDX-License-Identifier: Apache-2.0
"""LeRobot datasets: episodes that are finite and in order, or one line.

The first byte says which part the fuzzer writes: description, values of the table, or calibration. The file
of the table is changed too: pyarrow may refuse it, but nothing else may go wrong.
"""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.robot.lerobot_dataset import read_dataset_runs
from bam_core.robot.lerobot_units import UNITS, load_calibration
from test.fuzz.target import FILES, Target, attempt, file, folder

_COLUMNS = ("action", "observation.state", "timestamp", "episode_index")
_FRAMES = 40
_FEATURE = {"dtype": "float32", "shape": [2], "names": ["pan.pos", "lift.pos"]}
_INFO = {
    "codebase_version": "v3.0",
    "robot_type": "so101_follower",
    "fps": 30,
    "features": {"action": _FEATURE, "observation.state": _FEATURE},
}
_CALIBRATION = {name: {"range_min": 1000, "range_max": 3000 + 7 * len(name)} for name in ("pan", "lift")}


def check(data: bytes) -> None:
    kind, content = (data[0] if data else 0), data[1:]
    path = _dataset()
    unit = (None, *UNITS)[kind // 4 % 4]
    calibration: Path | None = None
    match kind % 4:
        case 0:
            (path / "meta" / "info.json").write_bytes(content)
        case 1:
            _write_table(path, _table(content))
        case 2:
            calibration = file("calibration.json", content)
            attempt(lambda: load_calibration(calibration))
        case _:
            (path / "data" / "chunk-000" / "file-000.parquet").write_bytes(content)
    for run in attempt(lambda: read_dataset_runs(path, unit, calibration)) or ():
        assert np.all(np.isfinite(run.position))
        assert np.all(np.isfinite(run.goal_position))
        assert np.all(np.diff(run.time) > 0.0)


def _dataset() -> Path:
    """Return a whole dataset."""
    path = folder() / "dataset"
    shutil.rmtree(path, ignore_errors=True)
    for part in ("meta", "data/chunk-000"):
        (path / part).mkdir(parents=True)
    (path / "meta" / "info.json").write_text(json.dumps(_INFO))
    (path / "data" / "chunk-000" / "file-000.parquet").write_bytes(_file())
    return path


def _values() -> dict[str, Any]:
    """Return a motion in shares of the ranges of `_CALIBRATION`."""
    time = np.arange(_FRAMES, dtype=np.float32) / np.float32(30.0)
    counts = np.round(600.0 * np.sin(3.0 * time[:, None] + [0.0, 1.0]))
    widths = [motor["range_max"] - motor["range_min"] for motor in _CALIBRATION.values()]
    state = (200.0 * counts / widths).astype(np.float32)
    goals = np.roll(state, -2, axis=0)
    return dict(zip(_COLUMNS, (goals, state, time, np.repeat([0, 1], _FRAMES // 2)), strict=True))


def _table(content: bytes) -> dict[str, Any]:
    """Return columns of which the first bytes decide kinds and widths, and the others the numbers."""
    kinds, numbers = content[: len(_COLUMNS)], content[len(_COLUMNS) :]
    usual, columns = _values(), {}
    for name, kind in zip(_COLUMNS, kinds.ljust(len(_COLUMNS), b"\0"), strict=True):
        width, part = 1 + kind % 3, numbers[: 8 * 3 * _FRAMES]
        if kind < 64 or len(part) < 8 * width:
            columns[name] = usual[name]
            continue
        values = np.frombuffer(part[: len(part) // 8 * 8], dtype=(np.float64, np.int64)[kind & 1])
        columns[name] = np.resize(values, (_FRAMES, width)) if kind & 2 else np.resize(values, _FRAMES)
        numbers = numbers[8:]
    return columns


def _write_table(path: Path, columns: dict[str, Any]) -> None:
    (path / "data" / "chunk-000" / "file-000.parquet").write_bytes(_bytes(columns))


def _bytes(columns: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    arrays = {
        name: pyarrow.array(list(values) if values.ndim > 1 else values) for name, values in columns.items()
    }
    target = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table(arrays), target, compression="none")
    return bytes(target.getvalue().to_pybytes())


@cache
def _file() -> bytes:
    return _bytes(_values())


def seeds() -> list[bytes]:
    """Return one of each part, and descriptions as older recorders wrote them."""
    nested = {**_FEATURE, "names": {"motors": [["main_pan", "main_lift"]]}}
    infos = [
        _INFO,
        {**_INFO, "codebase_version": "v2.1", "features": {"action": nested, "observation.state": nested}},
        {**_INFO, "fps": None, "total_frames": _FRAMES, "features": {}},
    ]
    values = np.concatenate([_values()["action"].ravel(), [np.nan, np.inf, 1e300]]).astype(np.float64)
    found = [bytes((unit,)) + json.dumps(info).encode() for info in infos for unit in (0, 8, 12)]
    found += [
        bytes((1, *kinds)) + values.tobytes() for kinds in ((0, 0, 0, 0), (66, 66, 0, 0), (0, 0, 64, 67))
    ]
    found += [bytes((kind,)) + json.dumps(_CALIBRATION).encode() for kind in (2, 14)]
    return [*found, b"\3" + _file()]


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.robot.lerobot_dataset",
        "bam_core.robot.lerobot_units",
        "bam_core.robot.value_steps",
        "bam_core.robot.screening",
        "bam_core.robot.zero_rows",
        "bam_core.recordings.bad_readings",
    ),
    longest=5000,
    runs=FILES,
)
