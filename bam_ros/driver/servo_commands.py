# SPDX-License-Identifier: Apache-2.0
"""Checking `servo_commands`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_bench.msg import ServoCommands

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName, WrongShape
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range

_OFF = JointCommand(torque_enable=False, position=math.nan)


def parse_commands(
    message: ServoCommands, names: Sequence[str], limits: Sequence[Range]
) -> dict[int, JointCommand]:
    """Return what a message commands: index of each joint that it names -> its command.

    Where torque goes off the goal does not matter.

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
        if enable and not (math.isnan(goal) or low <= goal <= high):
            raise OutOfRange(
                f"goal of joint {name!r}",
                goal,
                f"{low:.5g} to {high:.5g} rad, its limits",
                printed=f"{goal:.5g} rad",
                advice="give radians within these",
            )
        commands[index] = JointCommand(torque_enable=True, position=float(goal)) if enable else _OFF
    return commands


def torque_off(message: ServoCommands, names: Sequence[str]) -> dict[int, JointCommand]:
    """Return the joints whose torque a message turns off, whatever else is wrong with it; never raises.

    A joint that is named twice goes off where one entry is off. Where `name` and `torque_enable` differ in
    length nobody knows which joint is meant: there is none.
    """
    if len(message.name) != len(message.torque_enable):
        return {}
    entries = zip(message.name, message.torque_enable, strict=True)
    return {names.index(name): _OFF for name, enable in entries if not enable and name in names}
