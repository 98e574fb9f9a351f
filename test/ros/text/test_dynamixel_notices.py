# SPDX-License-Identifier: Apache-2.0
"""What the drivers of serial servos report, in words."""

from __future__ import annotations

from bam_ros.text.dynamixel_notices import DutyLimited, SearchBegun, TorqueOnAtStart, TorqueOnByGoal


def test_a_search_says_what_is_tried_and_how_long_it_takes() -> None:
    begun = SearchBegun(
        port="/dev/ttyUSB0", baud_rates=(57600, 115200), ids=(1, 3), protocols=(2, 1), longest=4.0
    )
    assert str(begun) == (
        "port /dev/ttyUSB0: searching servos, baud rates 57600, 115200 x ids 1, 3 x protocol 1.0 and 2.0,"
        " then other ids; takes up to 4 s"
    )


def test_a_limited_duty_stands_beside_that_of_the_firmware() -> None:
    limited = DutyLimited(joint="hip", registers=("pwm_limit", "goal_pwm"), duty=0.5, own=0.9625)
    assert str(limited) == (
        "hip: its registers pwm_limit and goal_pwm limit its duty to 0.5 (expected 0.9625, as its firmware"
        " does); raise them if that is not intended, recordings contain the limit"
    )


def test_torque_that_goes_on_by_itself_names_the_register() -> None:
    assert str(TorqueOnAtStart(joint="hip")) == (
        "hip: its torque goes on by itself when it gets power (expected off); clear bit 0 of its register"
        " startup_configuration"
    )


def test_torque_that_goes_on_with_a_goal_names_the_register() -> None:
    assert str(TorqueOnByGoal(joint="hip")) == (
        "hip: its torque goes on with any goal that is written (expected torque_enable alone); clear bit 3 of"
        " its register drive_mode"
    )
