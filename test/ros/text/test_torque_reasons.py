# SPDX-License-Identifier: Apache-2.0
"""Why torque is off, in words."""

from __future__ import annotations

from bam_ros.text.torque_reasons import (
    AskedInFault,
    CommandsEnded,
    InterruptedWhileAsked,
    JointNotFollowing,
    OutsideLimits,
)


def test_a_joint_that_does_not_follow_has_its_distance_and_a_cure() -> None:
    reason = JointNotFollowing(joint="hip", distance=0.5, limit=0.2, duration=1.0, cure_after="then reboot")
    assert str(reason) == (
        "hip: 0.5 rad from its goal for 1 s (expected at most 0.2, parameter following_error); free the"
        " joint, lower its load or raise its gain, then reboot"
    )


def test_commands_that_ended_name_their_timeout() -> None:
    assert str(CommandsEnded(timeout=0.5)) == (
        "no servo_commands for 0.5 s, nor other commands, while its torque was on (parameter"
        " command_timeout), its torque is off; send them again to go on"
    )


def test_a_joint_outside_its_limits_says_how_to_go_on() -> None:
    assert str(OutsideLimits(position=4.0, low=-1.0, high=1.0)) == (
        "at 4.000 rad, its torque stays off (expected -1.000 to 1.000 rad, its limits); turn it back by hand,"
        " or correct its zero or the parameter limits; then command torque off and on"
    )


def test_torque_that_is_asked_for_meanwhile_stays_off() -> None:
    assert str(AskedInFault()) == "torque is asked for and stays off, see the status of the bus"
    assert str(InterruptedWhileAsked(what="rebooted")) == (
        "rebooted while torque was asked for; stop these commands or command torque off, then begin again"
    )
