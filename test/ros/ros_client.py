# SPDX-License-Identifier: Apache-2.0
"""Nodes in the test's own process: spun by the test or by threads, and destroyed in one order."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import rclpy
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node

from bam_ros.node.running_node import destroy_nodes
from test.ros.ros_helpers import PATIENCE

_ANSWER_LOST = PATIENCE / 4.0  # s without an answer; no service takes that long here


class RosClient:
    """A node on a context of its own, which the test's thread spins while it waits.

    Participants that start together take 3 s to find each other: make it once the node under test is up.

    Attributes:
        node: named `client`.
        nodes: what `close` destroys; a test may add nodes that share executor and context.
    """

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("client", context=self.context)
        self.nodes: list[Node] = []
        self.executor = SingleThreadedExecutor(context=self.context)
        self.add(self.node)

    def add(self, node: Node) -> None:
        """Spin this node, too."""
        self.executor.add_node(node)
        self.nodes.append(node)

    def while_waiting(self) -> None:
        """Do what is to be done between two turns of the executor."""

    def wait_for(self, predicate: Callable[[], object], timeout: float = PATIENCE) -> None:
        """Spin until the predicate is true; fail the test where it is not within `timeout` s."""
        deadline = time.monotonic() + timeout
        while not predicate():
            if time.monotonic() > deadline:
                pytest.fail(f"not within {timeout:g} s: {self.said()}")
            self.while_waiting()
            self.executor.spin_once(timeout_sec=0.005)

    def said(self) -> str:
        """What helps to understand why something did not happen."""
        return ""

    def call(self, kind: type, name: str, request: object) -> Any:
        """Call a service, which may come up meanwhile; once more where there is no answer for long.

        The middleware drops an answer to a client that the server has not found yet.
        """
        client = self.node.create_client(kind, name)
        self.wait_for(client.service_is_ready)
        first, begun = client.call_async(request), time.monotonic()
        self.wait_for(lambda: first.done() or time.monotonic() > begun + _ANSWER_LOST)
        future = first if first.done() else client.call_async(request)
        self.wait_for(future.done)
        return future.result()

    def close(self) -> None:
        destroy_nodes(self.executor, *self.nodes)
        self.context.try_shutdown()


class ThreadedActionClient(ActionClient):
    """An action client that another thread spins than the one that asks.

    rclpy notes what it has asked for only after it has sent it, without a lock: an answer that another thread
    takes in between is dropped as unexpected, and its future is never done.
    """

    def __init__(self, *arguments: Any) -> None:
        self._asking = threading.RLock()
        super().__init__(*arguments)

    def send_goal_async(self, *arguments: Any, **options: Any) -> Any:
        with self._asking:
            return super().send_goal_async(*arguments, **options)

    def _get_result_async(self, goal_handle: Any) -> Any:
        with self._asking:
            return super()._get_result_async(goal_handle)

    def _cancel_goal_async(self, goal_handle: Any) -> Any:
        with self._asking:
            return super()._cancel_goal_async(goal_handle)

    async def execute(self, taken_data: Any) -> None:
        with self._asking:
            pass  # what this answers has been noted now
        await super().execute(taken_data)


class SpinningThread:
    """Spins nodes in a thread of its own until it is closed, which closes and destroys them."""

    def __init__(self, executor: Executor, *nodes: Node) -> None:
        self._executor = executor
        self._nodes = nodes
        for node in nodes:
            executor.add_node(node)
        self._stopping = False
        self._thread = threading.Thread(target=self._spin, name="spinning")
        self._thread.start()

    def close(self) -> None:
        """Stop the thread, let nodes release everything, destroy executor and nodes. Idempotent.

        In this order, as in a process of the nodes: what a node destroys is not to be in a wait set.
        """
        if self._stopping:
            return
        self._stopping = True
        self._executor.wake()
        self._thread.join()
        for node in self._nodes:
            getattr(node, "close", lambda: None)()
        destroy_nodes(self._executor, *self._nodes)

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            while not self._stopping:
                self._executor.spin_once(timeout_sec=0.1)
