# SPDX-License-Identifier: Apache-2.0
"""Checking `servo_commands`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bam_bench.msg import ServoCommands

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName, WrongShape
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range

_OFF = JointCommand(torque_enable=False, position=math.nan)


def parse_commands(
    message: ServoCommands,
    names: Sequence[str],
    limits: Sequence[Range],
    kinds: Sequence[CommandKind] = (),
) -> dict[int, JointCommand]:
    """Return what a message commands: index of each joint that it names -> its command.

    Where torque goes off the goal does not matter. Set-points beyond what a servo takes are cut off later.

    Args:
        message: as it arrived.
        names: of the joints on the bus.
        limits: lowest and highest goal of each, rad.
        kinds: what each is commanded by; empty: position.

    Raises:
        Missing: no joint is named.
        Conflict: a joint is named twice, or has a goal of another kind than it is commanded by.
        UnknownName: a joint is on no bus of this node.
        WrongShape: arrays differ in length.
        OutOfRange: a goal is infinite, or a position out of limits.
    """
    count = len(message.name)
    goals = {kind: getattr(message, f"goal_{kind.value}") for kind in CommandKind}
    lengths = (count, len(message.torque_enabled), *map(len, goals.values()))
    if lengths[1] != count or any(length not in (0, count) for length in lengths[2:]):
        raise WrongShape(
            "lengths of name, torque_enabled, goal_position, goal_velocity, goal_current, goal_duty",
            lengths,
            "equal ones; goals may be empty",
            advice="give one entry per name",
        )
    if not count:
        raise Missing("name", "at least one joint", advice="name the joints that it is for")
    if len(set(message.name)) != count:
        raise Conflict("name", f"a joint is there twice ({', '.join(message.name)})", advice="name each once")
    commands: dict[int, JointCommand] = {}
    for entry, (name, enable) in enumerate(zip(message.name, message.torque_enabled, strict=True)):
        if name not in names:
            raise UnknownName("joint", name, names)
        index = names.index(name)
        if not enable:
            commands[index] = _OFF
            continue
        kind = kinds[index] if kinds else CommandKind.POSITION
        given = {array: float(values[entry]) for array, values in goals.items() if len(values)}
        _require_kind(name, kind, given)
        goal = given.get(kind, math.nan)
        if kind is CommandKind.POSITION:
            require_within(name, goal, limits[index])
            commands[index] = JointCommand(torque_enable=True, position=goal)
        else:
            require_finite(name, kind, goal)
            commands[index] = JointCommand(torque_enable=True, setpoint=goal)
    return commands


def _require_kind(name: str, kind: CommandKind, given: Mapping[CommandKind, float]) -> None:
    """Refuse a number in another array than that of the joint's kind; raises Conflict."""
    for array, value in given.items():
        if array is not kind and not math.isnan(value):
            raise Conflict(
                f"goal_{array.value} of joint {name!r}",
                f"is given, but the joint is commanded by {kind.value}",
                expected=f"NaN there, and its goal in goal_{kind.value}",
                advice="correct the message, or the parameter command_interfaces",
            )


def require_within(name: str, goal: float, limits: Range) -> None:
    """Refuse a position outside its limits, rad; NaN is none. Raises OutOfRange."""
    low, high = limits
    if not (math.isnan(goal) or low <= goal <= high):
        raise OutOfRange(
            f"goal of joint {name!r}",
            goal,
            f"{low:.5g} to {high:.5g} rad, its limits",
            printed=f"{goal:.5g} rad",
            advice="give radians within these",
        )


def require_finite(name: str, kind: CommandKind, goal: float) -> None:
    """Refuse an infinite set-point, in the unit of its kind; raises OutOfRange."""
    if math.isinf(goal):
        raise OutOfRange(f"goal_{kind.value} of joint {name!r}", goal, "a finite number, or NaN for 0")


def torque_off(message: ServoCommands, names: Sequence[str]) -> dict[int, JointCommand]:
    """Return the joints whose torque a message turns off, whatever else is wrong with it; never raises.

    A joint that is named twice goes off where one entry is off. Where `name` and `torque_enabled` differ in
    length nobody knows which joint is meant: there is none.
    """
    if len(message.name) != len(message.torque_enabled):
        return {}
    entries = zip(message.name, message.torque_enabled, strict=True)
    return {names.index(name): _OFF for name, enable in entries if not enable and name in names}
