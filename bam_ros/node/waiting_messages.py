# SPDX-License-Identifier: Apache-2.0
"""Messages that queued up: executors of rclpy take one per turn, which may be slower than they come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rclpy.subscription import Subscription


def waiting_messages(subscription: Subscription) -> Iterator[Any]:
    """Take what waits in the queue of a subscription, oldest first; to be called in its callback.

    Args:
        subscription: whose depth is the most that is taken.
    """
    with subscription.handle:
        for _ in range(subscription.qos_profile.depth):
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
            if taken is None:
                return
            yield taken[0]
