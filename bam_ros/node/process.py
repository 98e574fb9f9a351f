# SPDX-License-Identifier: Apache-2.0
"""The `main` of nodes: from arguments to exit status, with one way out for every signal and every error."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

import rclpy
import rclpy.utilities
import yaml
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.signals import SignalHandlerOptions

from bam_core.errors import BamError, Conflict, Unsupported, printable_line
from bam_core.text.warning_lines import print_warnings
from bam_ros.node.ends import LaunchWatch, StopRequest
from bam_ros.node.rosout import publish_fatal
from bam_ros.node.running_node import NodeProgram, RunningNode

_LINGER = 0.5  # s in which the answer to whoever ended a life cycle goes out


def run_node(program: NodeProgram, argv: Sequence[str] | None = None) -> int:
    """Run one node until a signal ends it, or its life cycle, or `ros2 launch`; return the exit status.

    Args:
        program: of the node.
        argv: arguments without the program's name; default those of the process.

    Returns:
        See `run_nodes`.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    about = program.about
    if {"-h", "--help"} & set(arguments):
        print(about.text())
        return 0
    return run_nodes([program], arguments, name=about.name, usage=about.usage)


def run_nodes(programs: Sequence[NodeProgram], arguments: Sequence[str], *, name: str, usage: str) -> int:
    """Run nodes in this process until one of them ends, or a signal or `ros2 launch` ends all of them.

    Each has an executor of its own, as in a process of its own; the first one's is spun by this thread. What
    one raises ends all.

    Args:
        programs: of the nodes, in the order in which they are started, and closed: drivers first, so that
            torque goes off before anything else is waited for.
        arguments: those of ROS 2.
        name: of the executable.
        usage: a command line that starts it.

    Returns:
        0 when one of these or a shutdown of ROS 2 ended it, 2 after one line on standard error and `/rosout`
        when a node could not start, or else the reason of a node that ended by itself.

    Raises:
        Exception: a callback raised it; everything is closed by then.
    """
    print_warnings()
    stop = StopRequest()
    stop.install()
    launch_has_gone = LaunchWatch()
    running: list[RunningNode] = []
    at_work = name  # the node that an error comes from
    intervals = [program.switch_interval for program in programs if program.switch_interval is not None]
    if intervals:
        sys.setswitchinterval(min(intervals))
    try:
        _init(arguments, name, usage)
        for program in programs:
            if stop():  # a start takes seconds, on a busy machine minutes: nothing more is begun
                return 0
            at_work = program.about.name
            running.append(RunningNode(program, stop))
            _require_own_name(running)
        for node in running:
            if stop():
                return 0
            at_work = node.node.get_name()
            node.start()
        for node in running[1:]:
            node.spin_in_thread()
        while not stop() and not launch_has_gone() and rclpy.utilities.ok():
            running[0].spin_once()
            for node in running:
                node.check()
            if any(node.is_over for node in running):
                _linger(running[0])
                break
        return max((node.exit_status for node in running), default=0)
    except ExternalShutdownException:
        return max((node.exit_status for node in running), default=0)
    except (BamError, ParameterException) as error:
        if stop():
            return 0
        line = printable_line(" ".join(str(error).split()))
        print(line, file=sys.stderr, flush=True)
        publish_fatal(line, at_work, running[0].node if running else None, stop)
        return 2
    finally:
        with ExitStack() as last:  # all that is below happens, whatever is raised on the way
            last.callback(_ignore_signals)
            last.callback(rclpy.utilities.try_shutdown)
            for node in reversed(running):
                last.callback(node.close)


def _require_own_name(running: Sequence[RunningNode]) -> None:
    """Raise Conflict where the newest node has the name of another one, as after `-r __node:=NAME`."""
    *names, newest = (node.node.get_fully_qualified_name() for node in running)
    if newest in names:
        raise Conflict(
            f"node {newest}",
            "two nodes of this process have that name",
            expected="a name each",
            advice="rename single nodes, as in -r recorder:__node:=NAME",
        )


def _linger(first: RunningNode) -> None:
    deadline = time.monotonic() + _LINGER
    while time.monotonic() < deadline and rclpy.utilities.ok():
        first.spin_once()


def _ignore_signals() -> None:
    """All is released: one more signal while the interpreter ends shall not change the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


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


def _init(arguments: Sequence[str], name: str, usage: str) -> None:
    """Start ROS 2 with its arguments; raises Unsupported for those that nobody would read."""
    words = [name, *map(_of_one_type, arguments)]
    try:
        rclpy.init(args=words, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # what rclpy raises for arguments it does not understand
        reason = str(error).removeprefix("failed to initialize rcl: ").partition(", at ")[0]
        if reason.startswith("["):
            reason = f"unknown arguments after --ros-args {reason}"
        raise Unsupported(name, reason, advice=f"write it as in: {usage}") from None
    rest = rclpy.utilities.remove_ros_args(words)[1:]
    if rest:
        raise Unsupported(
            name,
            f"argument {rest[0]!r} is not known",
            expected="--ros-args -p PARAMETER:=VALUE",
            advice=f"write it as in: {usage}",
        )
