# SPDX-License-Identifier: Apache-2.0
"""The topics that a bag holds, with their types and qualities of service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml
from bam_bench.msg import BenchRun, ServoCommands, ServoStates
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from bam_core.recordings.bag_writer import BagTopic
from bam_core.recordings.message_definition import message_definition
from bam_ros.driver.servo_node import STATE_QOS

LISTEN_QOS = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""Goes with every publisher; deep enough for seconds of states."""
COMMAND_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
LATCHED_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)


def namespace_of(driver: str) -> str:
    """Return where the topics of a driver node are: what is before the last slash of its name."""
    return driver.rpartition("/")[0]


_FOREVER = {"sec": 9223372036, "nsec": 854775807}


@dataclass(frozen=True, kw_only=True)
class BenchTopics:
    """Full names of the topics, remapped as the node's are.

    Attributes:
        states: `bam_bench/msg/ServoStates` from the driver.
        joints: `sensor_msgs/msg/JointState` from the driver.
        commands: `bam_bench/msg/ServoCommands` to the driver.
        configuration: `bam_bench/msg/ServoConfiguration` from the driver, latched; not in the bag.
        run: `bam_bench/msg/BenchRun`, latched.
        diagnostics: `diagnostic_msgs/msg/DiagnosticArray` from everyone.
    """

    states: str
    joints: str
    commands: str
    configuration: str
    run: str
    diagnostics: str

    @classmethod
    def of(cls, node: Node, namespace: str = "") -> BenchTopics:
        """Resolve the names as `node` would, for a driver in a namespace below its own."""
        prefix = f"{namespace.rstrip('/')}/" if namespace else ""
        return cls(
            states=node.resolve_topic_name(f"{prefix}servo_states"),
            joints=node.resolve_topic_name(f"{prefix}joint_states"),
            commands=node.resolve_topic_name(f"{prefix}servo_commands"),
            configuration=node.resolve_topic_name(f"{prefix}servo_configuration"),
            run=node.resolve_topic_name(f"{prefix}bench_run"),
            diagnostics=node.resolve_topic_name("/diagnostics"),
        )

    def in_bag(self, *, has_run: bool = True) -> dict[str, BagTopic]:
        """Return what a bag has of each topic.

        Args:
            has_run: whether `run` is among them.

        Raises:
            BamError: a message package is not installed.
        """
        described: dict[str, tuple[Any, QoSProfile]] = {
            self.run: (BenchRun, LATCHED_QOS),
            self.states: (ServoStates, STATE_QOS),
            self.joints: (JointState, STATE_QOS),
            self.commands: (ServoCommands, COMMAND_QOS),
            self.diagnostics: (DiagnosticArray, QoSProfile(depth=10)),
        }
        return {
            topic: BagTopic(type_name(kind), message_definition(type_name(kind)), _qos_text(qos))
            for topic, (kind, qos) in described.items()
            if has_run or topic != self.run
        }


def type_name(kind: Any) -> str:
    """Return the ROS name of a message class, such as "bam_bench/msg/BenchRun"."""
    package, folder, *_ = kind.__module__.split(".")
    return f"{package}/{folder}/{kind.__name__}"


def _qos_text(qos: QoSProfile) -> str:
    """Quality of service as rosbag2 writes it, so that `ros2 bag play` offers the same."""
    best_effort = qos.reliability == ReliabilityPolicy.BEST_EFFORT
    latched = qos.durability == DurabilityPolicy.TRANSIENT_LOCAL
    profile = {
        "history": "keep_all" if qos.history == HistoryPolicy.KEEP_ALL else "keep_last",
        "depth": qos.depth,
        "reliability": "best_effort" if best_effort else "reliable",
        "durability": "transient_local" if latched else "volatile",
        "deadline": dict(_FOREVER),
        "lifespan": dict(_FOREVER),
        "liveliness": "automatic",
        "liveliness_lease_duration": dict(_FOREVER),
        "avoid_ros_namespace_conventions": False,
    }
    return yaml.safe_dump([profile], sort_keys=False)
