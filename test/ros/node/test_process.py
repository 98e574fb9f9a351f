# SPDX-License-Identifier: Apache-2.0
"""Nodes are destroyed when nothing of theirs runs any more, and in no other order; what ends a process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bam_bench.action import Identify
from rclpy.action.server import ActionServer, CancelResponse, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from bam_ros.node.ends import LaunchWatch, OrphanWatch
from bam_ros.node.running_node import destroy_nodes
from test.ros.ros_client import SpinningThread, ThreadedActionClient
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros


def test_a_callback_that_runs_is_waited_for(ros_domain: int) -> None:
    context = Context()
    context.init(domain_id=ros_domain)
    node = Node("busy", context=context)
    publisher = node.create_publisher(String, "words", 1)
    began, may_end, published = threading.Event(), threading.Event(), []

    def work() -> None:
        began.set()
        may_end.wait()
        publisher.publish(String(data="still here"))
        published.append(True)

    timer = node.create_timer(0.01, work)
    executor = MultiThreadedExecutor(num_threads=2, context=context)
    executor.add_node(node)
    wait_for(lambda: executor.spin_once(timeout_sec=0.01) or began.is_set())
    timer.cancel()
    end = threading.Thread(target=destroy_nodes, args=(executor, node))
    end.start()
    end.join(0.3)
    assert end.is_alive()
    may_end.set()
    end.join(PATIENCE)
    assert published
    assert not end.is_alive()
    context.try_shutdown()


class Server(Node):
    """Publishes feedback until it is closed, and says how its goal ended while it is being destroyed."""

    def __init__(self, context: Context) -> None:
        super().__init__("server", context=context)
        self.stopping = threading.Event()
        ActionServer(
            self,
            Identify,
            "identify",
            self._execute,
            callback_group=ReentrantCallbackGroup(),
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def _execute(self, goal: ServerGoalHandle) -> Identify.Result:
        while not self.stopping.is_set():
            goal.publish_feedback(Identify.Feedback())
            time.sleep(1e-3)
        goal.abort()
        return Identify.Result()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_nodes_with_actions_under_way_are_destroyed_without_an_exception_in_any_thread(
    ros_domain: int, capfd: pytest.CaptureFixture[str]
) -> None:
    for _ in range(10):
        context = Context()
        context.init(domain_id=ros_domain)
        server, client = Server(context), Node("client", context=context)
        action = ThreadedActionClient(client, Identify, "identify")
        feedback: list[object] = []
        threads = [
            SpinningThread(MultiThreadedExecutor(num_threads=3, context=context), server),
            SpinningThread(SingleThreadedExecutor(context=context), client),
        ]
        assert action.wait_for_server(PATIENCE)
        action.send_goal_async(Identify.Goal(), feedback.append)
        wait_for(lambda: len(feedback) > 2, what="feedback")  # noqa: B023
        action.send_goal_async(Identify.Goal())
        server.stopping.set()
        for thread in threads:
            thread.close()
        context.try_shutdown()
    said = capfd.readouterr().err
    assert "Traceback" not in said
    assert "never retrieved" not in said


SLOW = """\
import os, signal, sys
from rclpy.node import Node
from bam_ros.node.process import run_nodes
from bam_ros.node.running_node import NodeProgram
from bam_ros.recorder.node import PROGRAM

class Slow(Node):
    def __init__(self, name):
        super().__init__(name)
        print("made", name, flush=True)
        if name == sys.argv[1]:
            os.kill(os.getpid(), getattr(signal, sys.argv[2]))

    def start(self):
        print("started", self.get_name(), flush=True)
        if sys.argv[1] == f"start of {self.get_name()}":
            os.kill(os.getpid(), getattr(signal, sys.argv[2]))

    def close(self):
        print("closed", self.get_name(), flush=True)

def program(name):
    return NodeProgram(about=PROGRAM.about, make_node=lambda stop: Slow(name))

sys.exit(run_nodes([program("one"), program("two")], [], name="slow", usage=""))
"""
"""Two nodes, with a signal while one of them is made or started."""


@pytest.mark.parametrize("number", ["SIGINT", pytest.param("SIGTERM", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("when", "done"),
    [
        ("one", ["made one", "closed one"]),
        ("two", ["made one", "made two", "closed one", "closed two"]),
        ("start of one", ["made one", "made two", "started one", "closed one", "closed two"]),
    ],
)
def test_a_signal_while_nodes_are_made_or_started_begins_nothing_more(
    when: str, done: list[str], number: str, ros_domain: int
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SLOW, when, number], capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == done


LAUNCH = """\
import subprocess, sys, time
node = [sys.executable, "-m", "bam_ros.emulators.dynamixel.node", "--ros-args", "-p", f"link:={sys.argv[2]}"]
print(subprocess.Popen(node).pid, flush=True)
time.sleep(3600)
"""
"""Starts a node and ends at a signal without a word to it, as `ros2 launch` does at SIGTERM."""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_node_ends_with_the_launch_that_started_it(
    ros_domain: int, tmp_path: Path, number: signal.Signals
) -> None:
    link = tmp_path / "bus"
    command = [sys.executable, "-c", LAUNCH, "launch", str(link)]
    launch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert launch.stdout is not None
    node = int(launch.stdout.readline())
    try:
        wait_for(lambda: os.path.lexists(link), what="the node")
        launch.send_signal(number)
        launch.wait(PATIENCE)
        wait_for(lambda: not os.path.lexists(link), what="the end of the node")
    finally:
        launch.kill()
        launch.communicate()
        with contextlib.suppress(ProcessLookupError):
            os.kill(node, signal.SIGKILL)


def test_a_node_that_a_shell_started_outlives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = subprocess.Popen(["sleep", "3600"])
    try:
        monkeypatch.setattr(os, "getppid", lambda: shell.pid)
        has_gone = LaunchWatch()
        monkeypatch.setattr(os, "getppid", lambda: 1)
        assert not has_gone()
    finally:
        shell.kill()
        shell.wait()
    assert OrphanWatch()() is False  # what started this process is process 1


@pytest.mark.parametrize(
    ("words", "ends"),
    [
        (["/opt/ros/bin/ros2", "launch"], True),
        (["/opt/ros/bin/ros2", "run"], True),
        (["docker", "run"], False),
        (["/opt/ros/bin/ros2", "bag"], False),
    ],
)
def test_a_node_ends_with_ros2_launch_and_ros2_run_and_is_an_orphan_of_any_other_program(
    words: list[str], ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)", *words])
    try:
        wait_for(lambda: words[-1].encode() in Path(f"/proc/{parent.pid}/cmdline").read_bytes())
        monkeypatch.setattr(os, "getppid", lambda: parent.pid)
        launch_has_gone, is_orphan = LaunchWatch(), OrphanWatch()
        assert not launch_has_gone()
        assert not is_orphan()
        monkeypatch.setattr(os, "getppid", lambda: 1)
        assert launch_has_gone() is ends
        assert is_orphan()
    finally:
        parent.kill()
        parent.wait()
