# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in CSV files with the columns `time`, `goal:JOINT` and `read:JOINT`."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, Unsupported
from bam_core.recordings.law_keys import GAINS, WITHOUT_EFFECT, require_no_other_law, setting_name
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.csv_columns import comment_values, read_columns
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.servo.gains import Gain, over
from bam_core.text.finding import listed

_TIME, _GOAL, _READ = "time", "goal:", "read:"
_BESIDE = ":._/ "  # between a setting and its joint
_SETTINGS = (*GAINS, "vin", *WITHOUT_EFFECT)  # columns with one value; gains may have one per joint


def read_csv_run(path: str | os.PathLike[str], recording_map: RecordingMap = NO_MAP) -> RobotRun:
    """Read a run from a CSV file.

    Columns: `time` (s), `goal:JOINT` and `read:JOINT` (rad); `kp`, `kd`, `ki`, those of one joint as
    `kp:JOINT`, and `vin` (V) where it has them, or where a comment names them (`# kp: 16`). Other spellings
    are known, such as `P_Coefficient` or `elbow_kd`. Settings that change the law are refused, see
    `law_keys`; other columns are passed over. Joints are those that have a goal and a reading.

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
        settings = [name for name in header if name not in moving and _setting(name, joints)]
        return [_TIME, *moving, *settings]

    columns = read_columns(path, choose, recording_map)
    joints = tuple(name.removeprefix(_GOAL) for name in columns if name.startswith(_GOAL))
    settings = _settings(path, columns, joints)
    gains = {name: _gains(path, settings, name, joints) for name in GAINS}
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
            supply_voltage=settings.get("vin"),
        )
    except (BadData, Missing) as error:
        raise error.of_file(path, path.stem) from None


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


def _settings(path: Path, columns: Mapping[str, Array], joints: Sequence[str]) -> dict[str, float]:
    """Return the settings that columns have, else comments: our name, perhaps with a joint -> value.

    Raises:
        BamError: one changes during the run, or changes the law.
    """
    values: dict[str, float] = {}
    for column, value in comment_values(path).items():
        if name := _setting(column, joints):
            values[name] = value
    for column, numbers in columns.items():
        name = "" if column.startswith((_GOAL, _READ)) else _setting(column, joints)
        known = numbers[np.isfinite(numbers)]
        if not name or not len(known):
            continue
        if name != "vin" and np.ptp(known) > 0.0:
            raise BadData(f"{path}, {column}", "changes during the run", advice="split it")
        values[name] = float(known.mean())
    for name, value in values.items():
        try:
            require_no_other_law({name.partition(":")[0]: value})
        except Unsupported as error:
            raise error.within(path) from None
    return values


def _setting(column: str, joints: Collection[str]) -> str:
    """Return our name of a setting, with `:JOINT` where it is of one; empty: another column."""
    if (name := setting_name(column)) in _SETTINGS:
        return name
    for joint in joints:
        for rest in (column.removeprefix(joint), column.removesuffix(joint)):
            if rest != column and (name := setting_name(rest.strip(_BESIDE))) in _SETTINGS:
                return f"{name}:{joint}"
    return ""


def _gains(path: Path, settings: Mapping[str, float], name: str, joints: Sequence[str]) -> Gain | None:
    """Return what all joints have and what one joint has; a joint's own gain counts more."""
    of_joints = {joint: settings[f"{name}:{joint}"] for joint in joints if f"{name}:{joint}" in settings}
    return over(settings.get(name), of_joints, joints, f"{path}")
