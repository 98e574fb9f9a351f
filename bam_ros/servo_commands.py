# SPDX-License-Identifier: Apache-2.0
"""Checking `servo_commands` and merging them into the command in force."""

from __future__ import annotations

import math
import time

from bam_bench.msg import ServoCommands

from bam_core.errors import BamError, unknown_name
from bam_ros.goal_shaper import ServoCommand
from bam_ros.servo_bus import ServoBus


def merge_command(command: ServoCommand, message: ServoCommands, bus: ServoBus) -> ServoCommand:
    """Return the command in force after a message: servos it does not name keep theirs.

    Raises:
        BamError: a joint is unknown or named twice, arrays differ in length, or a goal is out of limits.
    """
    count = len(message.name)
    if len(message.torque_enable) != count or len(message.position) != count:
        raise BamError(
            f"arrays differ in length (name {count}, torque_enable {len(message.torque_enable)},"
            f" position {len(message.position)}); give one entry per name"
        )
    if len(set(message.name)) != count:
        raise BamError(f"a joint is named twice ({', '.join(message.name)}); name each once")
    torque, position = list(command.torque_enable), list(command.position)
    for name, enable, goal in zip(message.name, message.torque_enable, message.position, strict=True):
        if name not in bus.names:
            raise unknown_name("joint", name, bus.names)
        index = bus.names.index(name)
        low, high = bus.position_limits[index]
        if not math.isnan(goal) and not low <= goal <= high:
            raise BamError(
                f"joint {name!r}: goal {goal:g} rad (expected {low:.4g} to {high:.4g}); stay within these"
            )
        torque[index] = enable
        if not math.isnan(goal):
            position[index] = goal
    return ServoCommand(torque_enable=tuple(torque), position=tuple(position), received=time.monotonic())
