# SPDX-License-Identifier: Apache-2.0
"""Kinds of goals that a joint may take: a position, a velocity, a current or a duty."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from rclpy.node import Node

from bam_core.errors import UnknownName
from bam_ros.node.parameters import NodeParameter, one_each


class CommandKind(Enum):
    """What a client commands a joint by; values of the parameter `command_interfaces`."""

    POSITION = "position"
    VELOCITY = "velocity"
    CURRENT = "current"
    DUTY = "duty"

    @property
    def unit(self) -> str:
        """SI unit of its goals; "1" of duties."""
        return _UNITS[self]


_UNITS = {
    CommandKind.POSITION: "rad",
    CommandKind.VELOCITY: "rad/s",
    CommandKind.CURRENT: "A",
    CommandKind.DUTY: "1",
}

COMMAND_PARAMETERS = (
    NodeParameter(
        name="command_interfaces",
        default=[CommandKind.POSITION.value],
        description=(
            "what each joint is commanded by: position, velocity (rad/s), current (A) or duty (PWM mode,"
            " -1..1); one entry: all joints; trajectories are for joints with position"
        ),
    ),
    NodeParameter(
        name="velocity_error",
        default=2.0,
        description=(
            "largest difference between the goal and the velocity of a joint that is commanded by velocity,"
            " rad/s; more for 0.5 s: torque off on all joints; 0: not checked"
        ),
        low=0.0,
        high=1000.0,
        read_only=False,
    ),
)
"""Of nodes whose joints may be commanded by other goals than positions."""


def kinds_of(node: Node, joints: Sequence[str]) -> tuple[CommandKind, ...]:
    """Return what each joint is commanded by, from the parameters of a node.

    Args:
        node: that has `COMMAND_PARAMETERS`.
        joints: names.

    Raises:
        WrongShape: there are neither as many entries as joints nor one.
        UnknownName: there is no such kind.
    """
    name = COMMAND_PARAMETERS[0].name
    values = one_each(name, node.get_parameter(name).value, joints)
    valid = [kind.value for kind in CommandKind]
    for value in values:
        if value not in valid:
            raise UnknownName(name, value, valid)
    return tuple(CommandKind(value) for value in values)
