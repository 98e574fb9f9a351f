# SPDX-License-Identifier: Apache-2.0
"""What messages in bags must have: a bag defines its own types, perhaps wrongly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TIME = {"sec": "int32", "nanosec": "uint32"}
_HEADER = {"stamp": "builtin_interfaces/msg/Time"}
_STAMPED = {"header": "std_msgs/msg/Header"}
_NUMBERS = "float64[]"
_POINT = "trajectory_msgs/msg/JointTrajectoryPoint"

FIELDS: Mapping[str, Mapping[str, str]] = {
    "builtin_interfaces/msg/Time": _TIME,
    "std_msgs/msg/Header": _HEADER,
    "bam_bench/msg/BenchRun": {
        **_STAMPED,
        "format": "uint32",
        "servo": "string",
        "joint": "string",
        "firmware": "string",
        **dict.fromkeys(("mass", "arm_mass", "length", "kp", "ki", "kd", "supply_voltage"), "float64"),
        "script": "string",
        "duration": "builtin_interfaces/msg/Duration",
        "demand_limit?": "float64",
    },
    "bam_bench/msg/ServoStates": {
        **_STAMPED,
        "name": "string[]",
        **dict.fromkeys(
            ("position", "velocity", "duty", "voltage", "temperature", "goal_position"), _NUMBERS
        ),
        "torque_enabled": "bool[]",
    },
    "bam_bench/msg/ServoCommands": {**_STAMPED, "name": "string[]", "goal_position": _NUMBERS},
    "bam_bench/msg/ServoConfiguration": {
        "name": "string[]",
        "servo": "string[]",
        "demand_limit?": _NUMBERS,
        "unmodelled?": "string[]",
    },
    "sensor_msgs/msg/JointState": {
        **_STAMPED,
        "name": "string[]",
        "position": _NUMBERS,
        "velocity": _NUMBERS,
    },
    "trajectory_msgs/msg/JointTrajectory": {
        **_STAMPED,
        "joint_names": "string[]",
        "points": f"{_POINT}[]",
    },
    _POINT: {
        **dict.fromkeys(("positions", "velocities", "accelerations"), _NUMBERS),
        "time_from_start": "builtin_interfaces/msg/Duration",
    },
    "builtin_interfaces/msg/Duration": _TIME,
    "control_msgs/msg/JointTrajectoryControllerState": {
        **_STAMPED,
        "joint_names": "string[]",
        **dict.fromkeys(
            (f"{name}?" for name in ("reference", "feedback", "output", "desired", "actual")), _POINT
        ),
    },
    "control_msgs/msg/DynamicJointState": {
        **_STAMPED,
        "joint_names": "string[]",
        "interface_values": "control_msgs/msg/InterfaceValue[]",
    },
    "control_msgs/msg/InterfaceValue": {"interface_names": "string[]", "values": _NUMBERS},
    "std_msgs/msg/Float64MultiArray": {"data": _NUMBERS},
    "std_msgs/msg/Float64": {"data": "float64"},
}
"""Type -> fields that are read, and their types. A ``?`` behind a field: older versions lack it."""

_BASE, _NAME, _ARRAY = 1, 2, 3  # rosbags' kinds of types; the others are sequences


def missing_field(types: Mapping[str, Any], name: str) -> str:
    """Return which field a type lacks, or has with another type, in words; empty: it has all that are read.

    Args:
        types: rosbags' field definitions of all types.
        name: of the type, such as "bam_bench/msg/ServoStates"; those in it are looked at as well.
    """
    fields = {field: _type_name(kind) for field, kind in types[name][1]} if name in types else {}
    for key, expected in FIELDS.get(name, {}).items():
        field = key.removesuffix("?")
        if field not in fields:
            if key != field:
                continue
            return f"{field} of {name} is missing"
        if fields[field] != expected:
            return f"{field} of {name} is of type {fields[field]}"
        inner = expected.removesuffix("[]")
        if inner in FIELDS and (problem := missing_field(types, inner)):
            return problem
    return ""


def _type_name(kind: Any) -> str:
    """Return a type in the words of .msg files."""
    what, of = kind
    if int(what) == _NAME:
        return str(of)
    if int(what) == _BASE:
        return str(of[0])
    inner, length = of
    return f"{_type_name(inner)}[{length or ''}]" if int(what) == _ARRAY else f"{_type_name(inner)}[]"
