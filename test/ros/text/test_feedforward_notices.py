# SPDX-License-Identifier: Apache-2.0
"""What the feed-forward node does not follow, in words."""

from __future__ import annotations

from bam_ros.text.driver_notices import CommandIgnored
from bam_ros.text.feedforward_notices import (
    PositionNotTaken,
    TorqueOffForAll,
    TorqueOnForAll,
    TrajectoryRefused,
)


def test_commands_that_it_does_not_follow_say_where_they_belong() -> None:
    assert str(CommandIgnored(topic="servo_commands", reason=PositionNotTaken())) == (
        "servo_commands: ignored, positions come as ~/joint_trajectory (expected NaN here); send them there"
    )
    assert str(TorqueOnForAll(joints=("hip", "knee"))) == (
        "torque is on for all joints or for none (expected hip, knee alike); name them all"
    )
    assert str(TorqueOffForAll()) == (
        "servo_commands: torque goes off for all joints, also for those that were not named: it is on for all"
        " or for none"
    )


def test_a_refused_trajectory_has_its_reason() -> None:
    assert str(TrajectoryRefused(reason="trajectory points: none")) == "refused: trajectory points: none"
