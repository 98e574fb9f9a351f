# SPDX-License-Identifier: Apache-2.0
"""Every driver has the same limits: half a turn to either side unless the user says otherwise."""

from __future__ import annotations

import math

import pytest
from bam_bench.msg import ServoCommands

from bam_core.errors import Conflict, Missing, OutOfRange, WrongShape
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import HALF_TURN, joint_limits, parse_limits
from bam_ros.driver.servo_commands import parse_commands
from bam_ros.dynamixel.node import DynamixelNode
from bam_ros.erob.node import ErobNode
from bam_ros.feedforward.node import FeedForwardNode
from bam_ros.simulator.node import SimulatorNode
from test.ros.ros_helpers import FakeBus

JOINTS = ("hip", "knee")
HALF = (HALF_TURN, HALF_TURN)


@pytest.mark.parametrize("node", [DynamixelNode, ErobNode, FeedForwardNode, SimulatorNode])
def test_every_driver_has_limits_of_angle_speed_and_following_error(node: type) -> None:
    given = {parameter.name: parameter.default for parameter in node.ABOUT.parameters}  # type: ignore[attr-defined]
    assert given["limits"] == [-math.pi, math.pi]
    assert given["speed_limit"] == 20.0
    assert 0.0 < given["following_error"] <= 2.0


def test_limits_are_one_pair_for_all_or_one_for_each() -> None:
    assert parse_limits([-1.0, 2.0], JOINTS) == ((-1.0, 2.0), (-1.0, 2.0))
    assert parse_limits([-1.0, 2.0, 0.0, 0.5], JOINTS) == ((-1.0, 2.0), (0.0, 0.5))


@pytest.mark.parametrize("values", [[], [1.0], [-1.0, 1.0, 0.0], [0.0] * 6])
def test_limits_for_another_number_of_joints_are_refused(values: list[float]) -> None:
    with pytest.raises(WrongShape) as caught:
        parse_limits(values, JOINTS)
    assert (caught.value.thing, caught.value.value) == ("limits", len(values))


@pytest.mark.parametrize("values", [[1.0, -1.0], [0.0, math.nan]])
def test_empty_ranges_are_refused(values: list[float]) -> None:
    with pytest.raises(OutOfRange) as caught:
        parse_limits(values, JOINTS)
    assert caught.value.thing == "limits"


def test_goals_lie_within_what_the_servo_takes_and_within_what_the_user_says() -> None:
    bus = FakeBus(JOINTS)
    assert joint_limits(bus, ((-9.0, 1.0), (-0.5, 9.0))) == ((-math.pi, 1.0), (-0.5, math.pi))
    with pytest.raises(Conflict) as caught:
        joint_limits(bus, ((-1.0, 1.0), (4.0, 5.0)))
    assert caught.value.thing == "limits"
    assert "'knee'" in caught.value.problem


@pytest.mark.parametrize("goal", [30.0, -3.2, math.inf, -math.inf])
def test_a_goal_outside_is_refused(goal: float) -> None:
    message = ServoCommands(name=["hip", "knee"], torque_enabled=[True, True], goal_position=[0.0, goal])
    with pytest.raises(OutOfRange) as caught:
        parse_commands(message, JOINTS, HALF)
    assert (caught.value.thing, caught.value.value) == ("goal of joint 'knee'", goal)
    assert "-3.1416 to 3.1416 rad" in caught.value.expected


def test_a_message_that_names_no_joint_one_twice_or_has_arrays_of_other_lengths_is_refused() -> None:
    with pytest.raises(Missing):
        parse_commands(ServoCommands(), JOINTS, HALF)
    twice = ServoCommands(name=["knee", "knee"], torque_enabled=[True, True], goal_position=[0.0, 0.0])
    with pytest.raises(Conflict):
        parse_commands(twice, JOINTS, HALF)
    with pytest.raises(WrongShape) as caught:
        parse_commands(ServoCommands(name=["knee"], torque_enabled=[True, True]), JOINTS, HALF)
    assert caught.value.value == (1, 2, 0, 0, 0, 0)


def test_a_message_commands_the_joints_that_it_names() -> None:
    message = ServoCommands(name=["knee"], torque_enabled=[True], goal_position=[0.5])
    assert parse_commands(message, JOINTS, HALF) == {1: JointCommand(torque_enable=True, position=0.5)}
