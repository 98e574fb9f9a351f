# SPDX-License-Identifier: Apache-2.0
"""Runs of robots in bags: of our nodes, or of any nodes that publish joint states and take goals.

Positions are those of ``ServoStates``, for joints that have none those of ``JointState``. Goals are what
servos report in ``ServoStates``, else what they were told: ``ServoCommands``, ``JointTrajectory`` (the first
point of each message, as controllers that stream goals send it), or ``JointState`` on a topic that ends with
``command`` or ``commands``. Topics are found by type, so a namespace does not matter.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed
from bam_core.recordings.bag import COMMANDS_TYPE, STATES_TYPE
from bam_core.recordings.discovery import data_files
from bam_core.recordings.mcap_messages import TypedMessage, read_messages
from bam_core.robot.run import RobotRun

_JOINT_STATE = "sensor_msgs/msg/JointState"
_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
_TYPES = {STATES_TYPE, COMMANDS_TYPE, _JOINT_STATE, _TRAJECTORY}

_Sample = tuple[float, float]  # time in s, value


def read_bag_run(path: str | os.PathLike[str]) -> RobotRun:
    """Read a bag directory or ``.mcap`` file; the clock is that of the messages' stamps.

    Samples are at the times of the joint that has the fewest; positions of others are interpolated.

    Raises:
        BamError: the bag cannot be read, or no joint in it has positions and goals.
    """
    path = Path(path)
    messages = [each for file in data_files(path) for each in read_messages(file, _TYPES).messages]
    _require_one_topic(path, messages)
    reported, read, told = _series(messages)
    positions = {**_arrays(read), **_arrays(reported["position"])}
    goals = {**_arrays(told), **_arrays(reported["goal_position"])}
    joints = tuple(name for name in positions if name in goals)
    if not joints:
        raise Malformed(
            path,
            f"has {len(positions)} joints with positions and {len(goals)} with goals, and none with both",
            expected="servo_states, or joint_states with the goals that were sent",
            advice="record those topics, too",
        )
    begin = max(max(positions[each][0][0], goals[each][0][0]) for each in joints)
    time = min((positions[each][0] for each in joints), key=len)
    time = time[(time >= begin) & (time <= min(positions[each][0][-1] for each in joints))]
    supply = [value for samples in reported["voltage"].values() for _, value in samples]
    return RobotRun(
        name=path.stem if path.is_file() else path.name,
        joints=joints,
        time=time - time[0] if len(time) else time,
        goal_position=np.stack([_held(goals[each], time) for each in joints], axis=1),
        position=np.stack([np.interp(time, *positions[each]) for each in joints], axis=1),
        supply_voltage=float(np.mean(supply)) if supply else None,
    )


def _series(
    messages: Sequence[TypedMessage],
) -> tuple[dict[str, dict[str, list[_Sample]]], dict[str, list[_Sample]], dict[str, list[_Sample]]]:
    """Return what servos report by field and joint, positions and goals of other topics by joint."""
    reported: dict[str, dict[str, list[_Sample]]] = {
        field: defaultdict(list) for field in ("position", "goal_position", "voltage")
    }
    read: dict[str, list[_Sample]] = defaultdict(list)
    told: dict[str, list[_Sample]] = defaultdict(list)
    for message in messages:
        value = message.value
        moment = value.header.stamp.sec + 1e-9 * value.header.stamp.nanosec
        if not moment:  # a command that its sender did not stamp
            moment = 1e-9 * message.log_time
        if message.type == STATES_TYPE:
            for field, of_joint in reported.items():
                _note(of_joint, moment, value.name, getattr(value, field))
        elif message.type == _JOINT_STATE and not message.topic.endswith(("command", "commands")):
            _note(read, moment, value.name, value.position)
        elif message.type == _TRAJECTORY:
            for point in value.points[:1]:
                _note(told, moment, value.joint_names, point.positions)
        else:
            _note(told, moment, value.name, value.position)
    return reported, read, told


def _require_one_topic(path: Path, messages: Sequence[TypedMessage]) -> None:
    """Refuse two robots in one bag: joints of the same name on topics of different namespaces."""
    topics: dict[tuple[str, str], set[str]] = defaultdict(set)
    for message in messages:
        names = message.value.joint_names if message.type == _TRAJECTORY else message.value.name
        is_command = message.topic.endswith(("command", "commands"))
        kind = "commands" if is_command or message.type == _TRAJECTORY else message.type
        for name in names:
            topics[kind, name].add(message.topic)
    for (_, name), found in topics.items():
        if len(found) > 1:
            raise BadData(
                f"{path}, joint '{name}'",
                f"is on {len(found)} topics: {', '.join(sorted(found))}",
                expected="one robot per bag",
                advice="keep one of them (ros2 bag convert), or record them apart",
            )


def _note(series: dict[str, list[_Sample]], moment: float, names: Sequence[str], values: Any) -> None:
    for name, value in zip(names, values, strict=False):  # JointState may leave values out
        if np.isfinite(value):
            series[name].append((moment, float(value)))


def _arrays(series: dict[str, list[_Sample]]) -> dict[str, tuple[Array, Array]]:
    return dict(_sorted(series))


def _sorted(series: dict[str, list[_Sample]]) -> Iterator[tuple[str, tuple[Array, Array]]]:
    for name, samples in series.items():
        time, first = np.unique([moment for moment, _ in samples], return_index=True)
        yield name, (time, np.array([samples[index][1] for index in first]))


def _held(goal: tuple[Array, Array], time: Array) -> Array:
    """Return the goals in force at these times."""
    times, values = goal
    return np.asarray(values[np.maximum(np.searchsorted(times, time, side="right") - 1, 0)])
