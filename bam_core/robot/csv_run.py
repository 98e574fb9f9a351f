# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in CSV files with the columns `time`, `goal:JOINT` and `read:JOINT`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import numpy as np

from bam_core.errors import BadData, Malformed, Missing
from bam_core.robot.csv_columns import read_columns
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run

_TIME, _GOAL, _READ = "time", "goal:", "read:"
_SETTINGS = ("kp", "vin")  # columns with one value


def read_csv_run(path: str | os.PathLike[str]) -> RobotRun:
    """Read a run from a CSV file.

    Columns: `time` (s), `goal:JOINT` and `read:JOINT` (rad); `kp` and `vin` (V) where it has them. Others are
    passed over. Joints are those that have a goal and a reading.

    Raises:
        BamError: the file cannot be read, a column is missing or holds no numbers, or the gain changes.
    """
    path = Path(path)

    def choose(header: Collection[str]) -> list[str]:
        joints = [name.removeprefix(_GOAL) for name in header if name.startswith(_GOAL)]
        joints = [name for name in joints if _READ + name in header]
        if _TIME not in header or not joints:
            raise Malformed(path, "is no run of a robot", expected="columns time, goal:JOINT and read:JOINT")
        moving = [kind + name for kind in (_GOAL, _READ) for name in joints]
        return [_TIME, *moving, *(name for name in _SETTINGS if name in header)]

    columns = read_columns(path, choose)
    if "kp" in columns and np.ptp(columns["kp"]) > 0.0:
        raise BadData(f"{path}, kp", "changes during the run", advice="split it")

    def setting(name: str) -> float | None:
        return float(columns[name].mean()) if name in columns else None

    joints = tuple(name.removeprefix(_GOAL) for name in columns if name.startswith(_GOAL))
    try:
        return screened_run(
            name=path.stem,
            joints=joints,
            time=columns[_TIME],
            goal_position=np.column_stack([columns[_GOAL + name] for name in joints]),
            position=np.column_stack([columns[_READ + name] for name in joints]),
            kp=setting("kp"),
            supply_voltage=setting("vin"),
        )
    except (BadData, Missing) as error:
        raise error.within(path) from None
