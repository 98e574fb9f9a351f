# SPDX-License-Identifier: Apache-2.0
"""The recorder's fast path: hears every state, answers each with a command, copies all into the bag.

It has a node and a thread of its own, so that nothing else the recorder does comes between state and command.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.time import Time
from sensor_msgs.msg import JointState

from bam_ros.node.qos_overrides import QOS_OVERRIDES
from bam_ros.recorder.bench_topics import COMMAND_QOS, LATCHED_QOS, LISTEN_QOS, BenchTopics
from bam_ros.recorder.errors import DriverSilent
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits

Goal = TypeVar("Goal")
_Command = TypeVar("_Command", covariant=True)
_Link = TypeVar("_Link", bound="ServoLink[Any]")

Sink = Callable[[str, int, bytes], None]
"""Takes topic, time of reception in ns, serialised message."""


class StateListener(Protocol[_Command]):
    """Gets every state and returns what to command."""

    def on_states(self, now_ns: int, states: ServoStates) -> _Command | None:
        """Return the goal to send, None for no command. Called in the link's thread."""

    def on_failure(self, error: BaseException) -> None:
        """Learn that `on_states` raised; it is called again with the next state."""


class ServoLink(ABC, Generic[Goal]):
    """Subscriptions and publishers of a recording, to and from one driver.

    Args:
        node: whose names, clock and context are used.
        namespace: of the driver, in that of the node; empty: the same.
        waits: for the driver.

    Attributes:
        waits: see above.
    """

    def __init__(self, node: Node, namespace: str = "", waits: Waits = DEFAULT_WAITS) -> None:
        self.waits = waits
        self.topics = BenchTopics.of(node, namespace)
        self.sink: Sink | None = None
        """Where everything is copied to; None: nowhere."""
        self.newest: ServoStates | None = None
        """The newest states."""
        self.configuration: ServoConfiguration | None = None
        """Which servos the driver has found; None: it has not reported yet."""
        self.heard = -1.0
        """When they arrived, s on the monotonic clock; negative: none did yet."""
        self.dropped = 0
        """States that were published but never arrived, from the gaps in their sequence."""
        self.restarts = 0
        """How often the sequence began anew: the driver was restarted."""
        self._clock = node.get_clock()
        self._listener: StateListener[Goal] | None = None
        # Its own node for its own executor. Arguments of the process would rename it.
        self.node = Node(
            "_".join([node.get_name(), *namespace.strip("/").split("/"), "link"]).replace("__", "_"),
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._commands = self.node.create_publisher(
            ServoCommands, self.topics.commands, COMMAND_QOS, qos_overriding_options=QOS_OVERRIDES
        )
        for kind, topic in ((JointState, self.topics.joints), (DiagnosticArray, self.topics.diagnostics)):
            self.node.create_subscription(
                kind, topic, self._copier(topic), LISTEN_QOS, raw=True, qos_overriding_options=QOS_OVERRIDES
            )
        self.node.create_subscription(
            ServoStates,
            self.topics.states,
            self._on_states,
            LISTEN_QOS,
            raw=True,
            qos_overriding_options=QOS_OVERRIDES,
        )
        self.node.create_subscription(
            ServoConfiguration,
            self.topics.configuration,
            self._on_configuration,
            LATCHED_QOS,
            qos_overriding_options=QOS_OVERRIDES,
        )
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

    def require_heard(self, limit: float) -> None:
        """Raise DriverSilent where the newest states are older than the limit, s."""
        if self.silence > limit:
            raise DriverSilent(limit, self.topics.states)

    @abstractmethod
    def is_wanted(self, configuration: ServoConfiguration) -> bool:
        """Return whether a configuration is that of the servos that are commanded."""

    @abstractmethod
    def fill(self, goal: Goal) -> ServoCommands:
        """Return a goal as a command, without its stamp."""

    @property
    @abstractmethod
    def torque_off(self) -> Goal:
        """The goal that releases the servos."""

    def listen(self, listener: StateListener[Goal] | None) -> None:
        """Pass every state to this one from now on."""
        self._listener = listener

    def send(self, now_ns: int, goal: Goal) -> None:
        """Publish a command, and copy it into the bag."""
        with self._sending:
            command = self.fill(goal)
            command.header.stamp = Time(nanoseconds=now_ns).to_msg()
            cdr = serialize_message(command)
            self._commands.publish(cdr)
        if self.sink is not None:
            self.sink(self.topics.commands, now_ns, cdr)

    def release(self) -> None:
        """Command torque off, whatever the state; from any thread."""
        self.send(self.now(), self.torque_off)

    def now(self) -> int:
        """Time on the node's clock, ns."""
        return int(self._clock.now().nanoseconds)

    def close(self) -> None:
        """End thread and node. Idempotent."""
        self._stopping = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()

    def __enter__(self: _Link) -> _Link:
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
        if self.is_wanted(configuration):
            self.configuration = configuration

    def _on_states(self, cdr: bytes) -> None:
        listener = self._listener  # before the time is read: it hears of no state from before it listened
        now = self.now()
        if self.sink is not None:
            self.sink(self.topics.states, now, cdr)
        states = deserialize_message(cdr, ServoStates)
        self._count(states)
        self.newest, self.heard = states, time.monotonic()
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
