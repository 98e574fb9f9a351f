# SPDX-License-Identifier: Apache-2.0
"""Messages as `joint_series` reads them: states of ros2_control by interface, and stamps that stand still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np

from bam_core.recordings.message_decoder import TypedMessage

DYNAMIC = "control_msgs/msg/DynamicJointState"
JOINT_STATE = "sensor_msgs/msg/JointState"
_POSITIONS, _VELOCITIES = ("position", "Present Position"), ("velocity", "Present Velocity")
"""Interfaces of ros2_control, and as the hardware interface of Dynamixel calls them."""
_COMMANDS = ("command", "commands")
_FEWEST = 20  # messages; fewer with one stamp may be sent at one moment
_UNSTAMPED = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=0))


def usual_messages(messages: Sequence[TypedMessage]) -> list[TypedMessage]:
    """Return messages in which states are `JointState`, and stamps that never change are none.

    A `DynamicJointState` counts where no `JointState` has its joints: ros2_control publishes both.
    """
    known = {
        name
        for message in messages
        if message.type == JOINT_STATE and not message.topic.endswith(_COMMANDS)
        for name in message.value.name
    }
    frozen = _frozen_topics(messages)
    result = []
    for message in messages:
        if message.type == DYNAMIC:
            if known.intersection(message.value.joint_names):
                continue
            message = _as_joint_state(message)
        if message.topic in frozen:
            message = message._replace(value=SimpleNamespace(**{**vars(message.value), "header": _UNSTAMPED}))
        result.append(message)
    return result


def _frozen_topics(messages: Sequence[TypedMessage]) -> set[str]:
    stamps: dict[str, list[int]] = defaultdict(list)
    for message in messages:
        if (header := getattr(message.value, "header", None)) is not None:
            stamps[message.topic].append(int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec))
    return {
        topic for topic, of_topic in stamps.items() if len(of_topic) >= _FEWEST and len(set(of_topic)) == 1
    }


def _as_joint_state(message: TypedMessage) -> TypedMessage:
    names = list(message.value.joint_names)
    interfaces = [
        dict(zip(values.interface_names, values.values, strict=False))
        for values in message.value.interface_values
    ]

    def of_all(kinds: Sequence[str]) -> list[float]:
        return [
            float(next((values[kind] for kind in kinds if kind in values), np.nan)) for values in interfaces
        ]

    value = SimpleNamespace(
        header=message.value.header, name=names, position=of_all(_POSITIONS), velocity=of_all(_VELOCITIES)
    )
    return message._replace(type=JOINT_STATE, value=value)
