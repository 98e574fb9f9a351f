# SPDX-License-Identifier: Apache-2.0
"""Episodes of LeRobot datasets, versions 2 and 3: one run each.

A dataset is a directory with `meta/info.json` and `data/chunk-*/*.parquet`; a file holds one episode (version
2) or many, one row per frame (lerobot/datasets/dataset_writer.py). Only a few columns are read: neither
images nor videos. The measurement of a frame, `observation.state`, is taken before its `action` is sent.
Times are those that a frame should have had, `frame_index / fps`: LeRobot does not keep when it was.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Malformed, Missing, MissingSoftware, Unreadable
from bam_core.files.json_file import read_json
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.lerobot_units import (
    Calibration,
    goals_within,
    load_calibration,
    radians_of_degrees,
    radians_of_shares,
    require_unit,
)
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.robot.value_steps import DEGREES, NORMALISED, RADIANS
from bam_core.text.finding import log_findings
from bam_core.text.robot_run_findings import ClippedGoals, DerivedRanges, StampedRate

log = logging.getLogger(__name__)

INFO = Path("meta") / "info.json"
_VERSIONS = ("v2", "v3")
_SUFFIX = ".pos"  # LeRobot's robots call a joint's position so
_GRIPPER = "gripper"
_SO_ARMS = ("so100", "so101", "so_follower", "so_arm")
_SO_ARM_KD = 32.0  # lerobot/robots/so_follower/so_follower.py: P 16, I 0, D 32
_SHARES = (-100.0, 100.0)  # LeRobot sends no goals beyond (`_unnormalize` in lerobot/motors/motors_bus.py)
_SAME_RATE = 0.02  # relative, of stamps and description
_POINTER = b"version https://git-lfs"
_STATE, _ACTION, _EPISODE, _TIME = "observation.state", "action", "episode_index", "timestamp"


def is_dataset(path: Path) -> bool:
    """Return whether a directory is a LeRobot dataset, of any version."""
    return (path / INFO).is_file()


def usual_kd(path: Path) -> float | None:
    """Return the derivative gain that LeRobot sets on a dataset's arm without storing it; None: not known."""
    kind = str(_info(path).get("robot_type", ""))
    return _SO_ARM_KD if kind.startswith(_SO_ARMS) else None


def read_dataset_runs(
    path: str | os.PathLike[str],
    unit: str | None = None,
    calibration: str | os.PathLike[str] | None = None,
    recording_map: RecordingMap = NO_MAP,
) -> list[RobotRun]:
    """Read all episodes, named DATASET_episode_NUMBER.

    Joints are the names that action and state share, without ".pos". A gripper is left out: LeRobot has it as
    a share of its opening, whose zero no description knows.

    Args:
        path: of the dataset.
        unit: of positions, one of `lerobot_units.UNITS`; None: what the values show.
        calibration: of the arm; its joints have the names of the dataset or those of the description. Goals
            beyond its ranges count as their ends. None: the steps between normalised values show the ranges,
            and goals in degrees count as they are.
        recording_map: other names of features (`columns: {goal: action, read: observation.state}`), joints
            (`order` where the dataset has none), signs and zeros. Its unit is for `unit`.

    Raises:
        BamError: the dataset cannot be read, has no names of joints, or its unit is not known.
        MissingSoftware: pyarrow is not installed.
    """
    path = Path(path)
    info = _info(path)
    features = _features(recording_map)
    table = _columns(path, info, features)
    goals, states = (
        _named(path, info, features[column], table[column], recording_map.order)
        for column in (_ACTION, _STATE)
    )
    kept = dict(zip(states, recording_map.joint_maps(list(states)), strict=True))
    joints = [name for name in states if name in goals and kept[name] is not None]
    if not joints:
        raise Malformed(
            path / INFO,
            f"action ({', '.join(goals)}) and state ({', '.join(states)}) have no joint in common",
            expected="goals of joints, such as shoulder_pan.pos, in both",
        )
    arm = [name for name in joints if not (is_gripper(name) or is_gripper(recording_map.joint_name(name)))]
    proof = require_unit(path, unit, {name: states[name] for name in arm} or states)
    if unit is None:
        log.info("%s: unit %s, as the steps between its values show", path, proof.unit)
    largest = max(float(np.nanmax(np.abs(states[name]))) for name in joints)
    if proof.unit == DEGREES and not proof.steps and largest < 2.0 * np.pi:
        log.warning("%s: no joint goes beyond %.3g; if these are radians, give --unit rad", path, largest)
    if proof.unit != RADIANS:
        for name in set(joints) - set(arm):
            log.info("%s: %s is left out: a share of its opening, no angle", path, name)
        joints = arm
    goals, states = ({name: values[name] for name in joints} for values in (goals, states))
    ranges = None if calibration is None else _calibration(calibration, joints, recording_map)
    recorded = goals
    if proof.unit == NORMALISED:
        if ranges is None:
            log_findings(log, [DerivedRanges(dataset=str(path), ranges=tuple(proof.ranges.items()))])
        goals = {name: np.clip(values, *_SHARES) for name, values in goals.items()}
        log_findings(log, _clipped(path, recorded, goals))
        # The steps of goals are those of the arm that led.
        goals, states = (radians_of_shares(path, states, values, ranges) for values in (goals, states))
    else:
        if ranges is not None and proof.unit != DEGREES:
            raise Conflict(
                "--calibration",
                f"is of no use for positions in {proof.unit}",
                expected="degrees or shares of its ranges",
            )
        scale = radians_of_degrees(proof.steps.values()) if proof.unit == DEGREES else 1.0
        recorded, states = (
            {name: scale * column for name, column in values.items()} for values in (goals, states)
        )
        goals = recorded if ranges is None else goals_within(recorded, states, ranges)
        log_findings(log, _clipped(path, recorded, goals))
    fps = info.get("fps")
    log.info(
        "%s: times are those of %s frames per second, kept or not: a recording loop that was slower makes "
        "all motions look faster",
        path,
        fps,
    )
    episode, time = table[_EPISODE].ravel(), table[_TIME].ravel()
    log_findings(log, _rate_findings(path, fps, episode, time))
    in_radians = replace(recording_map, unit=None, is_strict=False)

    def run(number: int) -> RobotRun:
        rows = episode == number
        of_episode = time[rows], {name: (goals[name][rows], states[name][rows]) for name in joints}
        return _run(path, number, *of_episode, in_radians)

    return [run(int(number)) for number in np.unique(episode)]


