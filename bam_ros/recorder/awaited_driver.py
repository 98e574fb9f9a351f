# SPDX-License-Identifier: Apache-2.0
"""Notices while a driver is waited for: its name soon, and a little later which drivers are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bam_ros.recorder.servo_link import ServoLink
from bam_ros.text.notice import Notice
from bam_ros.text.recorder_notices import DriverAwaited, DriversThere


class AwaitedDriver:
    """Shows each of the two once, and nothing about a driver that is heard soon.

    Args:
        limit: until which a driver is waited for, s.
        show: called with a notice.
    """

    def __init__(self, limit: float, show: Callable[[Notice], None]) -> None:
        self._limit = limit
        self._show = show
        self._is_announced = self._is_listed = False

    def show_due(self, link: ServoLink[Any], driver: str, waited: float) -> None:
        """Show what is due about a driver that is not ready.

        Args:
            link: to the driver.
            driver: its name.
            waited: so far, s.
        """
        if link.heard >= 0.0:
            return
        if not self._is_announced and waited > link.waits.announced:
            self._is_announced = True
            self._show(DriverAwaited(driver=driver, topic=link.topics.states, limit=self._limit))
        if not self._is_listed and waited > link.waits.listed:
            self._is_listed = True
            self._show(DriversThere(driver=driver, running=tuple(running_drivers(link))))


def running_drivers(link: ServoLink[Any]) -> list[str]:
    """Return the nodes that publish states of servos, with their namespaces, as `--driver` takes them."""
    node = link.node
    kind = "bam_bench/msg/ServoStates"
    topics = [topic for topic, types in node.get_topic_names_and_types() if kind in types]
    senders = [sender for topic in topics for sender in node.get_publishers_info_by_topic(topic)]
    return sorted({f"{sender.node_namespace}/{sender.node_name}".strip("/") for sender in senders})
