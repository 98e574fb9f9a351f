# SPDX-License-Identifier: Apache-2.0
"""Positions and goals of joints in bags of any nodes, our own or others.

Positions are those of ``ServoStates``, for joints that have none those of ``JointState``. Goals are what
servos report in ``ServoStates``, else what they were told: ``ServoCommands``, ``JointTrajectory`` (the first
point of each message, as controllers that stream goals send it), or ``JointState`` on a topic that ends with
``command`` or ``commands``. Topics are found by type, so a namespace does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.recordings.message_decoder import TypedMessage

STATES_TYPE = "bam_bench/msg/ServoStates"
COMMANDS_TYPE = "bam_bench/msg/ServoCommands"
_JOINT_STATE = "sensor_msgs/msg/JointState"
_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
SERIES_TYPES = frozenset({STATES_TYPE, COMMANDS_TYPE, _JOINT_STATE, _TRAJECTORY})
"""Message types that say something of joints."""

_REPORTED = ("position", "velocity", "goal_position", "torque_enabled", "voltage", "temperature", "duty")
_COMMANDS = ("command", "commands")
_VIEWS = ("goal_states", "low_states", "high_states")  # of the simulator, for RViz: no measurements

_Samples = dict[str, list[tuple[int, float]]]  # joint -> time in ns and value of each sample


class Series(NamedTuple):
    """Samples of one quantity of one joint; what was not a finite number is left out."""

    time: Array
    """(n,) s since `JointSeries.origin`, increasing."""
    value: Array
    """(n,)"""

    def held(self, time: Array) -> Array:
        """Return the newest values at these times; before the first one, the first."""
        return np.asarray(self.value[np.maximum(np.searchsorted(self.time, time, side="right") - 1, 0)])

    def at(self, time: Array) -> Array:
        """Return the values of samples at exactly these times, NaN where there is none."""
        index = np.minimum(np.searchsorted(self.time, time), len(self.time) - 1)
        return np.where(self.time[index] == time, self.value[index], np.nan)


@dataclass(frozen=True, kw_only=True)
class JointSeries:
    """What a bag says of joints.

    Attributes:
        origin: of all times, ns on the clock of the messages' stamps.
        position: joint -> rad.
        velocity: joint -> rad/s, of the same messages.
        goal_position: joint -> rad.
        reported: field of ``ServoStates`` -> joint -> values.
    """

    origin: int
    position: Mapping[str, Series]
    velocity: Mapping[str, Series]
    goal_position: Mapping[str, Series]
    reported: Mapping[str, Mapping[str, Series]]

    @property
    def joints(self) -> tuple[str, ...]:
        """Those with positions and goals."""
        return tuple(name for name in self.position if name in self.goal_position)


def joint_series(path: Path, messages: Sequence[TypedMessage]) -> JointSeries:
    """Return what messages say of joints.

    Args:
        path: of the bag.
        messages: of `SERIES_TYPES`; others are passed over.

    Raises:
        BadData: a joint is on several topics of a kind.
    """
    reported: dict[str, _Samples] = {field: defaultdict(list) for field in _REPORTED}
    read: dict[str, _Samples] = {field: defaultdict(list) for field in ("position", "velocity")}
    told: _Samples = defaultdict(list)
    for message in messages:
        _sort(message, reported, read, told)
    _require_one_topic(path, messages, reported)
    samples = (*reported.values(), *read.values(), told)
    origin = min(
        (moment for joints in samples for of_joint in joints.values() for moment, _ in of_joint), default=0
    )
    states = {field: _series(of_joints, origin) for field, of_joints in reported.items()}
    # A joint's velocities are of the messages that its positions are of.
    seen = _series(read["position"], origin)
    rates = {
        name: series
        for name, series in _series(read["velocity"], origin).items()
        if name not in states["position"]
    }
    return JointSeries(
        origin=origin,
        position={**seen, **states["position"]},
        velocity={**rates, **states["velocity"]},
        goal_position={**_series(told, origin), **states["goal_position"]},
        reported=states,
    )


def _sort(
    message: TypedMessage, reported: Mapping[str, _Samples], read: Mapping[str, _Samples], told: _Samples
) -> None:
    """Add what a message says to the samples of its kind."""
    if message.type not in SERIES_TYPES or message.topic.endswith(_VIEWS):
        return
    value = message.value
    moment = int(value.header.stamp.sec) * 10**9 + int(value.header.stamp.nanosec)
    if not moment:  # a command that its sender did not stamp
        moment = message.log_time
    if message.type == STATES_TYPE:
        for field, of_joint in reported.items():
            _note(of_joint, moment, value.name, getattr(value, field))
    elif message.type == _JOINT_STATE and not message.topic.endswith(_COMMANDS):
        for field, of_joint in read.items():
            _note(of_joint, moment, value.name, getattr(value, field))
    elif message.type == _TRAJECTORY:
        for point in value.points[:1]:
            _note(told, moment, value.joint_names, point.positions)
    else:
        _note(told, moment, value.name, value.position)


def _require_one_topic(
    path: Path, messages: Sequence[TypedMessage], reported: Mapping[str, _Samples]
) -> None:
    """Refuse two robots in one bag: joints of the same name on topics of different namespaces.

    Of topics that are not needed, because servos report the same, there may be several.
    """
    topics: dict[tuple[str, str], set[str]] = defaultdict(set)
    for message in messages:
        if message.type not in SERIES_TYPES or message.topic.endswith(_VIEWS):
            continue
        names = message.value.joint_names if message.type == _TRAJECTORY else message.value.name
        is_command = message.topic.endswith(_COMMANDS) or message.type == _TRAJECTORY
        kind = "commands" if is_command else message.type
        known = reported["goal_position" if is_command else "position"]
        for name in names:
            if message.type == STATES_TYPE or name not in known:
                topics[kind, name].add(message.topic)
    for (_, name), of_joint in topics.items():
        if len(of_joint) > 1:
            raise BadData(
                f"{path}, joint '{name}'",
                f"is on {len(of_joint)} topics: {', '.join(sorted(of_joint))}",
                expected="one robot per bag",
                advice="keep one of them (rosbags-convert --exclude-topic), or record them apart",
            )


def _note(samples: _Samples, moment: int, names: Sequence[str], values: Any) -> None:
    for name, value in zip(names, values, strict=False):  # JointState may leave values out
        if np.isfinite(value):
            samples[name].append((moment, float(value)))


def _series(samples: _Samples, origin: int) -> dict[str, Series]:
    result = {}
    for name, of_joint in samples.items():
        moments, first = np.unique([moment for moment, _ in of_joint], return_index=True)
        time = (moments - origin) * 1e-9
        result[name] = Series(time, np.array([of_joint[index][1] for index in first]))
    return result
