# SPDX-License-Identifier: Apache-2.0
"""The line of a node that could not start is on `/rosout` as well as on standard error."""

from __future__ import annotations

from functools import partial

import pytest
import rclpy
from rcl_interfaces.msg import Log
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from bam_core.errors import Missing
from bam_ros.node import process
from bam_ros.node.rosout import publish_fatal
from bam_ros.node.running_node import NodeProgram
from test.ros.fake_about import FAKE_ABOUT
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros
ERROR = Missing("port", "a serial device", advice="plug it in")
WATCH = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Failing(Node):
    """A node whose start fails."""

    def start(self) -> None:
        raise ERROR

    def close(self) -> None:
        pass


def no_node(_: object) -> Failing:
    raise ERROR


@pytest.mark.parametrize("make_node", [lambda _: Failing("servos"), no_node], ids=["start", "constructor"])
def test_an_error_of_the_start_is_on_rosout_and_once_on_standard_error(
    make_node: object, ros_domain: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(ros_domain))
    monkeypatch.setattr(process, "publish_fatal", partial(publish_fatal, match_time=PATIENCE))
    context = Context()
    rclpy.init(context=context, domain_id=ros_domain)
    watcher = Node("watcher", context=context)
    lines: list[Log] = []
    watcher.create_subscription(Log, "/rosout", lines.append, WATCH)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(watcher)
    monkeypatch.setattr(process, "print_warnings", lambda: None)
    monkeypatch.setattr(process, "_ignore_signals", lambda: None)
    monkeypatch.setattr(process.StopRequest, "install", lambda _: None)
    program = NodeProgram(about=FAKE_ABOUT, make_node=make_node)  # type: ignore[arg-type]
    assert process.run_nodes([program], [], name="servos", usage="") == 2
    wait_for(lambda: executor.spin_once(timeout_sec=0.01) or lines)
    executor.shutdown()
    watcher.destroy_node()
    context.try_shutdown()
    assert [(line.name, line.msg) for line in lines if line.msg == str(ERROR)] == [("servos", str(ERROR))]
    assert capfd.readouterr().err.count(str(ERROR)) == 1
