# SPDX-License-Identifier: Apache-2.0
"""Samples become messages, whatever kind of numbers they are made of."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message

from bam_ros.driver.servo_bus import ServoSample
from bam_ros.driver.state_messages import StateMessages


def test_numbers_of_numpy_become_messages_that_travel() -> None:
    numbers = {field.name: tuple(np.array([0.25, -1.5])) for field in fields(ServoSample)}
    numbers["stamp"] = 1_500_000_007
    numbers["torque_enabled"] = tuple(np.array([True, False]))
    numbers["hardware_error"] = tuple(np.array([0, 4]))
    joints, states = StateMessages(("hip", "knee"), "base").fill(ServoSample(**numbers), 7)
    assert [type(on) for on in states.torque_enabled] == [bool, bool]
    back = deserialize_message(serialize_message(states), type(states))
    assert list(back.torque_enabled) == [True, False]
    assert list(back.hardware_error) == [0, 4]
    assert list(back.position) == [0.25, -1.5]
    assert list(back.read_after) == [0.25, -1.5]
    assert (back.header.stamp.sec, back.header.stamp.nanosec, back.sequence) == (1, 500_000_007, 7)
    assert list(deserialize_message(serialize_message(joints), type(joints)).effort) == [0.25, -1.5]
