# SPDX-License-Identifier: Apache-2.0
"""Counts the states of a driver and records all its topics, in a process that does nothing else.

What is lost is then not the counter's. Every line on its input is answered by the counts so far, as JSON;
`finish` ends the bag before.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bam_bench.msg import ServoCommands, ServoStates
from diagnostic_msgs.msg import DiagnosticArray
from mcap.reader import make_reader
from rclpy.event_handler import QoSMessageLostInfo, SubscriptionEventCallbacks
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from bam_ros.emulators.controlled_process import ControlledProcess
from bam_ros.emulators.serving import serve, stop_signals
from bam_ros.node.client_node import ClientNode
from bam_ros.recorder.bench_topics import BenchTopics
from bam_ros.recorder.run_writer import RunWriter

MODULE = "studies.faults.listener"
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
    """The process of this module.

    Args:
        bag: directory that it records into; must not exist.
    """

    def __init__(self, bag: Path) -> None:
        super().__init__(MODULE, [str(bag)])

    def counts(self) -> Counts:
        """Return the counts so far."""
        return Counts(**self.look())

    def finish(self) -> None:
        """End the bag."""
        self.request("finish")


def recorded(bag: Path) -> Counts:
    """Return the counts of the states that a bag holds."""
    counts = Counts()
    (path,) = bag.glob("*.mcap")
    with path.open("rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages(log_time_order=False):
            if channel.topic.endswith("servo_states"):
                counts.take(deserialize_message(message.data, ServoStates).sequence)
    return counts


def main(bag: Path) -> int:
    """Listen and record until the input ends, or a signal comes."""
    stopped, ended = stop_signals(), threading.Event()
    counts = Counts()

    def note(info: QoSMessageLostInfo) -> None:
        counts.undelivered = info.total_count

    def spin() -> None:
        while not ended.is_set():
            client.spin_once(0.1)

    with ClientNode("state_counter") as client:
        topics = BenchTopics.of(client.node)
        writer = RunWriter(bag, topics.in_bag(has_run=False))

        def listen(kind: Any, topic: str, then: Callable[[bytes], None] = lambda cdr: None) -> None:
            def take(cdr: bytes) -> None:
                if not ended.is_set():
                    writer.put(topic, client.node.get_clock().now().nanoseconds, cdr)
                then(cdr)

            events = SubscriptionEventCallbacks(message_lost=note) if kind is ServoStates else None
            client.node.create_subscription(kind, topic, take, QOS, event_callbacks=events, raw=True)

        listen(
            ServoStates,
            topics.states,
            lambda cdr: counts.take(deserialize_message(cdr, ServoStates).sequence),
        )
        listen(JointState, topics.joints)
        listen(ServoCommands, topics.commands)
        listen(DiagnosticArray, topics.diagnostics)
        thread = threading.Thread(target=spin)
        thread.start()

        def execute(line: str) -> str:
            if line == "finish" and not ended.is_set():
                ended.set()
                thread.join()
                writer.close(complete=True)
            return json.dumps(asdict(counts))

        print("ready", flush=True)
        serve(stopped, execute)
        ended.set()
        thread.join()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[-1])))
