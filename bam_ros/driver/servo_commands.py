# SPDX-License-Identifier: Apache-2.0
"""Checking `servo_commands`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_bench.msg import ServoCommands

from bam_core.errors import BamError, UnknownName
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range


def parse_commands(
    message: ServoCommands, names: Sequence[str], limits: Sequence[Range]
) -> dict[int, JointCommand]:
    """Return what a message commands: index of each joint that it names -> its command.

    Args:
        message: as it arrived.
        names: of the joints on the bus.
        limits: lowest and highest goal of each, rad.

    Raises:
        BamError: no joint is named, a joint is unknown or named twice, arrays differ in length, or a goal is
            infinite or out of limits.
    """
    count = len(message.name)
    if len(message.torque_enable) != count or len(message.position) != count:
        raise BamError(
            f"arrays differ in length (name {count}, torque_enable {len(message.torque_enable)},"
            f" position {len(message.position)}); give one entry per name"
        )
    if not count:
        raise BamError("no joint is named (expected at least one); name the joints that it is for")
    if len(set(message.name)) != count:
        raise BamError(f"a joint is named twice ({', '.join(message.name)}); name each once")
    commands: dict[int, JointCommand] = {}
    for name, enable, goal in zip(message.name, message.torque_enable, message.position, strict=True):
        if name not in names:
            raise UnknownName("joint", name, names)
        index = names.index(name)
        low, high = limits[index]
        if math.isinf(goal) or not (math.isnan(goal) or low <= goal <= high):
            raise BamError(
                f"joint {name!r}: goal {goal:.5g} rad (expected {low:.5g} to {high:.5g} rad, its"
                f" limits); give radians within these"
            )
        commands[index] = JointCommand(torque_enable=bool(enable), position=float(goal))
    return commands
