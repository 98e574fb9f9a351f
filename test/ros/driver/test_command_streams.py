# SPDX-License-Identifier: Apache-2.0
"""The newest command of every joint, and which clients have stopped."""

from __future__ import annotations

import math

from bam_ros.driver.command_streams import CommandStreams
from bam_ros.driver.goal_shaper import JointCommand

ON = JointCommand(torque_enable=True, position=0.3)
OFF = JointCommand()


def test_commands_stay_the_same_object_until_one_comes_or_a_stream_ends() -> None:
    streams = CommandStreams(2, timeout=0.5)
    streams.take({0: ON}, 10.0)
    first = streams.advance(10.0)
    assert first == (ON, OFF)
    assert streams.advance(10.5) is first
    assert streams.advance(10.6) == (OFF, OFF)
    streams.take({1: ON}, 10.7)
    assert streams.advance(10.7) == (OFF, ON)


def test_a_stream_that_stops_while_torque_is_on_has_ended_until_it_is_back() -> None:
    streams = CommandStreams(2, timeout=0.5)
    streams.take({0: ON, 1: OFF}, 10.0)
    streams.advance(11.0)
    assert streams.ended == {0}
    streams.advance(20.0)
    assert streams.ended == {0}
    streams.take({0: OFF}, 20.0)
    assert streams.ended == frozenset()


def test_nothing_of_before_is_left_once_commands_are_forgotten() -> None:
    streams = CommandStreams(2, timeout=0.5)
    streams.take({0: ON, 1: ON}, 10.0)
    streams.take({1: ON}, 11.0)
    streams.advance(11.0)
    assert streams.ended == {0}
    streams.forget()
    assert streams.ended == frozenset()
    assert streams.advance(11.1) == (OFF, OFF)
    streams.advance(20.0)
    assert streams.ended == frozenset()
    streams.take({0: JointCommand(torque_enable=True)}, 20.0)
    assert math.isnan(streams.advance(20.0)[0].position)  # not the goal of before


def test_only_a_release_that_comes_later_counts() -> None:
    streams = CommandStreams(2, timeout=0.5)
    streams.take({0: OFF}, 10.0)
    streams.await_release()
    assert not streams.release_came()
    streams.take({1: ON}, 10.1)
    assert not streams.release_came()
    streams.advance(11.0)  # a stream that only ends is no command
    assert not streams.release_came()
    streams.take({1: OFF}, 11.1)
    assert streams.release_came()
    streams.await_release()
    assert not streams.release_came()


def test_the_first_command_of_all_may_be_a_release() -> None:
    streams = CommandStreams(1, timeout=0.5)
    assert not streams.release_came()
    streams.take({0: OFF}, 10.0)
    assert streams.release_came()


def test_each_joint_keeps_its_own_goal() -> None:
    streams = CommandStreams(2, timeout=0.5)
    other = JointCommand(torque_enable=True, position=-0.2)
    streams.take({0: ON, 1: other}, 10.0)
    hold = JointCommand(torque_enable=True)
    streams.take({0: hold, 1: hold}, 10.1)
    assert streams.advance(10.1) == (ON, other)


def test_torque_without_a_position_keeps_the_goal_in_force() -> None:
    streams = CommandStreams(1, timeout=0.5)
    streams.take({0: ON}, 10.0)
    streams.take({0: JointCommand(torque_enable=True)}, 10.1)
    assert streams.advance(10.1) == (ON,)
    streams.take({0: OFF}, 10.2)
    streams.take({0: JointCommand(torque_enable=True)}, 10.3)
    assert math.isnan(streams.advance(10.3)[0].position)


def test_streams_end_one_by_one_each_at_its_own_time() -> None:
    streams = CommandStreams(3, timeout=0.5)
    streams.take({2: ON}, 10.0)
    streams.take({1: ON}, 10.3)
    assert streams.advance(10.4) == (OFF, ON, ON)
    assert streams.advance(10.6) == (OFF, ON, OFF)
    assert streams.ended == {2}
    assert streams.advance(10.9) == (OFF, OFF, OFF)
    assert streams.ended == {1, 2}


def test_a_position_replaces_the_goal_in_force() -> None:
    streams = CommandStreams(1, timeout=0.5)
    streams.take({0: ON}, 10.0)
    other = JointCommand(torque_enable=True, position=-0.2)
    streams.take({0: other}, 10.1)
    assert streams.advance(10.1) == (other,)


def test_a_position_without_torque_leaves_no_goal() -> None:
    streams = CommandStreams(1, timeout=0.5)
    streams.take({0: JointCommand(position=0.3)}, 10.0)
    streams.take({0: JointCommand(torque_enable=True)}, 10.1)
    assert math.isnan(streams.advance(10.1)[0].position)
