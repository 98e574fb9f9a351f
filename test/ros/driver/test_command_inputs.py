# SPDX-License-Identifier: Apache-2.0
"""Which input commands a joint: the one with the highest priority, others after a pause."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.goal_shaper import JointCommand

ON, OFF = JointCommand(torque_enable=True, position=0.1), JointCommand()
TIMEOUT = 0.5  # s
STREAMS = {CommandInput.SHARED_MEMORY, CommandInput.JOINT_COMMAND}
LOWER = {
    CommandInput.SET_TORQUE: {CommandInput.SERVO_COMMANDS, *STREAMS},
    CommandInput.SERVO_COMMANDS: {CommandInput.TRAJECTORY, CommandInput.HOLD, *STREAMS},
    CommandInput.TRAJECTORY: STREAMS,
    CommandInput.SHARED_MEMORY: {CommandInput.JOINT_COMMAND, CommandInput.HOLD},
    CommandInput.JOINT_COMMAND: {CommandInput.HOLD},
    CommandInput.HOLD: set(),
}


class Inputs:
    """Inputs of two joints; keeps what passed."""

    def __init__(self) -> None:
        self.time = 10.0
        self.passed: list[dict[int, JointCommand]] = []
        self.inputs = CommandInputs(self, lambda: self.time, 2, TIMEOUT)

    def take(self, commands: Mapping[int, JointCommand]) -> None:
        self.passed.append(dict(commands))

    def send(self, source: CommandInput, joint: int = 0, command: JointCommand = ON) -> bool:
        """Return whether it passed."""
        before = len(self.passed)
        refused = self.inputs.take(source, {joint: command})
        assert refused == (frozenset() if len(self.passed) > before else {joint})
        return not refused

    def stream(self, source: CommandInput, seconds: float) -> list[bool]:
        sent = []
        for _ in range(round(seconds / 0.1)):
            self.time += 0.1
            sent.append(self.send(source))
        return sent


@pytest.mark.parametrize("first", CommandInput)
@pytest.mark.parametrize("second", CommandInput)
def test_an_input_closes_its_joint_to_those_below_it(first: CommandInput, second: CommandInput) -> None:
    inputs = Inputs()
    assert inputs.send(first)
    assert inputs.send(second) is (second not in LOWER[first])
    assert inputs.send(second, joint=1)


@pytest.mark.parametrize("command", [ON, OFF])
def test_a_client_that_kept_commanding_must_pause(command: JointCommand) -> None:
    inputs = Inputs()
    assert all(inputs.stream(CommandInput.JOINT_COMMAND, 1.0))
    assert inputs.send(CommandInput.SERVO_COMMANDS, command=command)
    assert not any(inputs.stream(CommandInput.JOINT_COMMAND, 5.0))
    inputs.time += TIMEOUT + 0.01
    assert inputs.send(CommandInput.JOINT_COMMAND)


def test_a_pause_that_is_too_short_changes_nothing() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.SERVO_COMMANDS, command=OFF)
    for _ in range(5):
        inputs.time += TIMEOUT - 0.01
        assert not inputs.send(CommandInput.JOINT_COMMAND)


def test_joints_of_one_message_are_decided_one_by_one() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.SERVO_COMMANDS, joint=1)
    assert inputs.inputs.take(CommandInput.JOINT_COMMAND, {0: ON, 1: ON}) == {1}
    assert inputs.passed[-1] == {0: ON}
    assert inputs.inputs.closed(CommandInput.JOINT_COMMAND, (0, 1)) == {1}


def test_what_a_trajectory_leaves_is_held_whoever_commanded_before_it() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.JOINT_COMMAND)
    assert not inputs.send(CommandInput.HOLD)
    assert inputs.send(CommandInput.TRAJECTORY)
    assert inputs.send(CommandInput.HOLD)


def test_a_stream_that_begins_after_a_trajectory_has_let_go_is_obeyed_at_once() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.TRAJECTORY)
    inputs.inputs.let_go(CommandInput.TRAJECTORY, (0,))
    assert all(inputs.stream(CommandInput.JOINT_COMMAND, 0.3))


def test_a_stream_that_went_on_during_a_trajectory_must_pause() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.TRAJECTORY)
    assert not inputs.send(CommandInput.JOINT_COMMAND)
    inputs.inputs.let_go(CommandInput.TRAJECTORY, (0,))
    assert not any(inputs.stream(CommandInput.JOINT_COMMAND, 2.0))
    inputs.time += TIMEOUT + 0.01
    assert inputs.send(CommandInput.JOINT_COMMAND)


def test_a_trajectory_that_lets_go_opens_nothing_that_another_input_closes() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.TRAJECTORY)
    inputs.send(CommandInput.SERVO_COMMANDS, command=OFF)
    inputs.inputs.let_go(CommandInput.TRAJECTORY, (0,))
    assert not inputs.send(CommandInput.JOINT_COMMAND)


def test_asking_what_is_closed_closes_nothing() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.SERVO_COMMANDS)
    inputs.time += 0.4
    assert inputs.inputs.closed(CommandInput.TRAJECTORY, (0,)) == {0}
    inputs.time += 0.2
    assert inputs.inputs.closed(CommandInput.TRAJECTORY, (0,)) == frozenset()


def test_torque_that_a_service_switched_off_stays_off_until_commands_pause_or_command_it_off() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.SERVO_COMMANDS)
    inputs.send(CommandInput.SET_TORQUE, command=OFF)
    assert not any(inputs.stream(CommandInput.SERVO_COMMANDS, 3.0 * TIMEOUT))
    assert inputs.send(CommandInput.SERVO_COMMANDS, command=OFF)
    assert inputs.send(CommandInput.SERVO_COMMANDS)


def test_a_trajectory_may_begin_right_after_a_service_switched_torque_off() -> None:
    inputs = Inputs()
    inputs.send(CommandInput.SET_TORQUE, command=OFF)
    assert inputs.send(CommandInput.TRAJECTORY)
