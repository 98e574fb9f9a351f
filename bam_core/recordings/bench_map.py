# SPDX-License-Identifier: Apache-2.0
"""Recordings of a bench as a map has them: names of their keys, units, sign and zero of the one joint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import Conflict, Unsupported
from bam_core.recordings.recording_map import NO_MAP, NORMALISED, RecordingMap

_KEYS = {"time": "timestamp", "read": "position", "goal": "goal_position"}
"""Kind of a column, as runs of robots have it -> key of BAM's logs."""

_JOINT = "joint"
"""What the joint is called of a log that does not name it."""


def renamed_log(log: Mapping[str, Any], recording_map: RecordingMap) -> dict[str, Any]:
    """Return a JSON log with the keys of BAM's recorder in place of those that a map names.

    Args:
        log: keys of the header, and `entries`.
        recording_map: whose columns are keys of the header or of entries. Ours are those of BAM's logs, or
            `time`, `read:JOINT` and `goal:JOINT`, which also name the joint.

    Raises:
        BamError: the log lacks a key.
    """
    if not recording_map.columns or not isinstance(log.get("entries"), list):
        return dict(log)
    entries = [entry for entry in log["entries"] if isinstance(entry, dict)]
    keys = list(dict.fromkeys([*log, *(key for entry in entries for key in entry)]))
    names = recording_map.column_names(keys)
    ours = {theirs: _KEYS.get(name.partition(":")[0], name) for name, theirs in names.items()}
    doubled = [name for name in ours.values() if list(ours.values()).count(name) > 1]
    if doubled:
        of_one = ", ".join(theirs for theirs, name in ours.items() if name == doubled[0])
        raise Conflict(
            f"{recording_map.source}, columns",
            f"have {of_one} as {doubled[0]}",
            expected="one joint on a bench",
        )
    renamed = _renamed(log, ours)
    renamed["entries"] = [
        _renamed(entry, ours) if isinstance(entry, dict) else entry for entry in log["entries"]
    ]
    joint = next((name.partition(":")[2] for name in names if name.startswith("read:")), "")
    return {"joint": joint, **renamed} if joint else renamed


def mapped_samples(
    samples: Mapping[str, NDArray[Any]], recording_map: RecordingMap, joint: str | None
) -> dict[str, NDArray[Any]]:
    """Return samples with the units, the sign and the zero of a map.

    Args:
        samples: fields of `Recording` by name.
        recording_map: what they are.
        joint: name of the recorded joint; None: it has none.

    Raises:
        BamError: the map names other joints, or leaves this one out.
    """
    if recording_map == NO_MAP:
        return dict(samples)
    if recording_map.unit == NORMALISED:
        raise Unsupported(
            f"{recording_map.source}, unit", "is a share of a range", expected="rad or deg on a bench"
        )
    (to,) = recording_map.joint_maps([joint or _JOINT])
    assert to is not None  # `joint_maps` refuses a map that leaves all out
    scale = recording_map.angle_scale
    factors = {"time": recording_map.time_scale, "velocity": to.sign * scale}
    factors |= dict.fromkeys(("duty", "current"), to.sign)
    mapped = {name: factors.get(name, 1.0) * values for name, values in _numbers(samples)}
    for name in ("position", "goal_position"):
        mapped[name] = np.asarray(to.sign * (scale * mapped[name] - to.zero))
    return {**samples, **mapped}


def require_joints_alone(recording_map: RecordingMap, format: str) -> None:
    """Refuse a map of more than joints: columns and units of the format are fixed; raises Unsupported."""
    for section in ("columns", "topics", "order", "unit", "time_unit"):
        if getattr(recording_map, section):
            raise Unsupported(
                f"{recording_map.source}, {section}",
                f"is fixed for {format}",
                expected="joints alone",
                advice="leave it out of their map",
            )


def _renamed(values: Mapping[str, Any], ours: Mapping[str, str]) -> dict[str, Any]:
    """Return values under our names, in place of what had these names."""
    taken = set(ours.values())
    kept = {name: value for name, value in values.items() if name in ours or name not in taken}
    return {ours.get(name, name): value for name, value in kept.items()}


def _numbers(samples: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    return ((name, values) for name, values in samples.items() if values.dtype != np.bool_)
