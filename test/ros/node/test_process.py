# SPDX-License-Identifier: Apache-2.0
"""Nodes are destroyed when nothing of theirs runs any more, and in no other order."""

from __future__ import annotations

import threading
import time

import pytest
from bam_bench.action import Identify
from rclpy.action.client import ActionClient
from rclpy.action.server import ActionServer, CancelResponse, ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from ros_client import SpinningThread
from ros_helpers import PATIENCE, wait_for
from std_msgs.msg import String

from bam_ros.node.process import destroy_nodes

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
        action = ActionClient(client, Identify, "identify")
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
