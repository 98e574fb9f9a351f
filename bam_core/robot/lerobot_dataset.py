# SPDX-License-Identifier: Apache-2.0
"""Episodes of LeRobot datasets, version 3: one run each.

A dataset is a directory with `meta/info.json` and `data/chunk-*/file-*.parquet`; a file holds many episodes,
one row per frame (lerobot/datasets/dataset_writer.py). Of these only a few columns are read: neither images
nor videos. The measurement of a frame, `observation.state`, is taken before its `action` is sent. Times are
those that a frame should have had, `frame_index / fps`: LeRobot does not keep when it was.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Malformed, Missing, MissingSoftware, Unreadable
from bam_core.files.json_file import read_json
from bam_core.robot.lerobot_units import (
    load_calibration,
    radians_of_shares,
    require_unit,
)
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.robot.value_steps import DEGREES, NORMALISED, RADIANS
from bam_core.text.finding import log_findings
from bam_core.text.robot_findings import DerivedRanges

log = logging.getLogger(__name__)

INFO = Path("meta") / "info.json"
_VERSION = "v3"
_SUFFIX = ".pos"  # LeRobot's robots call a joint's position so
_GRIPPER = "gripper"
_STATE, _ACTION, _EPISODE, _TIME = "observation.state", "action", "episode_index", "timestamp"


def is_dataset(path: Path) -> bool:
    """Tell whether a directory is a LeRobot dataset, of any version."""
    return (path / INFO).is_file()


def read_dataset_runs(
    path: str | os.PathLike[str],
    unit: str | None = None,
    calibration: str | os.PathLike[str] | None = None,
) -> list[RobotRun]:
    """Read all episodes, named DATASET_episode_NUMBER.

    Joints are the names that action and state share, without ".pos". A gripper is left out: LeRobot has it as
    a share of its opening, whose zero no description knows.

    Args:
        path: of the dataset.
        unit: of positions, one of `lerobot_units.UNITS`; None: what the values show.
        calibration: of the arm, for normalised values; None: the steps between values show the ranges.

    Raises:
        BamError: the dataset cannot be read, has no names of joints, or its unit is not known.
        MissingSoftware: pyarrow is not installed.
    """
    path = Path(path)
    info = _info(path)
    table = _columns(path, info)
    goals, states = _named(path, info, _ACTION, table), _named(path, info, _STATE, table)
    joints = [name for name in states if name in goals]
    if not joints:
        raise Malformed(
            path / INFO,
            f"action ({', '.join(goals)}) and state ({', '.join(states)}) have no joint in common",
            expected="goals of joints, such as shoulder_pan.pos, in both",
        )
    arm = [name for name in joints if not name.endswith(_GRIPPER)]
    proof = require_unit(path, unit, {name: states[name] for name in arm} or states)
    if unit is None:
        log.info("%s: unit %s, as the steps between its values show", path, proof.unit)
    largest = max(float(np.abs(states[name]).max()) for name in joints)
    if proof.unit == DEGREES and not proof.steps and largest < 2.0 * np.pi:
        log.warning("%s: no joint goes beyond %.3g; if these are radians, say --unit rad", path, largest)
    if proof.unit != RADIANS:
        for name in set(joints) - set(arm):
            log.info("%s: %s is left out: a share of its opening, no angle", path, name)
        joints = arm
    goals, states = ({name: values[name] for name in joints} for values in (goals, states))
    if proof.unit == NORMALISED:
        ranges = None if calibration is None else load_calibration(calibration)
        if ranges is None:
            log_findings(log, [DerivedRanges(dataset=str(path), ranges=tuple(proof.ranges.items()))])
        # The steps of goals are those of the arm that led.
        goals, states = (radians_of_shares(path, states, values, ranges) for values in (goals, states))
    else:
        if calibration is not None:
            raise Conflict(
                "--calibration", f"is of no use for positions in {proof.unit}", expected="--unit normalised"
            )
        scale = np.pi / 180.0 if proof.unit == DEGREES else 1.0
        goals, states = (
            {name: scale * column for name, column in values.items()} for values in (goals, states)
        )
    fps = info.get("fps")
    log.info(
        "%s: times are those of %s frames per second, kept or not: a recording loop that was slower makes "
        "all motions look faster",
        path,
        fps,
    )
    episode = table[_EPISODE].ravel()
    return [
        _run(path, int(number), episode == number, table[_TIME].ravel(), goals, states)
        for number in np.unique(episode)
    ]


def _run(
    path: Path, number: int, rows: Array, time: Array, goals: dict[str, Array], states: dict[str, Array]
) -> RobotRun:
    time = time[rows]
    try:
        return screened_run(
            name=f"{path.resolve().name}_episode_{number}",
            joints=tuple(goals),
            time=time - time[0],
            goal_position=np.stack([goal[rows] for goal in goals.values()], axis=1),
            position=np.stack([state[rows] for state in states.values()], axis=1),
        )
    except (BadData, Missing) as error:
        raise error.within(path) from None


def _info(path: Path) -> dict[str, Any]:
    place = path / INFO
    info = read_json(place, expected="the description of a LeRobot dataset")
    try:
        version = str(info["codebase_version"])
        info = dict(info)
    except (ValueError, TypeError, KeyError):
        raise Malformed(place, "is no description of a LeRobot dataset") from None
    if not version.startswith(_VERSION):
        raise Malformed(
            path,
            f"is a LeRobot dataset of version {version}",
            expected="version 3",
            advice="convert it, with: python -m lerobot.scripts.convert_dataset_v21_to_v30",
        )
    return info


def _columns(path: Path, info: dict[str, Any]) -> dict[str, Array]:
    """Return (frames, width) of each column that is needed, in the order of episodes and frames."""
    parquet = parquet_module(path)
    files = sorted((path / "data").glob("*/*.parquet"))
    if not files:
        raise Missing(f"{path}/data", "files chunk-*/file-*.parquet", advice="download the dataset whole")
    parts: dict[str, list[Array]] = {name: [] for name in (_EPISODE, _TIME, _ACTION, _STATE)}
    for file in files:
        try:
            table = parquet.ParquetFile(file).read(columns=list(parts))
        except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
            raise Unreadable(
                file, str(error).splitlines()[0], advice="download it again, or record it to its end"
            ) from None
        for name, values in parts.items():
            if name not in table.column_names:
                raise Missing(f"{file}, column {name}", "numbers of every frame")
            values.append(_numbers(file, name, table.column(name)))
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    frames, said = len(columns[_TIME]), info.get("total_frames")
    if said is not None and said != frames:
        raise Malformed(
            path,
            f"has {frames} frames",
            expected=f"{said}, as {INFO} says",
            advice="download the dataset whole",
        )
    order = np.lexsort((columns[_TIME].ravel(), columns[_EPISODE].ravel()))
    return {name: values[order] for name, values in columns.items()}


def _numbers(file: Path, name: str, column: Any) -> Array:
    """Return (frames, width), rad or whatever the column holds."""
    try:
        rows = column.to_numpy()
        table = np.stack(list(rows)) if rows.dtype == object else rows[:, None]
        return np.asarray(table, dtype=np.float64)
    except (ValueError, TypeError):
        raise Malformed(file, f"column {name} holds something else than as many numbers per frame") from None


def _named(path: Path, info: dict[str, Any], column: str, table: dict[str, Array]) -> dict[str, Array]:
    """Return joint -> (frames,) of a column, by the names that the dataset gives its entries."""
    names = info.get("features", {}).get(column, {}).get("names")
    if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}, as older recorders wrote it
        (names,) = names.values()
    width = table[column].shape[1]
    if not isinstance(names, list) or len(names) != width:
        raise Malformed(
            path / INFO,
            f"does not name the {width} entries of {column}",
            expected='features with names such as ["shoulder_pan.pos", ...]',
            advice="add them, in the order of the motors",
        )
    return {str(name).removesuffix(_SUFFIX): table[column][:, place] for place, name in enumerate(names)}


def parquet_module(path: Path) -> Any:
    """Return pyarrow.parquet; raises MissingSoftware about a dataset."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingSoftware(
            str(path),
            "pyarrow",
            problem="LeRobot datasets need the Python module pyarrow, which is not installed",
            advice=f"install it, with: {sys.executable} -m pip install pyarrow",
        ) from None
    return parquet
