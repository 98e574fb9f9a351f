# SPDX-License-Identifier: Apache-2.0
"""Topics that a map names are goals and states, whatever their name and type."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from bam_core.errors import BamError, Missing, UnknownName, Unsupported, WrongShape
from bam_core.recordings.joint_series import joint_series
from bam_core.recordings.mapped_topics import ARRAY, mapped_messages
from bam_core.recordings.message_decoder import TypedMessage
from bam_core.recordings.recording_map import RecordingMap
from test.core.refusals import refused

BAG = Path("bag")
JOINT_STATE, TRAJECTORY = "sensor_msgs/msg/JointState", "trajectory_msgs/msg/JointTrajectory"
STATES = "bam_bench/msg/ServoStates"


def state(topic: str, moment: int, names: list[str], position: list[float]) -> TypedMessage:
    header = SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=moment))
    value = SimpleNamespace(header=header, name=names, position=np.array(position), velocity=[])
    return TypedMessage(topic, JOINT_STATE, moment, value)


def array(topic: str, moment: int, values: list[float]) -> TypedMessage:
    return TypedMessage(topic, ARRAY, moment, SimpleNamespace(data=np.array(values)))


def servo_states(topic: str, moment: int, goal: float) -> TypedMessage:
    fields = ("velocity", "torque_enabled", "voltage", "temperature", "duty")
    value = SimpleNamespace(
        header=SimpleNamespace(stamp=SimpleNamespace(sec=0, nanosec=moment)),
        name=["a"],
        position=np.array([0.5]),
        goal_position=np.array([goal]),
        **dict.fromkeys(fields, np.array([1.0])),
    )
    return TypedMessage(topic, STATES, moment, value)


def test_goals_come_from_a_topic_of_any_name() -> None:
    messages = [
        state("/arm/joint_states", 10, ["a"], [0.1]),
        state("/my/wishes", 20, ["a"], [0.2]),
        state("/other/commands", 30, ["a"], [0.3]),
    ]
    series = joint_series(BAG, mapped_messages(BAG, messages, RecordingMap(topics={"goal": "/my/wishes"})))
    assert series.goal_position["a"].value.tolist() == [0.2]
    assert series.position["a"].value.tolist() == [0.1]


def test_states_come_from_a_topic_of_any_name() -> None:
    messages = [
        state("/joint_states", 10, ["a"], [0.1]),
        state("/encoders/commands", 20, ["a"], [0.2]),
        state("/goals/commands", 30, ["a"], [0.3]),
    ]
    only = RecordingMap(topics={"read": "/encoders/commands"})
    series = joint_series(BAG, mapped_messages(BAG, messages, only))
    assert series.position["a"].value.tolist() == [0.2]
    assert series.goal_position["a"].value.tolist() == [0.3]


def test_an_array_has_the_order_and_the_time_of_its_reception() -> None:
    messages = [state("/joint_states", 10, ["a", "b"], [0.1, 0.2]), array("/fwd/commands", 70, [1.0, 2.0])]
    with_order = RecordingMap(topics={"goal": "/fwd/commands"}, order=("b", "a"))
    series = joint_series(BAG, mapped_messages(BAG, messages, with_order))
    assert {name: goal.value.tolist() for name, goal in series.goal_position.items()} == {
        "b": [1.0],
        "a": [2.0],
    }
    assert series.goal_position["a"].time == pytest.approx([60e-9])


def test_a_state_without_names_has_the_order() -> None:
    with_order = RecordingMap(topics={"read": "/joint_states"}, order=("a", "b"))
    messages = [state("/joint_states", 10, [], [0.1, 0.2])]
    series = joint_series(BAG, mapped_messages(BAG, messages, with_order))
    assert series.position["b"].value.tolist() == [0.2]


def test_goals_that_servos_report_make_way_for_a_topic() -> None:
    messages = [servo_states("/servo_states", 10, 0.7), state("/mine", 20, ["a"], [0.2])]
    plain = joint_series(BAG, mapped_messages(BAG, messages, RecordingMap()))
    assert plain.goal_position["a"].value.tolist() == [0.7]
    mapped = joint_series(BAG, mapped_messages(BAG, messages, RecordingMap(topics={"goal": "/mine"})))
    assert mapped.goal_position["a"].value.tolist() == [0.2]
    assert mapped.position["a"].value.tolist() == [0.5]


@pytest.mark.parametrize(
    ("topics", "order", "kind"),
    [
        ({"goal": "/nowhere"}, (), UnknownName),
        ({"read": "/array"}, (), Missing),
        ({"goal": "/array"}, ("a", "b"), WrongShape),
        ({"goal": "/servo_states"}, (), Unsupported),
    ],
)
def test_a_topic_that_has_no_goals_is_refused(
    topics: dict[str, str], order: tuple[str, ...], kind: type[BamError]
) -> None:
    messages = [servo_states("/servo_states", 10, 0.7), array("/array", 20, [1.0])]
    with refused(kind):
        mapped_messages(BAG, messages, RecordingMap(topics=topics, order=order))


def test_commands_are_no_states() -> None:
    value = SimpleNamespace(joint_names=["a"], points=[])
    with refused(Unsupported):
        mapped_messages(
            BAG, [TypedMessage("/jt", TRAJECTORY, 1, value)], RecordingMap(topics={"read": "/jt"})
        )
