# SPDX-License-Identifier: Apache-2.0
"""`joint_command`: entries that can be obeyed are, others are ignored with one warning each."""

from __future__ import annotations

import math

import pytest

from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_command import JointCommandTopic
from test.ros.stepped_bus import SteppedBus, SteppedLoop

TIMEOUT = 0.5  # s
LIMITS = ((-1.0, 1.0), (-2.0, 2.0))


class Rig:
    """A loop of two joints with `joint_command` and `servo_commands`."""

    def __init__(self) -> None:
        self.stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=TIMEOUT)
        self.bus, self.loop = self.stepped.bus, self.stepped.loop
        self.inputs = CommandInputs(self.loop, self.bus.now, 2, TIMEOUT)
        self.warnings: list[str] = []
        self.topic = JointCommandTopic(self.bus.names, self.inputs, self.warnings.append)

    def send(self, **positions: float) -> None:
        self.topic.take(list(positions), list(positions.values()), LIMITS)

    def run(self, seconds: float, **positions: float) -> None:
        """Step, while a client keeps sending."""
        end = self.bus.time + seconds
        while self.bus.time < end - 1e-9:
            if positions:
                self.send(**positions)
            self.loop.step()

    def servo_command(self, joint: int, *, on: bool) -> None:
        command = JointCommand(torque_enable=on, position=0.0 if on else math.nan)
        self.inputs.take(CommandInput.SERVO_COMMANDS, {joint: command})


def test_a_position_switches_torque_on_and_is_approached() -> None:
    rig = Rig()
    rig.run(1.0, hip=0.5, knee=-0.5)
    assert rig.bus.torque == [True, True]
    assert rig.bus.position == [0.5, -0.5]
    assert rig.warnings == []


def test_a_joint_that_is_named_no_more_lets_go_alone() -> None:
    rig = Rig()
    rig.run(0.1, hip=0.1, knee=0.1)
    rig.run(TIMEOUT + 0.1, knee=0.1)
    assert rig.bus.torque == [False, True]


@pytest.mark.parametrize(
    ("value", "words"),
    [(math.inf, "inf"), (1.5, "-1 to 1 rad"), (57.0, "-1 to 1 rad")],
)
def test_a_goal_that_cannot_be_followed_is_ignored_and_does_not_keep_torque_on(
    value: float, words: str
) -> None:
    rig = Rig()
    rig.run(0.1, hip=0.1, knee=0.1)
    rig.run(2.0 * TIMEOUT, hip=value, knee=0.2)
    assert rig.bus.torque == [False, True]
    assert rig.bus.position[1] == 0.2
    (warning,) = rig.warnings
    assert "'hip'" in warning
    assert words in warning


def test_nan_asks_for_nothing_without_a_word() -> None:
    rig = Rig()
    rig.run(0.1, hip=0.1, knee=math.nan)
    assert rig.bus.torque == [True, False]
    rig.run(2.0 * TIMEOUT, hip=math.nan, knee=math.nan)
    assert rig.bus.torque == [False, False]
    assert rig.warnings == []


def test_joints_of_other_drivers_are_ignored_with_one_warning_each() -> None:
    rig = Rig()
    rig.run(0.2, hip=0.1, elbow=0.3, wrist=0.4)
    assert rig.bus.torque == [True, False]
    assert [("'elbow'" in line, "'wrist'" in line) for line in rig.warnings] == [(True, False), (False, True)]


def test_ever_new_names_do_not_fill_the_log() -> None:
    rig = Rig()
    for number in range(1000):
        rig.send(**{f"joint{number}": 0.0})
    assert len(rig.warnings) == 100


def test_a_joint_that_is_named_twice_is_ignored() -> None:
    rig = Rig()
    rig.topic.take(["hip", "hip", "knee"], [0.1, 0.2, 0.3], LIMITS)
    rig.loop.step()
    rig.loop.step()
    assert rig.bus.torque == [False, True]
    assert len(rig.warnings) == 1


@pytest.mark.parametrize("positions", [[], [0.1], [0.1, 0.2, 0.3]])
def test_a_message_whose_lengths_differ_is_ignored(positions: list[float]) -> None:
    rig = Rig()
    for _ in range(3):
        rig.topic.take(["hip", "knee"], positions, LIMITS)
        rig.loop.step()
    assert rig.bus.torque == [False, False]
    assert len(rig.warnings) == 1


def test_torque_that_servo_commands_switched_off_stays_off_until_the_stream_has_paused() -> None:
    rig = Rig()
    rig.run(0.1, hip=0.1, knee=0.1)
    rig.servo_command(0, on=False)
    rig.run(5.0 * TIMEOUT, hip=0.1, knee=0.1)
    assert rig.bus.torque == [False, True]
    assert len(rig.warnings) == 1
    assert "pause for command_timeout" in rig.warnings[0]
    rig.run(TIMEOUT + 0.1, knee=0.1)
    rig.run(0.1, hip=0.1, knee=0.1)
    assert rig.bus.torque == [True, True]
    rig.servo_command(0, on=False)  # worth another warning
    rig.run(0.1, hip=0.1, knee=0.1)
    assert len(rig.warnings) == 2


def test_a_joint_that_servo_commands_hold_does_not_follow_joint_command() -> None:
    rig = Rig()
    for _ in range(100):
        rig.servo_command(0, on=True)
        rig.send(hip=0.5, knee=0.5)
        rig.loop.step()
    assert rig.bus.position[0] == 0.0
    assert rig.bus.position[1] > 0.1
    rig.run(
        2.0 * TIMEOUT, hip=0.5
    )  # the client of servo_commands died: nobody takes its joint over in flight
    assert rig.bus.torque == [False, False]


def test_a_latched_fault_ends_with_one_servo_command_though_joint_command_goes_on() -> None:
    rig = Rig()
    rig.run(0.1, hip=0.1)
    rig.bus.errors[1] = 4
    rig.run(0.1, hip=0.1)
    assert rig.loop.latched
    rig.bus.errors[1] = 0
    rig.run(0.3, hip=0.1)
    assert rig.loop.latched
    rig.servo_command(0, on=False)
    rig.run(0.1, hip=0.1)
    assert not rig.loop.latched
    assert rig.bus.torque == [False, False]
