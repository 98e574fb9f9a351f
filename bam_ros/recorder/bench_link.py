# SPDX-License-Identifier: Apache-2.0
"""The recorder's fast path: hears every state, answers each with a command, copies all into the bag.

It has a node and a thread of its own, so that nothing else the recorder does comes between state and command.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

from bam_bench.msg import BenchRun, ServoCommands, ServoConfiguration, ServoStates
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time
from sensor_msgs.msg import JointState

from bam_ros.recorder.bench_topics import COMMAND_QOS, LATCHED_QOS, LISTEN_QOS, BenchTopics
from bam_ros.recorder.motion import ArmGoal

Sink = Callable[[str, int, bytes], None]
"""Takes topic, time of reception in ns, serialised message."""


class StateListener(Protocol):
    """Who is told of every state and says what to command."""

    def on_states(self, now_ns: int, states: ServoStates) -> ArmGoal | None:
        """Return the goal to send, None for no command. Called in the link's thread."""

    def on_failure(self, error: BaseException) -> None:
        """Learn that `on_states` raised; it is called again with the next state."""


class BenchLink:
    """Subscriptions and publishers of a recording.

    Args:
        node: whose names, clock and context are used.
        joint: the servo that is commanded.
    """

    def __init__(self, node: Node, joint: str) -> None:
        self.topics = BenchTopics.of(node)
        self.joint = joint
        self.sink: Sink | None = None
        """Where everything is copied to; None: nowhere."""
        self.newest: ServoStates | None = None
        """The newest states."""
        self.configuration: ServoConfiguration | None = None
        """Which servos the driver has found; None: it has not said so yet."""
        self.heard = -1.0
        """When they arrived, s on the monotonic clock; negative: none did yet."""
        self.dropped = 0
        """States that were published but never arrived, from the gaps in their sequence."""
        self.restarts = 0
        """How often the sequence began anew: the driver was restarted."""
        self._clock = node.get_clock()
        self._listener: StateListener | None = None
        # Its own node for its own executor. Arguments of the process would rename it.
        self.node = Node(
            f"{node.get_name()}_link",
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._commands = self.node.create_publisher(ServoCommands, self.topics.commands, COMMAND_QOS)
        self._runs = self.node.create_publisher(BenchRun, self.topics.run, LATCHED_QOS)
        for kind, topic in ((JointState, self.topics.joints), (DiagnosticArray, self.topics.diagnostics)):
            self.node.create_subscription(kind, topic, self._copier(topic), LISTEN_QOS, raw=True)
        self.node.create_subscription(ServoStates, self.topics.states, self._on_states, LISTEN_QOS, raw=True)
        self.node.create_subscription(
            ServoConfiguration, self.topics.configuration, self._on_configuration, LATCHED_QOS
        )
        self._command = ServoCommands(name=[joint], torque_enable=[False], position=[0.0])
        self._sending = threading.Lock()
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self.node)
        self._stopping = False
        self._thread = threading.Thread(target=self._spin, name="bench link", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Whether somebody takes commands."""
        return bool(self._commands.get_subscription_count() > 0)

    @property
    def silence(self) -> float:
        """Time since the newest states arrived, s; infinite before the first."""
        return time.monotonic() - self.heard if self.heard >= 0.0 else float("inf")

    def listen(self, listener: StateListener | None) -> None:
        """Tell this one of every state from now on."""
        self._listener = listener

    def send(self, now_ns: int, goal: ArmGoal) -> None:
        """Publish a command, and copy it into the bag."""
        with self._sending:
            self._command.header.stamp = Time(nanoseconds=now_ns).to_msg()
            self._command.torque_enable = [goal.torque_enable]
            self._command.position = [goal.position]
            cdr = serialize_message(self._command)
            self._commands.publish(cdr)
        if self.sink is not None:
            self.sink(self.topics.commands, now_ns, cdr)

    def release(self) -> None:
        """Command torque off, whatever the state; from any thread."""
        self.send(self.now(), ArmGoal(torque_enable=False, position=float("nan")))

    def announce(self, now_ns: int, run: BenchRun) -> None:
        """Publish what is being run, and copy it into the bag."""
        cdr = serialize_message(run)
        self._runs.publish(cdr)
        if self.sink is not None:
            self.sink(self.topics.run, now_ns, cdr)

    def now(self) -> int:
        """Time on the node's clock, ns."""
        return int(self._clock.now().nanoseconds)

    def close(self) -> None:
        """End thread and node. Idempotent."""
        self._stopping = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()

    def __enter__(self) -> BenchLink:
        """Give the open link."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _spin(self) -> None:
        try:
            while not self._stopping:
                self._executor.spin_once(timeout_sec=0.05)
        except ExternalShutdownException:
            pass

    def _copier(self, topic: str) -> Callable[[bytes], None]:
        def copy(cdr: bytes) -> None:
            if self.sink is not None:
                self.sink(topic, self.now(), cdr)

        return copy

    def _on_configuration(self, configuration: ServoConfiguration) -> None:
        if self.joint in configuration.name:  # else `servo_states` lack it, too, and that is told
            self.configuration = configuration

    def _on_states(self, cdr: bytes) -> None:
        now = self.now()
        if self.sink is not None:
            self.sink(self.topics.states, now, cdr)
        states = deserialize_message(cdr, ServoStates)
        self._count(states)
        self.newest, self.heard = states, time.monotonic()
        listener = self._listener
        if listener is None:
            return
        try:
            goal = listener.on_states(now, states)
        except Exception as error:
            self.release()
            listener.on_failure(error)
            return
        if goal is not None:
            self.send(now, goal)

    def _count(self, states: ServoStates) -> None:
        if self.newest is None:
            return
        step = states.sequence - self.newest.sequence
        if step > 0:
            self.dropped += step - 1
        else:
            self.restarts += 1
