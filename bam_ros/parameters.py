# SPDX-License-Identifier: Apache-2.0
"""Declaring node parameters in one line each, with description, bounds and access."""

from __future__ import annotations

from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    read_only: bool = True,
) -> Any:
    """Declare a parameter and return its value.

    Args:
        node: that gets the parameter.
        name: of the parameter.
        default: value where none is given; its type is the parameter's type.
        description: one sentence with the unit.
        low, high: bounds of a number, both or none.
        read_only: whether it is fixed once the node runs.

    Raises:
        rclpy.exceptions.ParameterException: the value from outside has another type or is out of bounds.
    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    if low is not None and high is not None:
        if isinstance(default, float):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(low), to_value=float(high))
            ]
        else:
            descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
    return node.declare_parameter(name, default, descriptor).value
