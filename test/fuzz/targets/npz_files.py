# SPDX-License-Identifier: Apache-2.0
"""Archives of NumPy: runs of robots, and the trajectories of a report."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np

from bam_core.report.trajectories import opened
from bam_core.robot.npz_run import read_npz_run
from test.fuzz.target import FILES, Target, attempt, file


def check(data: bytes) -> None:
    if data[:1] <= b"\x80":
        run = attempt(lambda: read_npz_run(file("run.npz", data[1:])))
        if run is not None:
            assert np.all(np.isfinite(run.position))
            assert np.all(np.diff(run.time) > 0.0)
    else:
        attempt(lambda: _trajectories(file("trajectories.npz", data[1:])))


def _trajectories(path: Path) -> list[np.ndarray]:
    with opened(path) as arrays:
        return [np.asarray(arrays[name]) for name in arrays]


def seeds() -> list[bytes]:
    """Return a run of each form, and arrays that are larger than their file says."""
    time = np.arange(3) * 0.01
    pace = {
        "time": time,
        "dof_pos": np.zeros((3, 1)),
        "des_dof_pos": np.zeros((3, 1)),
        "joint_names": ["a"],
        "kp": 3.0,
    }
    sysid = {
        "control_times": time,
        "control_data": np.zeros((3, 1)),
        "control_signal_mapping": json.dumps({"a_ctrl": [5, [0]]}),
        "sensordata_times": time,
        "sensordata_data": np.zeros((3, 1)),
        "sensordata_signal_mapping": json.dumps({"a_qpos": [2, [0]]}),
    }
    whole = [_archive(pace), _archive(sysid), _archive({"times": time, "data": time})]
    large = _archive({"time": time}).replace(b"(3,)", b"(9,)")
    return [bytes((kind,)) + each for kind in (0, 255) for each in (*whole, large)]


def _archive(arrays: dict) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=("bam_core.robot.npz_run", "bam_core.files.npz_file", "bam_core.robot.run", "zipfile"),
    runs=FILES,
)
