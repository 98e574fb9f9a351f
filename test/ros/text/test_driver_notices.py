# SPDX-License-Identifier: Apache-2.0
"""What drivers answer and warn of, in words."""

from __future__ import annotations

import pytest

from bam_core.errors import Missing
from bam_ros.text.driver_notices import (
    BusBack,
    CommandIgnored,
    GainsAnswer,
    LostReads,
    NothingRead,
    NoTrajectoryAction,
    Rebooted,
    RegisterAnswer,
    ReleaseNotConfirmed,
    TakenBySource,
)


def test_gains_are_answered_with_those_of_the_servo_and_why_they_differ() -> None:
    held, wanted = (8.0, 0.0, 1.5), (7.9, 0.0, 1.5)
    assert str(GainsAnswer(joint="elbow", held=held, wanted=held)) == "elbow: kp 8, ki 0, kd 1.5"
    assert str(GainsAnswer(joint="elbow", held=held, wanted=wanted)) == (
        "elbow: kp 8, ki 0, kd 1.5 (wanted 7.9, 0, 1.5; the servo did not take them)"
    )
    assert str(GainsAnswer(joint="elbow", held=held, wanted=wanted, holder="/recorder", hold_time=5.0)) == (
        "elbow: kp 8, ki 0, kd 1.5 (wanted 7.9, 0, 1.5; /recorder holds them; wait for its end, 5 s after it"
        " renewed ~/hold_gains last)"
    )


def test_a_register_is_answered_with_its_count_and_its_value() -> None:
    held = RegisterAnswer(joint="hip", register="moving_threshold", count=10, value=0.24, unit="rad/s")
    assert str(held) == "hip: moving_threshold is 10 (0.24 rad/s)"
    other = RegisterAnswer(joint="hip", register="led", count=0, value=0.0, wanted=1)
    assert str(other) == "hip: led is 0 (wanted 1); the servo did not take it"
    assert not other.is_as_wanted


def test_a_reboot_names_the_joints_without_torque() -> None:
    assert str(Rebooted(joints=("hip", "knee"))) == "rebooted, torque off: hip, knee"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("not_active", "the node is not active"),
        ("bus_lost", "the bus is lost"),
        ("not_yet", "nothing was read yet"),
    ],
)
def test_joints_without_a_state_have_a_reason(kind: str, reason: str) -> None:
    assert str(NothingRead(kind=kind)) == f"unknown, {reason}"


def test_lost_reads_have_their_share_and_a_cure() -> None:
    assert str(LostReads(share=0.25, most=0.01)) == (
        "25.0% of the last second's reads lost (expected at most 1%); check cable, termination and latency"
        " timer"
    )


def test_an_ignored_command_says_why_and_what_of_it_counts() -> None:
    assert str(CommandIgnored(topic="joint_command")) == (
        "joint_command: ignored, the node is not active; activate it first"
    )
    reason = Missing("name", "at least one joint")
    assert str(CommandIgnored(topic="servo_commands", reason=reason, is_torque_off_accepted=True)) == (
        "servo_commands: ignored but for torque off, name: is missing (expected at least one joint); add it"
    )


def test_a_bus_that_is_back_says_what_is_on_it() -> None:
    assert str(BusBack(summary="port /dev/ttyUSB0: id 1")) == "bus is back: port /dev/ttyUSB0: id 1"


def test_a_release_that_is_not_confirmed_is_dangerous() -> None:
    assert str(ReleaseNotConfirmed(joints=("hip", "knee"))) == (
        "hip, knee: torque off is not confirmed, though it was commanded; cut the power, then check cable and"
        " supply"
    )


def test_joints_that_another_input_commands_are_named() -> None:
    assert str(TakenBySource(joints=("hip", "knee"))) == (
        "hip, knee: commanded by servo_commands (expected no such command for command_timeout); stop them"
    )


def test_a_missing_action_names_the_package_to_install() -> None:
    assert str(NoTrajectoryAction()) == (
        "follow_joint_trajectory: off, the package control_msgs is not installed; install it (Debian:"
        " ros-$ROS_DISTRO-control-msgs), source ROS 2, start again"
    )
