# SPDX-License-Identifier: Apache-2.0
"""Checking `servo_commands`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_bench.msg import ServoCommands

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName, WrongShape
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
        Missing: no joint is named.
        Conflict: a joint is named twice.
        UnknownName: a joint is on no bus of this node.
        WrongShape: arrays differ in length.
        OutOfRange: a goal is infinite or out of limits.
    """
    count = len(message.name)
    if len(message.torque_enable) != count or len(message.position) != count:
        lengths = (count, len(message.torque_enable), len(message.position))
        raise WrongShape(
            "lengths of name, torque_enable, position",
            lengths,
            "equal ones",
            advice="give one entry per name",
        )
    if not count:
        raise Missing("name", "at least one joint", advice="name the joints that it is for")
    if len(set(message.name)) != count:
        raise Conflict("name", f"a joint is there twice ({', '.join(message.name)})", advice="name each once")
    commands: dict[int, JointCommand] = {}
    for name, enable, goal in zip(message.name, message.torque_enable, message.position, strict=True):
        if name not in names:
            raise UnknownName("joint", name, names)
        index = names.index(name)
        low, high = limits[index]
        if math.isinf(goal) or not (math.isnan(goal) or low <= goal <= high):
            raise OutOfRange(
                f"goal of joint {name!r}",
                goal,
                f"{low:.5g} to {high:.5g} rad, its limits",
                told=f"{goal:.5g} rad",
                advice="give radians within these",
            )
        commands[index] = JointCommand(torque_enable=bool(enable), position=float(goal))
    return commands
