# SPDX-License-Identifier: Apache-2.0
"""A ROS 2 node for programs that talk to nodes and are none themselves: demo and benchmarks."""

from __future__ import annotations

from types import TracebackType

import rclpy
import rclpy.utilities
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from bam_ros.node.running_node import destroy_nodes


class ClientNode:
    """Starts ROS 2, which leaves signals alone, with one node; its caller spins it while it waits.

    Args:
        name: of the node.

    Attributes:
        node: for publishers, subscriptions and clients.
    """

    def __init__(self, name: str) -> None:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        # Nobody sets its parameters; each of their services takes part in the discovery of everybody else.
        self.node = rclpy.create_node(name, start_parameter_services=False, enable_rosout=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def spin_once(self, timeout: float) -> None:
        """Execute one callback, waiting for it for at most `timeout` s."""
        self._executor.spin_once(timeout_sec=timeout)

    def close(self) -> None:
        """Destroy the node and shut ROS 2 down."""
        destroy_nodes(self._executor, self.node)
        rclpy.utilities.try_shutdown()

    def __enter__(self) -> ClientNode:
        """Give the node."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()
