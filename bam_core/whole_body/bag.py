# SPDX-License-Identifier: Apache-2.0
"""Joint states and contacts of a robot out of a bag; topics are found by type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, WrongShape
from bam_core.recordings.bag_files import data_files, read_messages
from bam_core.recordings.message_decoder import TypedMessage
from bam_core.whole_body.joint_log import JointLog

STATES_TYPE = "sensor_msgs/msg/JointState"
CONTACTS_TYPE = "bam_bench/msg/ContactStates"
_OVERTAKING = 100_000_000  # ns


def read_joint_log(path: Path) -> JointLog:
    """Read a bag directory, or a file of a bag.

    Time is that of the stamps, from the first joint state on. A contact state holds until the next one.

    Raises:
        BamError: no bag, damaged, no joint states or several topics of them, joints that change on the way,
            time that goes back, positions or efforts that are missing, or no contact state before the first
            joint state.
    """
    files = data_files(path)
    if not files:
        raise Malformed(
            path,
            "is no bag",
            expected="an .mcap or .db3 file, or a directory with some",
            advice="correct the path",
        )
    messages = [
        message for file in files for message in read_messages(file, {STATES_TYPE, CONTACTS_TYPE}).messages
    ]
    states = _one_topic(path, [message for message in messages if message.type == STATES_TYPE])
    names = tuple(states[0].name)
    for state in states:
        if tuple(state.name) != names:
            raise BadData(
                "joints",
                f"change from {', '.join(names)} to {', '.join(state.name)}",
                expected="the same in every joint state",
                advice="record one robot per topic",
            ).within(path)
    stamps = np.array([_nanoseconds(state) for state in states], dtype=np.int64)
    _require_onward(path, stamps)
    order = np.argsort(stamps, kind="stable")
    stamps, states = stamps[order], [states[index] for index in order]
    return JointLog(
        names=names,
        time=(stamps - stamps[0]) * 1e-9,
        position=_column(path, states, "position", len(names)),
        effort=_column(path, states, "effort", len(names)),
        contacts=_contacts(
            path, [message.value for message in messages if message.type == CONTACTS_TYPE], stamps
        ),
    )


def _one_topic(path: Path, messages: Sequence[TypedMessage]) -> list[Any]:
    topics = sorted({message.topic for message in messages})
    if len(topics) != 1:
        what = f"topics {', '.join(topics)} of" if topics else "no"
        raise Malformed(
            path, f"{what} {STATES_TYPE} in it", expected="one topic", advice="record the robot's own"
        )
    return [message.value for message in messages]


def _require_onward(path: Path, stamps: NDArray[np.int64]) -> None:
    """Samples may overtake each other on the network, but not by much."""
    behind = np.maximum.accumulate(stamps) - stamps
    if behind.max() > _OVERTAKING:
        at = int(np.argmax(behind > _OVERTAKING))
        raise BadData(
            "stamps of joint states",
            f"go back by {behind[at] * 1e-9:.3f} s at message {at}",
            expected="one clock that runs on",
            advice="record without restarting what publishes them, a bag per run",
        ).within(path)


def _column(path: Path, states: Sequence[Any], field: str, count: int) -> Array:
    short = next((state for state in states if len(getattr(state, field)) != count), None)
    if short is not None:
        samples = len(getattr(short, field))
        raise WrongShape(
            field,
            samples,
            f"{count}, one for each joint",
            printed=f"{samples} values",
            advice="publish positions and torques",
        ).within(path)
    return np.array([getattr(state, field) for state in states], dtype=np.float64)


def _contacts(path: Path, states: Sequence[Any], stamps: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    if not states:
        return {}
    since = np.array([_nanoseconds(state) for state in states], dtype=np.int64)
    order = np.argsort(since, kind="stable")
    held = np.searchsorted(since[order], stamps, side="right") - 1
    if held[0] < 0:
        raise BadData(
            "contacts",
            f"the first joint state comes before any {CONTACTS_TYPE}",
            expected="one before it",
            advice="record both from the start",
        ).within(path)
    names = tuple(states[0].name)
    if any(tuple(state.name) != names or len(state.standing) != len(names) for state in states):
        raise BadData(
            "contacts", "change their names", expected=", ".join(names), advice="correct the publisher"
        ).within(path)
    standing = np.array([state.standing for state in states], dtype=bool)[order][held]
    return {name: standing[:, column] for column, name in enumerate(names)}


def _nanoseconds(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)
