# SPDX-License-Identifier: Apache-2.0
"""The `main` of a node: from arguments to exit status, with one way out for every signal and every error."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Protocol, runtime_checkable

import rclpy
import rclpy.utilities
import yaml
from rclpy.exceptions import ParameterException
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    MultiThreadedExecutor,
    SingleThreadedExecutor,
)
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from bam_core.errors import BamError, Unsupported
from bam_ros.node.node_about import NodeAbout

_POLL = 0.1  # s; a signal is noticed after this at the latest
_LINGER = 0.5  # s in which the answer to whoever ended a life cycle goes out


class StopRequest:
    """Becomes true with the first SIGINT, SIGTERM or SIGHUP; more of them change nothing.

    The handlers only set a flag, so a signal can arrive at any moment, also in the middle of a transaction
    that turns torque off.
    """

    def __init__(self) -> None:
        self._requested = False

    def install(self) -> None:
        """Take the signals over; to be called in the main thread."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        """Return whether the process shall end."""
        return self._requested

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._requested = True


class LaunchWatch:
    """Becomes true once the `ros2 launch` that started this process has gone.

    At SIGTERM (of systemd, of docker) or kill -9 it ends without ending its nodes, which would hold their
    servos for ever. A node that another program started outlives that program, as usual.
    """

    def __init__(self) -> None:
        parent = os.getppid()
        self._launch = parent if _is_launch(parent) else None

    def __call__(self) -> bool:
        """Return whether the process shall end."""
        return self._launch is not None and os.getppid() != self._launch


def _is_launch(process: int) -> bool:
    """Return whether a process is `ros2 launch`, as far as its command line tells."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"launch" in words


class ManagedNode(Protocol):
    """What `run_node` asks of a node beside being one."""

    def start(self) -> None:
        """Begin to work; raises BamError where that cannot be."""

    def close(self) -> None:
        """Let go of everything. Idempotent, never raises."""


@runtime_checkable
class EndingNode(Protocol):
    """A node that may end its process by itself.

    Attributes:
        is_over: whether it shall end.
    """

    is_over: bool


def run_node(
    about: NodeAbout,
    make_node: Callable[[StopRequest], ManagedNode],
    argv: Sequence[str] | None = None,
    make_executor: Callable[[], Executor] = SingleThreadedExecutor,
) -> int:
    """Run one node until a signal ends it, or its life cycle, or `ros2 launch`; return the exit status.

    Args:
        about: what `--help` prints.
        make_node: builds the node; long work in it and in `start` polls the request it is given.
        argv: arguments without the program's name; default those of the process.
        make_executor: builds the executor that spins the node.

    Returns:
        0 when one of these or a shutdown of ROS 2 ended it, 2 after one line on standard error when the node
        could not start.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if {"-h", "--help"} & set(arguments):
        print(about.text())
        return 0
    stop = StopRequest()
    stop.install()
    launch_has_gone = LaunchWatch()
    node: ManagedNode | None = None
    executor: Executor | None = None
    try:
        _init(about, arguments)
        node = make_node(stop)
        assert isinstance(node, Node)
        executor = make_executor()
        executor.add_node(node)
        node.start()
        ending = node if isinstance(node, EndingNode) else None
        while not stop() and not launch_has_gone() and rclpy.utilities.ok():
            executor.spin_once(timeout_sec=_POLL)
            if ending is not None and ending.is_over:
                _linger(executor)
                break
        return 0
    except ExternalShutdownException:
        return 0
    except (BamError, ParameterException) as error:
        if stop():
            return 0
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    finally:
        if node is not None:
            node.close()
            assert isinstance(node, Node)
            destroy_nodes(executor, node)
        rclpy.utilities.try_shutdown()
        # All is let go of: one more signal while the interpreter ends shall not change the exit status.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def _linger(executor: Executor) -> None:
    deadline = time.monotonic() + _LINGER
    while time.monotonic() < deadline and rclpy.utilities.ok():
        executor.spin_once(timeout_sec=_POLL)


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


def _of_one_type(argument: str) -> str:
    """Return `limits:=[-1, 1.5]` as `limits:=[-1.0, 1.5]`: ROS 2 takes no list of integers and doubles."""
    name, _, value = argument.partition(":=")
    try:
        numbers = yaml.safe_load(value) if value.startswith("[") else []
    except yaml.YAMLError:  # ROS 2 says so
        return argument
    if {type(number) for number in numbers} != {int, float}:
        return argument
    doubles = yaml.safe_dump([float(number) for number in numbers], default_flow_style=True, width=math.inf)
    return f"{name}:={doubles.strip()}"


def _init(about: NodeAbout, arguments: list[str]) -> None:
    """Start ROS 2 with its arguments; raises Unsupported for those that nobody would read."""
    words = [about.name, *map(_of_one_type, arguments)]
    try:
        rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # what rclpy raises for arguments it does not understand
        reason = str(error).removeprefix("failed to initialize rcl: ").partition(", at ")[0]
        if reason.startswith("["):
            reason = f"unknown arguments after --ros-args {reason}"
        raise Unsupported(about.name, reason, advice=f"write it as in: {about.usage}") from None
    rest = rclpy.utilities.remove_ros_args(words)[1:]
    if rest:
        raise Unsupported(
            about.name,
            f"argument {rest[0]!r} is not known",
            expected="--ros-args -p PARAMETER:=VALUE",
            advice=f"write it as in: {about.usage}",
        )
