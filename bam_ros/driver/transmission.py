# SPDX-License-Identifier: Apache-2.0
"""From servo to joint: direction, offset and gear ratio, as ros2_control's SimpleTransmission has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rclpy.node import Node

from bam_core.errors import OutOfRange
from bam_ros.node.parameters import NodeParameter, one_each

TRANSMISSION_PARAMETERS = (
    NodeParameter(
        name="directions",
        default=[1],
        description="of each joint: 1, or -1 where it turns the other way than its servo; one entry: for all",
    ),
    NodeParameter(
        name="offsets",
        default=[0.0],
        description="of each joint: its position where its servo is at 0, rad; one entry: for all",
    ),
    NodeParameter(
        name="gear_ratios",
        default=[1.0],
        description="of each joint: turns of its servo for one of its own; one entry: for all",
    ),
)
"""Of nodes whose joints need not be the output shafts of their servos."""

_LARGEST_RATIO = 1000.0  # of gears behind a servo


@dataclass(frozen=True, kw_only=True)
class Transmission:
    """How the motion of a servo becomes that of its joint: q = direction · q_servo / ratio + offset.

    Attributes:
        direction: 1 or -1.
        offset: position of the joint where the servo is at 0, rad.
        ratio: turns of the servo for one of the joint.
    """

    direction: int = 1
    offset: float = 0.0
    ratio: float = 1.0

    def __post_init__(self) -> None:
        """Refuse values that no transmission has; raises OutOfRange."""
        cure = "correct the parameter"
        if self.direction not in (-1, 1):
            raise OutOfRange("directions", self.direction, "1 or -1", advice=cure)
        if not math.isfinite(self.offset):
            raise OutOfRange("offsets", self.offset, "a number, rad", advice=cure)
        if not 1.0 / _LARGEST_RATIO <= self.ratio <= _LARGEST_RATIO:
            span = f"{1.0 / _LARGEST_RATIO:g} to {_LARGEST_RATIO:g}; directions turn a joint round"
            raise OutOfRange("gear_ratios", self.ratio, span, advice=cure)

    def position(self, servo: float) -> float:
        """Return the position of the joint, rad, at one of the servo."""
        return self.direction * servo / self.ratio + self.offset

    def servo_position(self, joint: float) -> float:
        """Return the position of the servo, rad, at one of the joint."""
        return self.direction * (joint - self.offset) * self.ratio

    def velocity(self, servo: float) -> float:
        """Return the velocity of the joint, rad/s."""
        return self.direction * servo / self.ratio

    def servo_velocity(self, joint: float) -> float:
        """Return the velocity of the servo, rad/s."""
        return self.direction * joint * self.ratio

    def effort(self, servo: float) -> float:
        """Return the torque at the joint of a gear without losses, N·m: the power stays."""
        return self.direction * servo * self.ratio

    def limits(self, servo: tuple[float, float]) -> tuple[float, float]:
        """Return lowest and highest position of the joint, rad."""
        low, high = sorted(map(self.position, servo))
        return low, high


DIRECT = Transmission()
"""The joint is the output shaft of its servo."""


def transmissions_of(node: Node, joints: Sequence[str]) -> tuple[Transmission, ...]:
    """Return the transmission of each joint from the parameters of a node.

    Args:
        node: that has `TRANSMISSION_PARAMETERS`.
        joints: names.

    Raises:
        WrongShape: there are neither as many entries as joints nor one.
        OutOfRange: no transmission is like this.
    """
    columns = [
        one_each(parameter.name, node.get_parameter(parameter.name).value, joints)
        for parameter in TRANSMISSION_PARAMETERS
    ]
    return tuple(
        Transmission(direction=direction, offset=offset, ratio=ratio)
        for direction, offset, ratio in zip(*columns, strict=True)
    )