def _run(
    path: Path,
    number: int,
    time: Array,
    joints: Mapping[str, tuple[Array, Array]],
    recording_map: RecordingMap,
) -> RobotRun:
    """Return an episode, of joint -> goals and states."""
    goals, states = zip(*joints.values(), strict=True)
    try:
        return screened_run(
            recording_map=recording_map,
            name=f"{path.resolve().name}_episode_{number}",
            joints=tuple(joints),
            time=time - time[0],
            goal_position=np.stack(goals, axis=1),
            position=np.stack(states, axis=1),
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
    if not version.startswith(_VERSIONS):
        raise Malformed(
            path,
            f"is a LeRobot dataset of version {version}",
            expected="version 2 or 3",
            advice="convert it with the scripts of LeRobot",
        )
    return info


def _features(recording_map: RecordingMap) -> dict[str, str]:
    """Return our name of a feature -> the one in the dataset."""
    mapped = {_ACTION: "goal", _STATE: "read", _TIME: "time", _EPISODE: "episode"}
    return {name: recording_map.columns.get(ours, name) for name, ours in mapped.items()}


def is_gripper(name: str | None) -> bool:
    """Whether LeRobot has a joint of this name as a share of its opening."""
    return (name or "").endswith(_GRIPPER)


def _clipped(path: Path, recorded: Mapping[str, Array], goals: Mapping[str, Array]) -> list[ClippedGoals]:
    """Return a finding where goals are clipped."""
    shares = tuple(
        (name, share) for name, values in recorded.items() if (share := float(np.mean(values != goals[name])))
    )
    return [ClippedGoals(dataset=str(path), joints=shares)] if shares else []


def _rate_findings(path: Path, fps: Any, episode: Array, time: Array) -> list[StampedRate]:
    """Return a finding where stamps have another rate than the dataset's description."""
    steps = np.diff(time)[np.diff(episode) == 0]
    steps = steps[np.isfinite(steps) & (steps > 0.0)]
    if isinstance(fps, bool) or not isinstance(fps, int | float) or fps <= 0 or not len(steps):
        return []
    stamped = 1.0 / float(np.median(steps))
    is_same = abs(stamped / fps - 1.0) < _SAME_RATE
    return [] if is_same else [StampedRate(dataset=str(path), fps=float(fps), stamped=stamped)]


def _columns(path: Path, info: dict[str, Any], features: Mapping[str, str]) -> dict[str, Array]:
    """Return (frames, width) of each column that is needed, in the order of episodes and frames."""
    parquet = parquet_module(path)
    files = sorted((path / "data").glob("*/*.parquet"))
    if not files:
        raise Missing(f"{path}/data", "files chunk-*/file-*.parquet", advice="download the dataset whole")
    parts: dict[str, list[Array]] = {name: [] for name in (_EPISODE, _TIME, _ACTION, _STATE)}
    for file in files:
        try:
            table = parquet.ParquetFile(file).read(columns=list(features.values()))
        except (OSError, ValueError) as error:  # pyarrow's errors are of these kinds
            raise Unreadable(file, str(error).splitlines()[0], advice=_fetch_advice(file)) from None
        for name, values in parts.items():
            feature = features[name]
            if feature not in table.column_names:
                raise Missing(f"{file}, column {feature}", "numbers of every frame")
            values.append(_numbers(file, feature, table.column(feature)))
    columns = {name: _of_all_files(path, name, features[name], values) for name, values in parts.items()}
    frames, declared = len(columns[_TIME]), info.get("total_frames")
    if declared is not None and declared != frames:
        raise Malformed(
            path,
            f"has {frames} frames",
            expected=f"{declared}, as in {INFO}",
            advice="download the dataset whole",
        )
    order = np.lexsort((columns[_TIME].ravel(), columns[_EPISODE].ravel()))
    return {name: values[order] for name, values in columns.items()}


def _of_all_files(path: Path, name: str, feature: str, parts: Sequence[Array]) -> Array:
    """Return (frames, width) of a feature; raises Malformed where files differ or frames have no number."""
    widths = {part.shape[1:] for part in parts}
    if len(widths) > 1 or any(len(width) != 1 for width in widths):
        raise Malformed(path, f"column {feature} has another width in some frames", expected="one width")
    values = np.concatenate(parts)
    is_whole = name != _EPISODE or bool(np.all(values == np.round(values)))
    if name in (_EPISODE, _TIME) and not (values.shape[1] == 1 and np.all(np.isfinite(values)) and is_whole):
        raise Malformed(path, f"column {feature} is not one number per frame", expected="finite ones")
    return values


def _fetch_advice(file: Path) -> str:
    """Return what to do with a file that is no table."""
    with file.open("rb") as opened:
        is_pointer = opened.read(len(_POINTER)) == _POINTER
    return (
        "run 'git lfs pull' in its repository" if is_pointer else "download it again, or record it to its end"
    )


def _numbers(file: Path, name: str, column: Any) -> Array:
    """Return (frames, width), rad or whatever the column holds."""
    try:
        rows = column.to_numpy()
        table = np.stack(list(rows)) if rows.dtype == object else rows[:, None]
        return np.asarray(table, dtype=np.float64)
    except (ValueError, TypeError):
        raise Malformed(file, f"column {name} holds something else than as many numbers per frame") from None


def _named(
    path: Path, info: dict[str, Any], feature: str, table: Array, order: Sequence[str]
) -> dict[str, Array]:
    """Return joint -> (frames,) of a feature, by the names that the dataset, or a map, gives its entries."""
    features = info.get("features")
    described = features.get(feature) if isinstance(features, dict) else None
    names = described.get("names") if isinstance(described, dict) else None
    if isinstance(names, dict) and len(names) == 1:  # {"motors": [...]}, as older recorders wrote it
        (names,) = names.values()
    while isinstance(names, list) and any(isinstance(name, list) for name in names):  # [["left", ...]]
        names = [name for part in names for name in (part if isinstance(part, list) else [part])]
    names = list(order) or names
    width = table.shape[1]
    if not isinstance(names, list) or len(names) != width:
        raise Malformed(
            path / INFO,
            f"does not name the {width} entries of {feature}",
            expected='features with names such as ["shoulder_pan.pos", ...]',
            advice="give a map with their order (map: {order: [...]} in a bench.yaml)",
        )
    joints = [str(name).removesuffix(_SUFFIX) for name in names]
    if len(set(joints)) < width:
        raise Malformed(
            path / INFO,
            f"has one name for two entries of {feature} ({', '.join(joints)})",
            expected="each name once",
            advice="give a map with their order (map: {order: [...]} in a bench.yaml)",
        )
    return dict(zip(joints, table.T, strict=True))


def _calibration(
    path: str | os.PathLike[str], joints: Sequence[str], recording_map: RecordingMap
) -> Calibration:
    """Return the calibration of joints of a dataset; its file may have the description's names."""
    calibration = load_calibration(path)
    names = {name: recording_map.joint_name(name) or name for name in joints}
    lacking = {
        name: described
        for name, described in names.items()
        if name not in calibration.ranges and described in calibration.ranges
    }
    return replace(
        calibration,
        ranges={
            **calibration.ranges,
            **{name: calibration.ranges[described] for name, described in lacking.items()},
        },
        inverted=calibration.inverted.union(
            n for n, described in lacking.items() if described in calibration.inverted
        ),
    )


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
