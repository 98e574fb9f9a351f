# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in NumPy archives: of MuJoCo's system identification, and with PACE's names.

`mujoco.sysid.SystemTrajectory.save_to_disk` writes goals and measurement with names of their columns; they
are read here without a model. Its controls must be goals of position, which the file does not state. PACE
(leggedrobotics/pace-sim2real) keeps `time`, `dof_pos` and `des_dof_pos`, without the names of joints, which a
file for this reader has besides: `joint_names`. All are in s and rad.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, Unreadable, Unsupported
from bam_core.files.json_file import parse_json
from bam_core.files.npz_file import read_arrays
from bam_core.recordings.law_keys import GAINS, WITHOUT_EFFECT, require_no_other_law, setting_name
from bam_core.recordings.recording_map import NO_MAP, RecordingMap
from bam_core.robot.run import RobotRun
from bam_core.robot.screening import screened_run
from bam_core.servo.gains import over

_QPOS, _SENSOR, _CONTROL = 2, 0, 5  # members of mujoco.sysid.SignalType
_ENDINGS = {_QPOS: ("_qpos",), _SENSOR: ("_qpos", "_pos"), _CONTROL: ("_ctrl",)}
_OWN = ("time", "read", "goal")
_PACE = ("time", "dof_pos", "des_dof_pos")
_EXPECTED = (
    "a SystemTrajectory of mujoco.sysid, or time, dof_pos, des_dof_pos and joint_names (s, rad), as "
    "np.savez(path, time=..., dof_pos=..., des_dof_pos=..., joint_names=[...]) writes them"
)

PYTORCH_ADVICE = (
    "write it as .npz, in Python: import numpy, torch; d = torch.load('run.pt'); numpy.savez('run.npz', "
    "joint_names=[...], **{k: d[k].numpy() for k in ('time', 'dof_pos', 'des_dof_pos')})"
)
"""What to do with a file of PACE's own."""


def read_npz_run(path: str | os.PathLike[str], recording_map: RecordingMap = NO_MAP) -> RobotRun:
    """Read a run; `kp`, `kd`, `ki` and `vin` (V) are taken where an archive has them, in any spelling.

    Gains are one number, or one per joint. Settings that change the law are refused, see `law_keys`.

    Args:
        path: of the archive.
        recording_map: its arrays `time`, `read` and `goal` (samples x joints), or `read:JOINT` and
            `goal:JOINT`, where they have other names; names, signs, zeros and units.

    Raises:
        BamError: the archive cannot be read, is none of these, or holds pickled objects, which are not
            loaded: they may run any program.
    """
    path = Path(path)
    arrays = _arrays(path)
    try:
        if recording_map.columns:
            return _of_map(path, arrays, recording_map)
        if all(name in arrays for name in _OWN):
            return _of_map(path, arrays, recording_map)
        if "control_data" in arrays and "sensordata_data" in arrays:
            return _of_sysid(path, arrays, recording_map)
        if all(name in arrays for name in _PACE):
            return _of_pace(path, arrays, recording_map)
    except (BadData, Missing, Unsupported) as error:
        raise error.of_file(path, path.stem) if str(path) not in str(error) else error from None
    if "times" in arrays and "data" in arrays:
        raise Malformed(
            path,
            "is one TimeSeries, of goals or of the measurement alone",
            expected=_EXPECTED,
            advice="save the SystemTrajectory that has both",
        )
    raise Malformed(path, f"has the arrays {', '.join(arrays)}", expected=_EXPECTED)


def _arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    try:
        return read_arrays(path)
    except OSError as error:
        raise Unreadable(path, error) from None
    except ValueError as error:
        if "pickle" not in str(error).lower():
            raise Malformed(path, f"is no archive of NumPy ({error})", expected=_EXPECTED) from None
        raise Malformed(
            path,
            "holds pickled objects, which could run any program, as older mujoco.sysid wrote them",
            expected="arrays alone",
            advice="load and save the trajectory with a newer MuJoCo",
        ) from None


def _of_map(path: Path, arrays: Mapping[str, NDArray[np.generic]], recording_map: RecordingMap) -> RobotRun:
    """Return a run of the arrays that a map names."""
    own = recording_map.column_names(list(arrays))
    time = _numbers(path, arrays, own.get("time", "time"))
    joints = tuple(name[5:] for name in own if name.startswith("read:") and f"goal:{name[5:]}" in own)
    if joints:
        position, goal = (
            np.stack([_numbers(path, arrays, own[f"{kind}:{joint}"]).ravel() for joint in joints], axis=1)
            for kind in ("read", "goal")
        )
    else:
        position, goal = (_numbers(path, arrays, own.get(kind, kind)) for kind in ("read", "goal"))
        joints = _joint_names(path, arrays, position.shape[-1], recording_map)
    return screened_run(
        recording_map=recording_map,
        name=path.stem,
        joints=joints,
        time=_since_start(path, time),
        goal_position=goal,
        position=position,
        **_settings(path, arrays, joints),
    )


