# SPDX-License-Identifier: Apache-2.0
"""Messages of the topics that a map names, as goals and states of joints.

A topic that the map names is what the map has it for, whatever its name: `JointState`, `JointTrajectory`, or
`Float64MultiArray` with the map's order of joints. Other topics of the same kind are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from bam_core.errors import Missing, UnknownName, Unsupported, WrongShape
from bam_core.recordings.joint_series import JointSeries, Series
from bam_core.recordings.message_decoder import TypedMessage
from bam_core.recordings.recording_map import NO_MAP, RecordingMap

ARRAY = "std_msgs/msg/Float64MultiArray"
_JOINT_STATE = "sensor_msgs/msg/JointState"
_CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
_STATES = "bam_bench/msg/ServoStates"
_REPORTS = (_STATES, _CONTROLLER)  # which have goals and positions, both with names


def mapped_messages(
    path: Path, messages: Sequence[TypedMessage], recording_map: RecordingMap
) -> list[TypedMessage]:
    """Return messages as `joint_series` reads them.

    Args:
        path: of the bag.
        messages: of `joint_series.SERIES_TYPES`.
        recording_map: which topics count.

    Raises:
        BamError: a topic is not there, or its type has no joints.
    """
    goal, read = (recording_map.topics.get(name) for name in ("goal", "read"))
    if goal is None and read is None:
        return list(messages)
    there = {message.topic: message.type for message in messages}
    for topic in (goal, read):
        if topic is not None and topic not in there:
            raise UnknownName(f"topic of {path}", topic, there)
    kept = []
    for message in messages:
        if message.topic == goal:
            kept.append(_as_goal(path, message, recording_map.order))
        elif message.topic == read:
            kept.append(_as_state(path, message, recording_map.order))
        elif message.type == _CONTROLLER or (message.type == _STATES and read is not None):
            continue
        elif message.type == _STATES:
            kept.append(_without_goals(message))
        elif not (read is not None if _is_state(message) else goal is not None):
            kept.append(message)
    return kept


def mapped_series(series: JointSeries, recording_map: RecordingMap) -> JointSeries:
    """Return series with names, signs, zeros and the unit of a map; those that it leaves out are left out.

    Raises:
        BamError: as `RecordingMap.joint_maps`.
    """
    recorded = list(dict.fromkeys([*series.position, *series.goal_position]))
    if recording_map == NO_MAP or not recorded:
        return series
    maps = dict(zip(recorded, recording_map.joint_maps(recorded), strict=True))
    scale = recording_map.angle_scale

    def mapped(of_joints: Mapping[str, Series], factor: float, *, has_zero: bool) -> dict[str, Series]:
        result = {}
        for name, (time, value) in of_joints.items():
            if (joint := maps.get(name)) is not None:
                result[joint.name] = Series(
                    time, joint.sign * (factor * value - (joint.zero if has_zero else 0.0))
                )
        return result

    signed = {"duty": 1.0, "velocity": scale}
    reported = {}
    for field, of_joints in series.reported.items():
        if field in ("position", "goal_position"):
            reported[field] = mapped(of_joints, scale, has_zero=True)
        elif field in signed:
            reported[field] = mapped(of_joints, signed[field], has_zero=False)
        else:
            reported[field] = {
                to.name: of_joints[name] for name, to in maps.items() if to and name in of_joints
            }
    return replace(
        series,
        position=mapped(series.position, scale, has_zero=True),
        velocity=mapped(series.velocity, scale, has_zero=False),
        goal_position=mapped(series.goal_position, scale, has_zero=True),
        reported=reported,
    )


def _is_state(message: TypedMessage) -> bool:
    return message.type == _JOINT_STATE and not message.topic.endswith(("command", "commands"))


def _as_goal(path: Path, message: TypedMessage, order: Sequence[str]) -> TypedMessage:
    if message.type == _STATES:
        raise Unsupported(
            f"{path}, topic {message.topic}", "has states, no goals", expected="a topic of commands"
        )
    if message.type not in (_JOINT_STATE, ARRAY) or (message.type == ARRAY and not order):
        return message  # of an array the values show which joint is which, see `array_goals`
    return _joint_state(path, message, order, f"{message.topic}/commands")


def _as_state(path: Path, message: TypedMessage, order: Sequence[str]) -> TypedMessage:
    if message.type not in (_JOINT_STATE, ARRAY, *_REPORTS):
        raise Unsupported(
            f"{path}, topic {message.topic}", "has commands, no states", expected="a topic of joint states"
        )
    if message.type in _REPORTS:
        return message
    return _joint_state(path, message, order, f"{message.topic}/states")


def _joint_state(path: Path, message: TypedMessage, order: Sequence[str], topic: str) -> TypedMessage:
    """Return a JointState under another topic; one of an array has the time of its reception."""
    value = message.value
    if message.type == ARRAY:
        if not order:
            raise Missing(
                f"order in the map of {path}",
                f"names of the {len(value.data)} joints of {message.topic}",
                advice="add it, as in map: {order: [shoulder, elbow]}",
            )
        if len(value.data) != len(order):
            raise WrongShape(
                f"{path}, topic {message.topic}",
                f"{len(value.data)} values",
                f"{len(order)}: {', '.join(order)}",
                advice="correct order in the map",
            )
        position = np.asarray(value.data, dtype=np.float64)
        value = _namespace(order, position)
    elif not len(value.name):
        value = SimpleNamespace(
            header=value.header, name=list(order), position=value.position, velocity=value.velocity
        )
    return message._replace(topic=topic, type=_JOINT_STATE, value=value)


def _namespace(names: Sequence[str], position: Any) -> SimpleNamespace:
    header = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0))
    return SimpleNamespace(header=header, name=list(names), position=position, velocity=[])


def _without_goals(message: TypedMessage) -> TypedMessage:
    """Return states of our nodes without the goals that they report: those of another topic count."""
    goals = np.full(len(message.value.name), np.nan)
    fields = {**{name: getattr(message.value, name) for name in _STATE_FIELDS}, "goal_position": goals}
    return message._replace(value=SimpleNamespace(header=message.value.header, **fields))


_STATE_FIELDS = (
    "name",
    "position",
    "velocity",
    "goal_position",
    "torque_enabled",
    "voltage",
    "temperature",
    "duty",
)
