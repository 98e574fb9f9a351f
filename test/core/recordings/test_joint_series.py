# SPDX-License-Identifier: Apache-2.0
"""Positions and goals out of the messages of other people's nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.recordings.goal_topics import no_goals
from bam_core.recordings.joint_series import JointSeries, joint_series
from bam_core.recordings.message_decoder import TypedMessage
from test.core.refusals import refused

PATH = Path("bag")
JOINT_STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
ARRAY = "std_msgs/msg/Float64MultiArray"
START = 1_700_000_000.0


def message(topic: str, kind: str, time: float, stamped: bool = True, **fields: Any) -> TypedMessage:
    nanoseconds = round((START + time) * 1e9)
    stamp = SimpleNamespace(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
    if not stamped:
        stamp = SimpleNamespace(sec=0, nanosec=0)
    value = SimpleNamespace(header=SimpleNamespace(stamp=stamp), **fields)
    return TypedMessage(topic, kind, nanoseconds, value)


def state(time: float, joints: Mapping[str, float], topic: str = "/joint_states") -> TypedMessage:
    return message(topic, JOINT_STATE, time, name=list(joints), position=list(joints.values()), velocity=[])


def states(positions: Mapping[str, Any], duration: float = 6.0) -> list[TypedMessage]:
    """Joint states at 100 Hz; positions are functions of time."""
    times = np.arange(0.0, duration, 0.01)
    return [state(time, {name: float(at(time)) for name, at in positions.items()}) for time in times]


def point(time: float, *rows: Sequence[float]) -> Any:
    positions, velocities, accelerations = (*rows, (), (), ())[:3]
    nanoseconds = round(time * 1e9)
    return SimpleNamespace(
        positions=list(positions),
        velocities=list(velocities),
        accelerations=list(accelerations),
        time_from_start=SimpleNamespace(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9),
    )


def sent(time: float, joints: Sequence[str], *points: Any, stamped: bool = False) -> TypedMessage:
    topic = "/arm_controller/joint_trajectory"
    return message(topic, TRAJECTORY, time, stamped, joint_names=list(joints), points=list(points))


def goal(series: JointSeries, joint: str, time: float) -> float:
    """The goal at a time after the first state."""
    first = min(each.time[0] for each in series.position.values())
    return float(series.goal_position[joint].held(np.array([first + time + 1e-6]))[0])


def still(time: float) -> float:
    return 0.2


@pytest.mark.parametrize("shift", [0.0, 0.0017])
def test_a_clock_that_goes_back_is_a_reset_and_its_message_is_named(shift: float) -> None:
    second = [state(0.01 * k + shift, {"a": 0.5}) for k in range(50)]
    with refused(BadData) as caught:
        joint_series(PATH, [*states({"a": still}), *second])
    assert caught.value.thing.endswith("/joint_states")
    assert f"{5.99 - shift:.3g}" in caught.value.problem
    assert "600" in caught.value.problem


def test_a_clock_of_goals_that_goes_back_is_named_too() -> None:
    goals = [message("/joint_command", JOINT_STATE, t, name=["a"], position=[t]) for t in (1.0, 2.0, 0.5)]
    with refused(BadData) as caught:
        joint_series(PATH, [*states({"a": still}), *goals])
    assert caught.value.thing.endswith("/joint_command")


def test_messages_that_overtake_each_other_are_put_in_order() -> None:
    messages = states({"a": lambda time: time})
    messages[100], messages[101] = messages[101], messages[100]
    series = joint_series(PATH, messages)
    assert series.position["a"].value == pytest.approx(np.arange(0.0, 6.0, 0.01))


def test_two_publishers_of_one_joint_whose_clocks_differ_are_refused() -> None:
    messages = []
    for k in range(200):
        messages += [state(0.01 * k, {"a": 0.0}), state(0.01 * k - 0.004, {"a": 1.0})]
    with refused(BadData) as caught:
        joint_series(PATH, messages)
    assert "two publishers" in caught.value.problem


def test_publishers_of_other_joints_may_have_other_clocks_and_topics() -> None:
    messages = []
    for k in range(200):
        messages.append(state(0.01 * k, {"a": 0.0}))
        messages.append(state(0.01 * k - 0.004, {"b": 1.0}))
        messages.append(state(0.01 * k - 0.2, {"gripper": 2.0}, "/gripper/joint_states"))
    series = joint_series(PATH, messages)
    assert {name: set(each.value) for name, each in series.position.items()} == {
        "a": {0.0},
        "b": {1.0},
        "gripper": {2.0},
    }


@pytest.mark.parametrize("stamped", [True, False])
def test_goals_between_points_are_on_straight_lines_from_where_the_joint_is(stamped: bool) -> None:
    command = sent(1.0, ["b", "a"], point(1.0, (9.0, 0.6)), point(3.0, (9.0, -0.4)), stamped=stamped)
    series = joint_series(PATH, [*states({"a": still}), command])
    assert goal(series, "a", 1.0) == pytest.approx(0.2, abs=1e-3)
    assert goal(series, "a", 1.5) == pytest.approx(0.4, abs=2e-3)
    assert goal(series, "a", 2.0) == pytest.approx(0.6, abs=2e-3)
    assert goal(series, "a", 3.0) == pytest.approx(0.1, abs=2e-3)
    assert goal(series, "a", 5.0) == pytest.approx(-0.4)
    assert series.joints == ("a",)


def test_goals_between_points_with_velocities_are_splines() -> None:
    slow = [point(1.0, (0.0,), (0.0,)), point(3.0, (1.0,), (0.0,))]
    series = joint_series(PATH, [*states({"a": still}), sent(0.0, ["a"], *slow)])
    assert goal(series, "a", 2.0) == pytest.approx(0.5, abs=2e-3)
    assert goal(series, "a", 1.5) == pytest.approx(0.15625, abs=2e-3)  # 3 s² - 2 s³
    quintic = [point(1.0, (0.0,), (0.0,), (0.0,)), point(3.0, (1.0,), (0.0,), (0.0,))]
    series = joint_series(PATH, [*states({"a": still}), sent(0.0, ["a"], *quintic)])
    assert goal(series, "a", 1.5) == pytest.approx(0.103516, abs=2e-3)  # 10 s³ - 15 s⁴ + 6 s⁵


def test_a_trajectory_ends_where_the_next_one_begins() -> None:
    first = sent(0.0, ["a"], point(4.0, (4.2,)))
    second = sent(2.0, ["a"], point(1.0, (0.0,)))
    series = joint_series(PATH, [*states({"a": still}), first, second])
    assert goal(series, "a", 1.99) == pytest.approx(2.19, abs=5e-3)
    assert goal(series, "a", 2.5) == pytest.approx(0.1, abs=5e-3)
    assert goal(series, "a", 4.0) == 0.0


def test_streams_of_single_points_are_held() -> None:
    stream = [sent(0.1 * k, ["a"], point(0.0, (0.1 * k,))) for k in range(50)]
    series = joint_series(PATH, [*states({"a": still}), *stream])
    assert series.goal_position["a"].value == pytest.approx(0.1 * np.arange(50))


@pytest.mark.parametrize(
    "points",
    [
        [point(1.0)],
        [point(1.0, (float("nan"),))],
        [point(1.0, (0.0, 1.0))],
        [point(1.0, (0.0,)), point(1.0, (1.0,))],
        [],
    ],
)
def test_a_trajectory_that_is_none_gives_no_goals(points: list[Any]) -> None:
    series = joint_series(PATH, [*states({"a": still}), sent(1.0, ["a"], *points)])
    assert series.joints == ()


def controller(time: float, goal: float, position: float, fields: Sequence[str]) -> TypedMessage:
    empty = point(0.0)
    values = {"output": empty} | {fields[0]: point(0.0, (goal,)), fields[1]: point(0.0, (position,))}
    return message("/jtc/controller_state", CONTROLLER, time, joint_names=["a"], **values)


@pytest.mark.parametrize("fields", [("reference", "feedback"), ("desired", "actual"), ("output", "feedback")])
def test_a_controllers_state_has_goals_and_positions_of_the_same_moment(fields: Sequence[str]) -> None:
    messages = [controller(0.02 * k, 0.01 * k, 0.009 * k, fields) for k in range(100)]
    series = joint_series(PATH, [*states({"a": still}), *messages])
    assert series.goal_position["a"].value == pytest.approx(0.01 * np.arange(100))
    assert series.position["a"].value == pytest.approx(0.009 * np.arange(100))
    assert np.array_equal(series.goal_position["a"].time, series.position["a"].time)


def test_what_a_controller_sends_counts_more_than_what_it_was_sent() -> None:
    messages = [controller(0.02 * k, 0.5, 0.4, ("reference", "feedback")) for k in range(100)]
    series = joint_series(PATH, [*states({"a": still}), sent(0.0, ["a"], point(1.0, (9.0,))), *messages])
    assert set(series.goal_position["a"].value) == {0.5}


def array(time: float, *values: float, topic: str = "/forward_position_controller/commands") -> TypedMessage:
    return message(topic, ARRAY, time, data=list(values))


def lagging(amplitude: float, rate: float, lag: float = 0.0) -> Any:
    return lambda time: amplitude * np.sin(rate * (time - lag))


JOINTS = {"a": lagging(0.5, 1.0, 0.05), "b": lagging(0.8, 1.7, 0.05), "c": still}


def test_the_motion_proves_which_column_of_an_array_is_of_which_joint() -> None:
    goals = [array(t, lagging(0.8, 1.7)(t), lagging(0.5, 1.0)(t)) for t in np.arange(0.5, 6.0, 0.02)]
    series = joint_series(PATH, [*states(JOINTS), *goals])
    assert set(series.joints) == {"a", "b"}
    assert np.ptp(series.goal_position["b"].value) == pytest.approx(1.6, abs=0.01)


def test_one_number_per_topic_is_an_array_too() -> None:
    goals = [
        message("/a/cmd_pos", "std_msgs/msg/Float64", t, data=lagging(0.5, 1.0)(t))
        for t in np.arange(0.5, 6, 0.02)
    ]
    assert joint_series(PATH, [*states(JOINTS), *goals]).joints == ("a",)


@pytest.mark.parametrize(
    "joints",
    [
        {"a": lagging(0.5, 1.0), "b": lagging(0.5, 1.0)},
        {"a": lagging(0.5, 1.0), "b": lagging(0.5, 1.1)},
        {"a": lagging(0.5, 1.0)},
        {"a": still},
    ],
    ids=["same motion", "nearly the same", "too few joints", "nobody follows"],
)
def test_an_array_whose_order_nothing_proves_is_named_with_its_cure(joints: Mapping[str, Any]) -> None:
    columns = 1 if joints == {"a": still} else 2
    goals = [array(t, *[lagging(0.5, 1.0)(t)] * columns) for t in np.arange(0.5, 6.0, 0.02)]
    series = joint_series(PATH, [*states(joints), *goals])
    assert series.joints == ()
    lacking = no_goals(series)
    assert "/forward_position_controller/commands (std_msgs/msg/Float64MultiArray)" in lacking.problem
    assert "topics: {goal: /forward_position_controller/commands}" in lacking.advice


def test_arrays_of_velocities_are_no_goals() -> None:
    rates = [array(t, 0.5 * np.cos(t), 1.36 * np.cos(1.7 * t)) for t in np.arange(0.5, 6.0, 0.02)]
    assert joint_series(PATH, [*states(JOINTS), *rates]).joints == ()


def test_topics_that_may_hold_goals_are_listed() -> None:
    topics = {
        "/joint_states": JOINT_STATE,
        "/tf": "tf2_msgs/msg/TFMessage",
        "/rosout": "rcl_interfaces/msg/Log",
        "/arm/targets": "my_robot/msg/Targets",
    }
    lacking = no_goals(joint_series(PATH, states({"a": still}), topics))
    assert "/arm/targets (my_robot/msg/Targets)" in lacking.problem
    assert "/tf" not in lacking.problem


@pytest.mark.parametrize(("fields", "later"), [({"read_after": [0.0, 0.002]}, 0.002), ({}, 0.0)])
def test_a_joint_was_read_when_the_driver_reports_and_commanded_before(
    fields: dict[str, Any], later: float
) -> None:
    kinds = ("position", "velocity", "goal_position", "torque_enabled", "voltage", "temperature", "duty")
    values = {name: [0.1, 0.2] for name in kinds}
    topic, kind = "/servo_states", "bam_bench/msg/ServoStates"
    messages = [message(topic, kind, time, name=["a", "b"], **values, **fields) for time in (0.0, 0.01)]
    found = joint_series(PATH, messages)
    assert found.position["a"].time == pytest.approx([0.0, 0.01], abs=1e-6)
    assert found.position["b"].time == pytest.approx([later, 0.01 + later], abs=1e-6)
    assert found.goal_position["b"].time == pytest.approx([0.0, 0.01], abs=1e-6)


def dynamic(time: float, joints: Mapping[str, float], kinds: Sequence[str]) -> TypedMessage:
    values = [
        SimpleNamespace(interface_names=["effort", *kinds], values=[9.0, *([position] * len(kinds))])
        for position in joints.values()
    ]
    return message(
        "/dynamic_joint_states",
        "control_msgs/msg/DynamicJointState",
        time,
        joint_names=list(joints),
        interface_values=values,
    )


@pytest.mark.parametrize("kinds", [("position", "velocity"), ("Present Position",)])
def test_states_by_interface_are_read_where_there_are_no_others(kinds: Sequence[str]) -> None:
    times = (0.0, 0.01, 0.02)
    by_interface = [dynamic(time, {"a": time, "b": -time}, kinds) for time in times]
    series = joint_series(PATH, by_interface)
    assert series.position["b"].value.tolist() == [0.0, -0.01, -0.02]
    usual = [state(time, {"b": 1.0, "a": 2.0}) for time in times]
    series = joint_series(PATH, [part for pair in zip(by_interface, usual, strict=True) for part in pair])
    assert series.position["b"].value.tolist() == [1.0, 1.0, 1.0]
    assert joint_series(PATH, [dynamic(0.0, {"a": 0.0}, ())]).position == {}


def test_stamps_that_stand_still_are_none() -> None:
    whole = states({"a": np.sin}, 0.3)
    still = [
        part._replace(value=SimpleNamespace(**{**vars(part.value), "header": whole[0].value.header}))
        for part in whole
    ]
    np.testing.assert_allclose(np.diff(joint_series(PATH, still).position["a"].time), 0.01, atol=1e-6)


def test_joints_that_are_commanded_under_other_names_are_named_in_the_advice() -> None:
    commands = message("/command", JOINT_STATE, 0.0, name=["arm/a"], position=[0.1], velocity=[])
    assert "joints: {arm/a: a}" in no_goals(joint_series(PATH, [state(0.0, {"a": 0.0}), commands])).advice
