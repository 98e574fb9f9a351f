# SPDX-License-Identifier: Apache-2.0
"""Runs in the folders of isaac-sim2real/sage: control.csv, state_motor.csv and joint_list.txt.

Both tables have a stamp per row, microseconds since the start, and a list of positions in one cell. In a
cycle all goals are written first, then all joints are read.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, Unreadable
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run

_GOALS, _STATES, _JOINTS = "control.csv", "state_motor.csv", "joint_list.txt"
_TIME_UNIT = "us"


def is_sage(path: Path) -> bool:
    """Return whether a directory is a run of SAGE, also where one of its three files is missing."""
    return sum((path / name).is_file() for name in (_GOALS, _STATES, _JOINTS)) > 1


def read_sage_run(path: str | os.PathLike[str], recording_map: RecordingMap = NO_MAP) -> RobotRun:
    """Read a run, named after its directory.

    Args:
        path: of the directory.
        recording_map: names, signs and zeros of joints, and units other than rad and microseconds.

    Raises:
        BamError: a file cannot be read, or the number of positions is not that of the joints.
    """
    path = Path(path)
    joints = _joints(path / _JOINTS)
    moments, goals = _table(path / _GOALS, len(joints))
    time, positions = _table(path / _STATES, len(joints))
    held = np.searchsorted(moments, time, side="right") - 1
    begun = held >= 0
    if not begun.any():
        raise BadData(f"{path}", "has no state after its first goal", advice="record both at a time")
    time = time[begun]
    try:
        return screened_run(
            recording_map=replace(recording_map, time_unit=recording_map.time_unit or _TIME_UNIT),
            name=path.resolve().name,
            joints=joints,
            time=time - time[0],
            goal_position=goals[held[begun]],
            position=positions[begun],
        )
    except (BadData, Missing) as error:
        raise error.of_file(path, path.resolve().name) from None


def _joints(path: Path) -> list[str]:
    try:
        joints = path.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(path, error if isinstance(error, OSError) else "is no text") from None
    if not joints:
        raise Malformed(path, "names no joint", expected="a name per line")
    return joints


def _table(path: Path, joints: int) -> tuple[Array, Array]:
    """Return (n,) stamps and (n, joints) positions."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(path, error if isinstance(error, OSError) else "is no text") from None
    except csv.Error as error:
        raise Malformed(path, f"is no CSV file ({error})") from None
    expected = f"columns timestamp and positions, a list of {joints} numbers, as of {_JOINTS}"
    times, lists = [], []
    for number, row in enumerate(rows, start=2):
        try:
            times.append(float(row["timestamp"]))
            lists.append([float(value) for value in json.loads(row["positions"])])
        except (KeyError, TypeError, ValueError, RecursionError):
            raise Malformed(path, f"row {number} is no sample", expected=expected) from None
        if len(lists[-1]) != joints:
            raise Malformed(path, f"row {number} has {len(lists[-1])} positions", expected=expected)
    if not rows:
        raise Malformed(path, "has no samples", expected=expected)
    return np.array(times), np.array(lists)
