# SPDX-License-Identifier: Apache-2.0
"""Positions and goals of joints in bags of any nodes, our own or others.

Positions are those of ``ServoStates``, else a controller's feedback, else those of ``JointState`` or
``DynamicJointState`` (see `foreign_states`). Goals are
what servos report in ``ServoStates``, else what a controller reports that it sent
(``JointTrajectoryControllerState``), else what was sent: ``ServoCommands``, ``JointTrajectory`` (see
`trajectory_goals`), ``JointState`` on a topic that ends with ``command`` or ``commands``, or arrays without
names (see `array_goals`). Topics are found by type, so a namespace does not matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData
from bam_core.recordings.array_goals import Samples, named_columns
from bam_core.recordings.foreign_states import DYNAMIC, usual_messages
from bam_core.recordings.message_decoder import TypedMessage
from bam_core.recordings.stamp_order import require_onward
from bam_core.recordings.trajectory_goals import Trajectory, trajectory, trajectory_goals

STATES_TYPE = "bam_bench/msg/ServoStates"
COMMANDS_TYPE = "bam_bench/msg/ServoCommands"
_JOINT_STATE = "sensor_msgs/msg/JointState"
_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
_CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
_ARRAY, _NUMBER = "std_msgs/msg/Float64MultiArray", "std_msgs/msg/Float64"
SERIES_TYPES = frozenset(
    {STATES_TYPE, COMMANDS_TYPE, _JOINT_STATE, DYNAMIC, _TRAJECTORY, _CONTROLLER, _ARRAY, _NUMBER}
)
"""Message types with values of joints."""

_REPORTED = ("position", "velocity", "goal_position", "torque_enabled", "voltage", "temperature", "duty")
_COMMANDED = ("goal_position", "torque_enabled")
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
    """What a bag has of joints.

    Attributes:
        origin: of all times, ns on the clock of the messages' stamps.
        position: joint -> rad.
        velocity: joint -> rad/s, of the same messages.
        goal_position: joint -> rad.
        reported: field of ``ServoStates`` -> joint -> values.
        topics: topic -> type, of all that the bag has.
    """

    origin: int
    position: Mapping[str, Series]
    velocity: Mapping[str, Series]
    goal_position: Mapping[str, Series]
    reported: Mapping[str, Mapping[str, Series]]
    topics: Mapping[str, str] = field(default_factory=dict)

    @property
    def joints(self) -> tuple[str, ...]:
        """Those with positions and goals."""
        return tuple(name for name in self.position if name in self.goal_position)


def joint_series(
    path: Path, messages: Sequence[TypedMessage], topics: Mapping[str, str] | None = None
) -> JointSeries:
    """Return positions and goals of joints in messages.

    Args:
        path: of the bag.
        messages: of `SERIES_TYPES`, in the order of writing; others are passed over.
        topics: topic -> type, of all that the bag has.

    Raises:
        BadData: a joint is on several topics of a kind, or the stamps of a topic go back.
    """
    messages = usual_messages(
        [
            message
            for message in messages
            if message.type in SERIES_TYPES and not message.topic.endswith(_VIEWS)
        ]
    )
    contents = _Contents()
    for message in messages:
        contents.add(message)
    for (topic, _), moments in contents.moments.items():
        require_onward(path, topic, moments)
    _require_one_topic(path, messages, contents)
    contents.add_trajectories()
    origin = contents.origin
    states = {name: _series(of_joints, origin) for name, of_joints in contents.reported.items()}
    # A joint's velocities are of the messages that its positions are of.
    rates = {
        name: series
        for name, series in _series(contents.read["velocity"], origin).items()
        if name not in states["position"] and name not in contents.fed_back
    }
    position = {
        **_series(contents.read["position"], origin),
        **_series(contents.fed_back, origin),
        **states["position"],
    }
    goals = {
        **_series(contents.sent, origin),
        **_series(contents.controlled, origin),
        **states["goal_position"],
    }
    goals |= _array_goals(
        contents.arrays, origin, {name: series for name, series in position.items() if name not in goals}
    )
    return JointSeries(
        origin=origin,
        position=position,
        velocity={**rates, **states["velocity"]},
        goal_position=goals,
        reported=states,
        topics=topics or {message.topic: message.type for message in messages},
    )


class _Contents:
    """Samples of each kind, in the order of writing.

    Attributes:
        reported: by `ServoStates`, field -> joint -> samples.
        read: of `JointState`, likewise.
        fed_back: positions that controllers report.
        controlled: goals that controllers report.
        sent: goals that were sent.
        arrays: topic -> time and values of messages without names.
        moments: topic and joints -> stamps.
    """

    def __init__(self) -> None:
        self.reported: dict[str, _Samples] = {name: defaultdict(list) for name in _REPORTED}
        self.read: dict[str, _Samples] = {name: defaultdict(list) for name in ("position", "velocity")}
        self.fed_back: _Samples = defaultdict(list)
        self.controlled: _Samples = defaultdict(list)
        self.sent: _Samples = defaultdict(list)
        self.arrays: dict[str, list[tuple[int, Array]]] = defaultdict(list)
        self.moments: dict[tuple[str, tuple[str, ...]], list[int]] = defaultdict(list)
        self._trajectories: list[Trajectory] = []

    @property
    def origin(self) -> int:
        """Time of the first sample, ns."""
        kinds = (*self.reported.values(), *self.read.values(), self.fed_back, self.controlled, self.sent)
        moments = [moment for kind in kinds for samples in kind.values() for moment, _ in samples]
        moments += [moment for samples in self.arrays.values() for moment, _ in samples]
        return min(moments, default=0)

    def add(self, message: TypedMessage) -> None:
        """Add a message to the samples of its kind."""
        value = message.value
        if message.type in (_ARRAY, _NUMBER):
            row = np.atleast_1d(np.asarray(value.data, dtype=np.float64))
            self.arrays[message.topic].append((message.log_time, row))
            return
        moment = int(value.header.stamp.sec) * 10**9 + int(value.header.stamp.nanosec)
        names = tuple(value.joint_names if message.type in (_TRAJECTORY, _CONTROLLER) else value.name)
        if moment:
            self.moments[message.topic, names].append(moment)
        else:  # a command that its sender did not stamp
            moment = message.log_time
        if message.type == STATES_TYPE:
            read = [moment + round(1e9 * read_after(value, index)) for index in range(len(names))]
            for name, of_joint in self.reported.items():
                # Goals and torque were commanded, to all at once, before the first was read.
                moments = [moment] * len(names) if name in _COMMANDED else read
                for at, joint, number in zip(moments, names, getattr(value, name), strict=False):
                    _note(of_joint, at, (joint,), (number,))
        elif message.type == _JOINT_STATE and not message.topic.endswith(_COMMANDS):
            for name, of_joint in self.read.items():
                _note(of_joint, moment, names, getattr(value, name))
        elif message.type == _TRAJECTORY:
            if (sent := trajectory(moment, value)) is not None:
                self._trajectories.append(sent)
        elif message.type == _CONTROLLER:
            _note(self.fed_back, moment, names, _positions(value, "feedback", "actual"))
            _note(self.controlled, moment, names, _positions(value, "output", "reference", "desired"))
        else:
            goals = value.goal_position if message.type == COMMANDS_TYPE else value.position
            _note(self.sent, moment, names, goals)

    def add_trajectories(self) -> None:
        """Add the goals between the points of trajectories, once all positions are there."""
        kinds = (self.read["position"], self.fed_back, self.reported["position"])
        samples: _Samples = {}
        for kind in kinds:
            samples |= kind
        measured = {}
        for joint, of_joint in samples.items():
            moments, first = np.unique([moment for moment, _ in of_joint], return_index=True)
            values = np.array([of_joint[index][1] for index in first])
            measured[joint] = np.asarray(moments, dtype=np.float64), values
        ends = [int(moments[-1]) for moments, _ in measured.values() if len(moments)]
        for joint, moment, goal in trajectory_goals(self._trajectories, measured, max(ends, default=0)):
            self.sent[joint].append((moment, goal))


def _positions(state: Any, *fields: str) -> Any:
    """Return the positions of the first of these points that has some."""
    for name in fields:
        point = getattr(state, name, None)
        if point is not None and len(point.positions):
            return point.positions
    return ()


def _array_goals(
    arrays: Mapping[str, Sequence[tuple[int, Array]]], origin: int, positions: Mapping[str, Series]
) -> dict[str, Series]:
    """Return the goals in messages without names, of joints without others."""
    goals = {}
    for topic, samples in arrays.items():
        if len({len(row) for _, row in samples}) == 1:
            moments, first = np.unique([moment for moment, _ in samples], return_index=True)
            rows = np.stack([samples[index][1] for index in first])
            whole = np.all(np.isfinite(rows), axis=1)
            if whole.any():
                goals[topic] = Samples((moments[whole] - origin) * 1e-9, rows[whole])
    columns = named_columns(goals, {name: Samples(*series) for name, series in positions.items()})
    return {
        joint: Series(goals[topic].time, goals[topic].value[:, column])
        for joint, (topic, column) in columns.items()
    }


def _require_one_topic(path: Path, messages: Sequence[TypedMessage], contents: _Contents) -> None:
    """Refuse two robots in one bag: joints of the same name on topics of different namespaces.

    Of topics that are not needed, because servos or a controller report the same, there may be several.
    """
    topics: dict[tuple[str, str], set[str]] = defaultdict(set)
    for message in messages:
        if message.type in (_ARRAY, _NUMBER):
            continue
        of_points = message.type in (_TRAJECTORY, _CONTROLLER)
        names = message.value.joint_names if of_points else message.value.name
        is_command = message.topic.endswith(_COMMANDS) or message.type == _TRAJECTORY
        kind = "commands" if is_command else message.type
        reported = contents.reported["goal_position" if is_command else "position"]
        controlled = contents.controlled if is_command else contents.fed_back
        for name in names:
            is_needed = name not in reported and (name not in controlled or message.type == _CONTROLLER)
            if message.type == STATES_TYPE or is_needed:
                topics[kind, name].add(message.topic)
    for (_, name), of_joint in topics.items():
        if len(of_joint) > 1:
            raise BadData(
                f"{path}, joint '{name}'",
                f"is on {len(of_joint)} topics: {', '.join(sorted(of_joint))}",
                expected="one robot per bag",
                advice="name the right ones in a map: topics: {read: TOPIC, goal: TOPIC}",
            )


def read_after(states: Any, index: int) -> float:
    """Return when a joint of `bam_bench/msg/ServoStates` was read, s after the stamp of the message.

    Older versions do not report it; then, and where the field is empty, all were read at once.
    """
    delays = getattr(states, "read_after", ())
    return float(delays[index]) if index < len(delays) else 0.0


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
