# SPDX-License-Identifier: Apache-2.0
"""Counts the states of a driver, in a process that does nothing else: what is lost is then not the counter's.

Every line on its input is answered by the counts so far, as JSON.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass

from bam_bench.msg import ServoStates
from rclpy.event_handler import QoSMessageLostInfo, SubscriptionEventCallbacks
from rclpy.qos import QoSProfile, ReliabilityPolicy

from bam_ros.emulators.controlled_process import ControlledProcess
from bam_ros.emulators.serving import serve, stop_signals
from bam_ros.node.client_node import ClientNode

MODULE = "bam_ros.studies.faults.listener"
QOS = QoSProfile(depth=30_000, reliability=ReliabilityPolicy.RELIABLE)
"""A minute of states at 500 Hz: a listener that waits for a processor loses none of them."""


@dataclass(kw_only=True)
class Counts:
    """States as their sequence counts them.

    Attributes:
        newest: sequence of the newest one; 0: there was none.
        lost: missing between the first and the newest one.
        undelivered: of them, those that the middleware says it did not deliver: the publisher had dropped
            them before this reader had them. The others were dropped from this reader's full queue.
    """

    newest: int = 0
    lost: int = 0
    undelivered: int = 0

    def take(self, sequence: int) -> None:
        """Count a state; a sequence that begins anew is that of a driver that was started again."""
        if self.newest:
            self.lost += max(sequence - self.newest - 1, 0)
        self.newest = sequence


class Listener(ControlledProcess):
    """The process of this module."""

    def __init__(self) -> None:
        super().__init__(MODULE, [])

    def counts(self) -> Counts:
        """Return the counts so far."""
        return Counts(**self.look())


def main() -> int:
    """Listen until the input ends, or a signal comes."""
    stopped, ended = stop_signals(), threading.Event()
    counts = Counts()

    def take(states: ServoStates) -> None:
        counts.take(states.sequence)

    def note(info: QoSMessageLostInfo) -> None:
        counts.undelivered = info.total_count

    def spin() -> None:
        while not ended.is_set():
            client.spin_once(0.1)

    with ClientNode("state_counter") as client:
        client.node.create_subscription(
            ServoStates,
            "servo_states",
            take,
            QOS,
            event_callbacks=SubscriptionEventCallbacks(message_lost=note),
        )
        thread = threading.Thread(target=spin)
        thread.start()
        print("ready", flush=True)
        serve(stopped, lambda line: json.dumps(asdict(counts)))
        ended.set()
        thread.join()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
