# SPDX-License-Identifier: Apache-2.0
"""The link of a recording to its driver."""

from __future__ import annotations

import pytest
import rclpy
from bam_bench.msg import ServoStates
from rclpy.node import Node

from bam_ros.recorder.bench_link import BenchLink
from test.ros.ros_helpers import wait_for


class Listener:
    def __init__(self) -> None:
        self.since = -1
        self.heard: list[int] = []

    def on_states(self, now_ns: int, states: ServoStates) -> None:
        self.heard.append(now_ns)

    def on_failure(self, error: BaseException) -> None:
        raise error


@pytest.mark.ros
def test_a_listener_hears_of_no_state_from_before_it_listened(
    ros_domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that had to wait for a processor between the two seemed to be a clock that went back."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=ros_domain)
    node = Node("listens", context=context)
    listener = Listener()
    with BenchLink(node, "servo") as link:
        read_clock = link.now

        def wait_for_a_processor() -> int:
            now = read_clock()
            if listener.since < 0:
                link.listen(listener)
                listener.since = read_clock()
            return now

        monkeypatch.setattr(link, "now", wait_for_a_processor)
        publisher = node.create_publisher(ServoStates, link.topics.states, 10)

        def heard() -> bool:
            publisher.publish(ServoStates(name=["servo"]))
            return len(listener.heard) > 1

        wait_for(heard, what="states")
    node.destroy_node()
    rclpy.shutdown(context=context)
    assert min(listener.heard) >= listener.since
