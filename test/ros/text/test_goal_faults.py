# SPDX-License-Identifier: Apache-2.0
"""Why the master of a segment does not follow a goal, in words."""

from __future__ import annotations

from bam_ros.text.goal_faults import DriveReleased, GoalJumped, GoalOutsideLimits, OtherMode


def test_a_goal_stands_beside_the_limits_of_its_joint() -> None:
    assert str(GoalOutsideLimits(joint="elbow", goal=30.0, low=-3.14159, high=3.14159)) == (
        "elbow: goal 30 rad (expected -3.142 to 3.142, parameter limits); correct the goal (rad, not degrees)"
        " or the parameter"
    )


def test_a_goal_that_jumps_stands_beside_the_speed_limit() -> None:
    assert str(GoalJumped(joint="elbow", goal=1.0, step=0.5, speed=2.0)) == (
        "elbow: goal jumped by 0.5 rad to 1 rad (expected at most 2 rad/s, parameter speed_limit); send goals"
        " that move slower"
    )


def test_torque_that_went_off_and_torque_that_never_came_differ() -> None:
    assert str(DriveReleased(joint="elbow", state="switched on")) == (
        "elbow: torque went off, drive is in 'switched on' (expected 'operation enabled'); check its supply"
        " and safety circuit"
    )
    assert str(DriveReleased(joint="elbow", state="switched on", within=0.5)) == (
        "elbow: torque does not go on, drive stays in 'switched on' (expected 'operation enabled' within"
        " 0.5 s); check its supply and safety circuit"
    )


def test_another_mode_stands_beside_the_one_of_the_driver() -> None:
    assert str(OtherMode(joint="elbow", mode=8, expected=10)) == (
        "elbow: drive stays in mode 8 (expected 10, cyclic torque); see what its firmware supports"
    )
