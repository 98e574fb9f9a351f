# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in CSV files with the columns `time`, `goal:JOINT` and `read:JOINT`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, Unsupported
from bam_core.recordings.law_keys import WITHOUT_EFFECT, require_no_other_law
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.csv_columns import read_columns
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.servo.gains import Gain, over
from bam_core.text.finding import listed

_TIME, _GOAL, _READ = "time", "goal:", "read:"
_SETTINGS = ("kp", "kd", "ki", "vin", *WITHOUT_EFFECT)  # columns with one value; gains may have one per joint


def read_csv_run(path: str | os.PathLike[str], recording_map: RecordingMap = NO_MAP) -> RobotRun:
    """Read a run from a CSV file.

    Columns: `time` (s), `goal:JOINT` and `read:JOINT` (rad); `kp`, `kd`, `ki`, those of one joint as
    `kp:JOINT`, and `vin` (V) where it has them. Columns of settings that change the law are refused, see
    `law_keys`; others are passed over. Joints are those that have a goal and
    a reading.

    Args:
        path: of the file.
        recording_map: other names of columns and joints, signs, zeros and units.

    Raises:
        BamError: the file cannot be read, a column is missing or holds no numbers, or the gain changes.
    """
    path = Path(path)

    def choose(header: Collection[str]) -> list[str]:
        joints = [name.removeprefix(_GOAL) for name in header if name.startswith(_GOAL)]
        joints = [name for name in joints if _READ + name in header]
        if _TIME not in header or not joints:
            raise _lacks(path, header)
        moving = [kind + name for kind in (_GOAL, _READ) for name in joints]
        settings = [name for name in header if name.partition(":")[0] in _SETTINGS]
        return [_TIME, *moving, *(name for name in settings if _is_of(name, joints))]

    columns = read_columns(path, choose, recording_map)
    for name, values in columns.items():
        kind = name.partition(":")[0]
        if kind in _SETTINGS and kind != "vin" and np.ptp(values) > 0.0:
            raise BadData(f"{path}, {name}", "changes during the run", advice="split it")
        try:
            require_no_other_law({kind: float(values[0])})
        except Unsupported as error:
            raise error.within(path) from None
    joints = tuple(name.removeprefix(_GOAL) for name in columns if name.startswith(_GOAL))
    gains = {name: _gains(path, columns, name, joints) for name in ("kp", "kd", "ki")}
    try:
        return screened_run(
            recording_map=recording_map,
            name=path.stem,
            joints=joints,
            time=columns[_TIME],
            goal_position=np.column_stack([columns[_GOAL + name] for name in joints]),
            position=np.column_stack([columns[_READ + name] for name in joints]),
            kp=gains["kp"],
            kd=gains["kd"] or 0.0,
            ki=gains["ki"] or 0.0,
            supply_voltage=_mean(columns.get("vin")),
        )
    except (BadData, Missing) as error:
        raise error.within(path) from None


def _lacks(path: Path, header: Collection[str]) -> Malformed:
    """Return which columns a file lacks, which it has, and the map that names them."""
    halves = {
        kind: {name.removeprefix(kind) for name in header if name.startswith(kind)} for kind in (_GOAL, _READ)
    }
    missing = [] if _TIME in header else [_TIME]
    for kind, partner in ((_GOAL, _READ), (_READ, _GOAL)):
        if not halves[kind]:
            missing += [kind + name for name in sorted(halves[partner])] or [f"{kind}JOINT"]
    if not missing:  # goals and readings are of different joints
        missing = [_READ + name for name in sorted(halves[_GOAL] - halves[_READ])]
    free = [name for name in header if name != _TIME and not name.startswith((_GOAL, _READ))]
    theirs = free[0] if free else "NAME"
    return Malformed(
        path,
        f"is no run of a robot: no column {listed(missing)} among {', '.join(header)}",
        expected="columns time, goal:JOINT and read:JOINT",
        advice=f"name them in a bench.yaml beside it, as in map: {{columns: {{'{missing[0]}': '{theirs}'}}}}",
    )


def _mean(values: Array | None) -> float | None:
    """Return the mean of what is known; None: nothing is."""
    known = np.zeros(0) if values is None else values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _is_of(name: str, joints: Collection[str]) -> bool:
    _, colon, joint = name.partition(":")
    return not colon or joint in joints


def _gains(path: Path, columns: Mapping[str, Array], name: str, joints: Sequence[str]) -> Gain | None:
    """Return what a column of all joints and those of one joint have; a joint's own column counts more."""
    values: dict[str, float] = {}
    for column, numbers in columns.items():
        kind, _, _ = column.partition(":")
        if kind == name:
            values[column] = float(numbers[0])
    of_joints = {joint: values[f"{name}:{joint}"] for joint in joints if f"{name}:{joint}" in values}
    return over(values.get(name), of_joints, joints, f"{path}")
