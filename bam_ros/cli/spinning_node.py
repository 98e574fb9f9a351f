# SPDX-License-Identifier: Apache-2.0
"""A node for commands at the terminal, which look after signals themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rclpy.node import Node


@contextmanager
def spinning_node() -> Iterator[Node]:
    """Give a node whose executor spins in a thread, in a ROS 2 that leaves signals alone."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.signals import SignalHandlerOptions
    from rclpy.utilities import try_shutdown

    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    try:
        node = rclpy.create_node("bam_record")
        executor = SingleThreadedExecutor()
        executor.add_node(node)

        def spin() -> None:
            while not stop.is_set():
                executor.spin_once(timeout_sec=0.1)

        thread = threading.Thread(target=spin, name="executor", daemon=True)
        thread.start()
        try:
            yield node
        finally:
            stop.set()
            thread.join()
            executor.shutdown()
            node.destroy_node()
    finally:
        try_shutdown()