def _joint_names(
    path: Path, arrays: Mapping[str, NDArray[np.generic]], count: int, recording_map: RecordingMap
) -> tuple[str, ...]:
    if recording_map.order:
        return recording_map.order
    names = next((arrays[name] for name in ("joint_names", "joints") if name in arrays), None)
    if names is None:
        raise Missing(
            f"{path}, joint_names",
            f"the names of its {count} columns, PACE's joint_order",
            advice="add it: np.savez(..., joint_names=[...]), or order in a map",
        )
    return tuple(name.decode() if isinstance(name, bytes) else str(name) for name in names.ravel().tolist())


def _of_sysid(path: Path, arrays: Mapping[str, NDArray[np.generic]], recording_map: RecordingMap) -> RobotRun:
    """Return goals that were in force at the times of the measurement, of joints that have both."""
    goals = _signals(path, arrays, "control", (_CONTROL,))
    positions = _signals(path, arrays, "sensordata", (_QPOS, _SENSOR))
    joints = tuple(name for name in positions if name in goals)
    if not joints:
        raise Malformed(
            path,
            f"has goals of {', '.join(goals) or 'none'} and positions of {', '.join(positions) or 'none'}",
            expected="actuators with the names of joints, and signals JOINT_qpos or sensors JOINT_pos",
            advice="rename them in signal_mapping",
        )
    commanded, time = _numbers(path, arrays, "control_times"), _numbers(path, arrays, "sensordata_times")
    held = np.maximum(np.searchsorted(commanded, time, side="right") - 1, 0)
    return screened_run(
        recording_map=recording_map,
        name=path.stem,
        joints=joints,
        time=_since_start(path, time),
        goal_position=np.stack([goals[name] for name in joints], axis=1)[held],
        position=np.stack([positions[name] for name in joints], axis=1),
        sent={name: (commanded - time[0], goals[name]) for name in joints},
        **_settings(path, arrays, joints),
    )


def _signals(
    path: Path, arrays: Mapping[str, NDArray[np.generic]], part: str, kinds: tuple[int, ...]
) -> dict[str, Array]:
    """Return joint -> (samples,) of the signals of some kinds that have the width of a joint."""
    data = _numbers(path, arrays, f"{part}_data")
    key = f"{part}_signal_mapping"
    if key not in arrays:
        raise Missing(
            f"{path}, {key}",
            "the names of its columns",
            advice="build it with TimeSeries.from_names and from_control_names",
        )
    try:
        mapping = parse_json(str(arrays[key]))
        signals: dict[str, Array] = {}
        for kind in kinds:  # a joint's own state before a sensor
            for name, (own, columns) in mapping.items():
                ending = next((suffix for suffix in _ENDINGS[kind] if name.endswith(suffix)), None)
                if own == kind and len(columns) == 1 and (ending or kind == _CONTROL):
                    signals.setdefault(name.removesuffix(ending or ""), data[:, columns[0]])
    except (ValueError, TypeError, AttributeError, IndexError):
        raise Malformed(path, f"{key} does not describe {part}_data", expected=_EXPECTED) from None
    return signals


def _of_pace(path: Path, arrays: Mapping[str, NDArray[np.generic]], recording_map: RecordingMap) -> RobotRun:
    time, position, goal = (_numbers(path, arrays, name) for name in _PACE)
    joints = _joint_names(path, arrays, position.shape[-1], recording_map)
    return screened_run(
        recording_map=recording_map,
        name=path.stem,
        joints=joints,
        time=_since_start(path, time),
        goal_position=goal,
        position=position,
        **_settings(path, arrays, joints),
    )


def _settings(
    path: Path, arrays: Mapping[str, NDArray[np.generic]], joints: tuple[str, ...]
) -> dict[str, Any]:
    """Return gains and supply that an archive has; raises BamError where another setting changes the law."""
    settings: dict[str, Any] = {}
    for key in arrays:
        name = setting_name(key)
        if name not in (*GAINS, "vin", *WITHOUT_EFFECT):
            continue
        values = _numbers(path, arrays, key).ravel()
        if name in GAINS and values.shape == (len(joints),):
            settings[name] = over(None, dict(zip(joints, values.tolist(), strict=True)), joints, str(path))
            continue
        values = np.unique(values)
        if len(values) != 1:
            raise BadData(f"{path}, {key}", "is not one number", advice="split the run, or give it")
        require_no_other_law({key: float(values[0])})
        if name not in WITHOUT_EFFECT:
            settings["supply_voltage" if name == "vin" else name] = float(values[0])
    return settings


def _since_start(path: Path, time: Array) -> Array:
    """Return times since the first one; raises Malformed where they are no row of numbers."""
    if time.ndim != 1:
        raise Malformed(path, f"time is {time.shape}", expected="(n,), one per sample")
    return np.asarray(time - time[0]) if len(time) else time


def _numbers(path: Path, arrays: Mapping[str, NDArray[np.generic]], name: str) -> Array:
    try:
        array = arrays[name]
        if array.dtype.kind not in "biufU":
            raise TypeError  # complex, dates
        return np.asarray(array, dtype=np.float64)
    except KeyError:
        raise Missing(f"{path}, {name}", "an array") from None
    except (ValueError, TypeError):
        raise Malformed(path, f"{name} holds something else than numbers") from None
