# SPDX-License-Identifier: Apache-2.0
"""Quality of service that users set: parameters `qos_overrides./TOPIC.publisher.depth` and the like."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions

PREFIX = "qos_overrides."
"""What the names of these parameters begin with."""
QOS_OVERRIDES = QoSOverridingOptions.with_default_policies()
"""For every publisher and subscription of a node: history, depth and reliability are parameters."""


def unused_overrides(node: Node) -> tuple[str, ...]:
    """Return overrides that were given for topics, or policies, that a node does not have."""
    given = (name for name in node._parameter_overrides if name.startswith(PREFIX))
    return tuple(sorted(name for name in given if not node.has_parameter(name)))
