# SPDX-License-Identifier: Apache-2.0
"""A node that runs: its program makes it, an executor of its own spins it, and one order ends both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node

from bam_ros.node.ends import StopRequest
from bam_ros.node.node_about import NodeAbout
from bam_ros.node.qos_overrides import unused_overrides
from bam_ros.text.parameter_words import QosOverridesIgnored

POLL = 0.1
"""What shall end a node is noticed after this at the latest, s."""


class ManagedNode(Protocol):
    """What is asked of a node beside being one."""

    def start(self) -> None:
        """Begin to work; raises BamError where that cannot be."""

    def close(self) -> None:
        """Release everything. Idempotent, never raises."""


@runtime_checkable
class EndingNode(Protocol):
    """A node that may end its process by itself.

    Attributes:
        is_over: whether it shall end.
        exit_status: of the process then.
    """

    is_over: bool
    exit_status: int


@dataclass(frozen=True, kw_only=True)
class NodeProgram:
    """What runs a node, alone in its process or together with others.

    Attributes:
        about: its description.
        make_node: builds it; long work in it and in `start` polls the request it is given.
        make_executor: builds the executor that spins it.
        switch_interval: s that one thread of Python may keep others waiting; None: that of Python, 5 ms.
    """

    about: NodeAbout
    make_node: Callable[[StopRequest], ManagedNode]
    make_executor: Callable[[], Executor] = SingleThreadedExecutor
    switch_interval: float | None = None


class RunningNode:
    """A node with its executor.

    Args:
        program: of the node.
        stop: request that its work polls.
    """

    def __init__(self, program: NodeProgram, stop: StopRequest) -> None:
        self._managed = program.make_node(stop)
        assert isinstance(self._managed, Node)
        self.node: Node = self._managed
        self._executor: Executor | None = None
        self._make_executor = program.make_executor
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._failure: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether the node wants its process to end."""
        return isinstance(self._managed, EndingNode) and self._managed.is_over

    @property
    def exit_status(self) -> int:
        """Of the process, as far as this node is concerned."""
        return self._managed.exit_status if isinstance(self._managed, EndingNode) else 0

    def start(self) -> None:
        """Let the node begin to work; raises BamError where that cannot be."""
        self._executor = self._make_executor()
        self._executor.add_node(self.node)
        if unused := unused_overrides(self.node):
            self.node.get_logger().warning(str(QosOverridesIgnored(names=unused)))
        self._managed.start()

    def spin_once(self) -> None:
        """Execute one callback, after waiting for it for at most `POLL` s; raises what it raises."""
        assert self._executor is not None
        self._executor.spin_once(timeout_sec=POLL)

    def spin_in_thread(self) -> None:
        """Execute callbacks in another thread, until `close` or an exception, which `check` raises."""
        self._thread = threading.Thread(target=self._spin, name=self.node.get_name(), daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise what a callback in the other thread has raised."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Let the node release everything, and destroy it. Idempotent."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
        self._managed.close()
        destroy_nodes(self._executor, self.node)

    def _spin(self) -> None:
        try:
            while not self._ending.is_set():
                self.spin_once()
        except ExternalShutdownException:
            pass
        except Exception as error:
            self._failure = error


def destroy_nodes(executor: Executor | None, *nodes: Node) -> None:
    """Destroy an executor, then the nodes that it spun; their context may be shut down afterwards.

    rclpy supports no other order. A node that is destroyed while something spins it takes entities away from
    a wait set in use; an executor that is destroyed after its nodes or their context still holds the wait
    set of its last turn, with handles of theirs. `Executor.shutdown` of this rclpy waits neither for running
    callbacks, though it is documented to, nor for its threads.

    Args:
        executor: nobody spins it any more; a thread that did has been joined. None: there is none.
        nodes: to be destroyed.
    """
    if isinstance(executor, MultiThreadedExecutor):
        executor._executor.shutdown(wait=True)
    if executor is not None:
        executor.shutdown()
    for node in nodes:
        node.destroy_node()
