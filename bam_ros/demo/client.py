# SPDX-License-Identifier: Apache-2.0
"""What a person does at the bench and at the keyboard, as a ROS 2 client: hang loads, ask, wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.action.client import ActionClient

from bam_core.errors import BamError, Unavailable
from bam_ros.node.client_node import ClientNode

_POLL = 0.05  # s
_STARTUP = 60.0  # s until a node that was started offers what it has; a busy machine takes long to load it
_LOGS = "see the nodes' logs"


class DemoClient:
    """Calls services and actions of other nodes, one at a time, and watches meanwhile that they live.

    Args:
        check: called while waiting; raises when waiting has become pointless.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._client = ClientNode("demo")
        self._node = self._client.node
        self._check = check

    def close(self) -> None:
        """Leave the graph."""
        self._client.close()

    def call(self, service_type: Any, name: str, request: Any, timeout: float = _STARTUP) -> Any:
        """Call a service once it is there and return its response.

        Raises:
            BamError: no answer in time, or the response reports a failure.
        """
        client = self._node.create_client(service_type, name)
        try:
            self._wait(client.service_is_ready, f"service {name}", timeout)
            future = client.call_async(request)
            self._wait(future.done, f"answer of {name}", timeout)
            response = future.result()
        finally:
            self._node.destroy_client(client)
        if response is None:
            raise Unavailable(name, "no response", advice=_LOGS)
        if not response.success:
            raise BamError(response.message).within(name)
        return response

    def run(
        self, action_type: Any, name: str, goal: Any, on_feedback: Callable[[Any], None], timeout: float
    ) -> Any:
        """Send a goal, pass feedback on as it arrives, and return the result.

        `on_feedback` is called between two spins, so it may call services.

        Raises:
            BamError: refused, failed, or not done in time.
        """
        client = ActionClient(self._node, action_type, name)
        inbox: list[Any] = []
        try:
            self._wait(client.server_is_ready, f"action {name}", _STARTUP)
            accepted = client.send_goal_async(
                goal, feedback_callback=lambda message: inbox.append(message.feedback)
            )
            self._wait(accepted.done, f"answer of {name}", 30.0)
            handle = accepted.result()
            if handle is None or not handle.accepted:
                raise Unavailable(name, "goal refused", advice=_LOGS)
            result = handle.get_result_async()
            deadline = time.monotonic() + timeout
            while not result.done():
                if time.monotonic() > deadline:
                    raise Unavailable(name, f"not done after {timeout:g} s", advice=_LOGS)
                self._spin()
                while inbox:
                    on_feedback(inbox.pop(0))
            outcome = result.result().result
        finally:
            client.destroy()
        if outcome.error_code != outcome.SUCCESSFUL:
            raise BamError(outcome.message).within(name)
        return outcome

    def _wait(self, ready: Callable[[], bool], what: str, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not ready():
            if time.monotonic() > deadline:
                raise Unavailable(what, f"not there after {timeout:g} s", advice=_LOGS)
            self._spin()

    def _spin(self) -> None:
        self._client.spin_once(_POLL)
        self._check()
