# SPDX-License-Identifier: Apache-2.0
"""Samples as messages, filled in place so that a fast loop allocates little."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from bam_bench.msg import ServoStates
from sensor_msgs.msg import JointState

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import ServoSample


class StateMessages:
    """The two messages that carry a sample; the same two objects are filled every time.

    Args:
        names: of the joints.
        frame_id: for the headers.
        kinds: what each joint is commanded by; empty: position.
    """

    def __init__(self, names: Sequence[str], frame_id: str, kinds: Sequence[CommandKind] = ()) -> None:
        others = [kind for kind in CommandKind if kind is not CommandKind.POSITION]
        self._fields = [(f"goal_{kind.value}", kind) for kind in others if kind in kinds]
        self._kinds = tuple(kinds)
        self._joint_state = JointState(name=list(names))
        self._servo_states = ServoStates(name=list(names))
        for kind in others:
            setattr(self._servo_states, f"goal_{kind.value}", array("d", [math.nan] * len(names)))
        self._joint_state.header.frame_id = frame_id
        self._servo_states.header.frame_id = frame_id

    def fill(self, sample: ServoSample, sequence: int) -> tuple[JointState, ServoStates]:
        """Return the messages of a sample; they are valid until the next call."""
        joints, states = self._joint_state, self._servo_states
        seconds, nanoseconds = divmod(sample.stamp, 1_000_000_000)
        for stamp in (joints.header.stamp, states.header.stamp):
            stamp.sec, stamp.nanosec = seconds, nanoseconds
        joints.position = states.position = array("d", sample.position)
        joints.velocity = states.velocity = array("d", sample.velocity)
        joints.effort = states.effort = array("d", sample.effort)
        states.sequence = sequence
        states.current = array("d", sample.current)
        states.duty = array("d", sample.duty)
        states.voltage = array("d", sample.voltage)
        states.temperature = array("d", sample.temperature)
        states.goal_position = array("d", sample.goal_position)
        for field, kind in self._fields:
            goals = zip(self._kinds, sample.setpoint or (math.nan,) * len(self._kinds), strict=True)
            setattr(states, field, array("d", [goal if of is kind else math.nan for of, goal in goals]))
        states.torque_enabled = [bool(on) for on in sample.torque_enabled]  # numpy's own are refused
        states.hardware_error = array("I", sample.hardware_error)
        states.read_after = array("d", sample.read_after)
        return joints, states
