# SPDX-License-Identifier: Apache-2.0
"""The line of a node that could not start, on `/rosout` as well: whoever watches the log sees it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import rclpy
import rclpy.utilities
from rcl_interfaces.msg import Log
from rclpy.duration import Duration
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

_QOS = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)  # reliable, as that of all loggers
_SENT_TIME = 1.0  # s
_POLL = 0.02  # s


def publish_fatal(
    line: str, name: str, node: Node | None, stop: Callable[[], bool], *, match_time: float = 1.0
) -> None:
    """Publish a line as the log of a node that ends; wait shortly for whoever subscribes. Never raises.

    The logger of the node would print it as well, beside the one line on standard error.

    Args:
        line: what is wrong.
        name: of the node.
        node: that still exists; None: one is made.
        stop: returns whether the process shall end at once.
        match_time: longest wait for a subscriber, s; it is found within a second, unless the machine is busy.
    """
    if not rclpy.utilities.ok():
        return
    with contextlib.suppress(Exception):
        made = None
        if node is None:
            node = made = rclpy.create_node(name, start_parameter_services=False, enable_rosout=False)
        publisher = node.create_publisher(Log, "/rosout", _QOS)
        deadline = time.monotonic() + match_time
        while not publisher.get_subscription_count() and time.monotonic() < deadline and not stop():
            time.sleep(_POLL)
        level = int(LoggingSeverity.FATAL)
        stamp = node.get_clock().now().to_msg()
        publisher.publish(Log(stamp=stamp, level=level, name=name, msg=line))
        publisher.wait_for_all_acked(Duration(seconds=_SENT_TIME))
        if made is not None:
            made.destroy_node()
