# SPDX-License-Identifier: Apache-2.0
"""What ros2_control does over topics, played: it drives a node, and the node lets go when it shall.

`Manager` does what a controller manager with `JointStateTopicSystem` 1.1.0 and one controller was seen to do
with our nodes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from bam_bench.msg import ServoCommands
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState

from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.servo_node import ServoNode
from test.ros.fake_about import FAKE_ABOUT
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import FakeBus

pytestmark = pytest.mark.ros

JOINTS = ("shoulder", "elbow")
TIMEOUT = 0.2  # s
PERIOD = 0.01  # s; update_rate 100
AT = 0.2  # rad, where the arm is at first
_LOST = 5.0  # s after which a message is sent again that the node has not taken


class ManagedBus(FakeBus):
    """A bus on the time of a manager, whose cycles take PERIOD however long the machine takes for them."""

    def __init__(self, names: tuple[str, ...], position: float) -> None:
        super().__init__(names, position)
        self.time = 100.0  # s

    def now(self) -> float:
        return self.time


class FakeNode(ServoNode):
    """The real servo node; `taken` is the number of the newest message of the manager that it took."""

    ABOUT = FAKE_ABOUT

    def __init__(self, bus: FakeBus, **arguments: Any) -> None:
        self._fake = bus
        self.taken = 0
        super().__init__("servos", **arguments)

    def create_bus(self) -> ServoBus:
        return self._fake

    def _on_joint_command(self, message: JointState) -> None:
        super()._on_joint_command(message)
        self.taken = max(self.taken, message.header.stamp.sec)


class Manager(RosClient):
    """Sends the command of every joint in every cycle, NaN where no controller has commanded yet.

    A cycle waits until the node has taken the command of the last one, then the time of the bus goes on.

    Args:
        domain: of ROS 2.
        bus: whose time it advances.

    Attributes:
        active: whether the hardware is.
        state: positions as the controllers see them; NaN before the first message.
        command: of the controllers, which outlives them.
    """

    def __init__(self, domain: int, bus: ManagedBus) -> None:
        super().__init__(domain)
        self.bus = bus
        self.active = True
        self.state = dict.fromkeys(JOINTS, math.nan)
        self.command = dict.fromkeys(JOINTS, math.nan)
        self.writes = 0
        self._next = 0.0
        self._commands = self.node.create_publisher(JointState, "joint_command", QoSProfile(depth=1))
        self.node.create_subscription(JointState, "joint_states", self._read, qos_profile_sensor_data)
        self.servo_commands = self.node.create_publisher(ServoCommands, "servo_commands", 10)

    @property
    def finds_node(self) -> bool:
        found = self._commands.get_subscription_count() and self.servo_commands.get_subscription_count()
        return bool(found) and not any(math.isnan(position) for position in self.state.values())

    def _read(self, message: JointState) -> None:
        for index, name in enumerate(message.name):
            for values in (message.velocity, message.effort):
                assert len(values) in (0, len(message.name))  # else `at` ends the manager
            if math.isfinite(message.position[index]):
                self.state[name] = message.position[index]

    def while_waiting(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        is_taken = not self.active or self._node_has(self.writes)
        if not is_taken and now < self._next + _LOST:
            return
        self._next = now + PERIOD
        if is_taken:
            self.bus.time += PERIOD
            self.writes += self.active
        if self.active:
            message = JointState(name=list(JOINTS), position=list(self.command.values()))
            message.header.stamp.sec = self.writes
            self._commands.publish(message)

    def _node_has(self, number: int) -> bool:
        """Whether the node took the message of this number; so it is while it has not found this client."""
        node = self.nodes[-1]
        return not isinstance(node, FakeNode) or not node.taken or node.taken >= number

    def run(self, cycles: int = 5) -> None:
        end = self.writes + cycles
        self.wait_for(lambda: self.writes >= end)

    def restart(self) -> None:
        """Start anew, with what a new process knows."""
        self.active, self.command = True, dict.fromkeys(JOINTS, math.nan)

    def hold(self) -> None:
        """A controller is activated, and holds the arm where it is."""
        self.command = dict(self.state)


@pytest.fixture
def bus() -> ManagedBus:
    return ManagedBus(JOINTS, AT)


@pytest.fixture
def manager(bus: ManagedBus, ros_domain: int) -> Iterator[Manager]:
    manager = Manager(ros_domain, bus)
    timeout = Parameter("command_timeout", value=TIMEOUT)
    node = FakeNode(bus, context=manager.context, parameter_overrides=[timeout])
    manager.add(node)
    node.start()
    manager.wait_for(lambda: manager.finds_node)
    yield manager
    node.close()
    manager.close()


def test_it_drives_the_arm_without_a_jump_and_its_end_lets_go(
    manager: Manager, bus: ManagedBus, capfd: pytest.CaptureFixture[str]
) -> None:
    manager.run()
    assert bus.torque == [False, False]  # no controller: NaN
    manager.hold()
    manager.wait_for(lambda: bus.torque == [True, True])
    assert {goal.position for goal in bus.goals if all(goal.torque_enable)} == {(AT, AT)}
    manager.command["shoulder"] = 0.5
    manager.wait_for(lambda: bus.position == [0.5, AT])
    manager.run(int(2.0 * TIMEOUT / PERIOD))  # a controller is deactivated: its last command is sent on
    assert bus.torque == [True, True]
    assert capfd.readouterr().err == ""
    manager.active = False
    manager.wait_for(lambda: bus.torque == [False, False])
    manager.restart()
    manager.run()
    assert bus.torque == [False, False]
    bus.position[:] = [0.1, 0.1]  # the arm has fallen meanwhile
    manager.wait_for(lambda: manager.state == {"shoulder": 0.1, "elbow": 0.1})
    manager.hold()
    manager.wait_for(lambda: bus.torque == [True, True])
    assert bus.position == [0.1, 0.1]


def test_torque_off_lasts_until_the_hardware_has_been_inactive(manager: Manager, bus: ManagedBus) -> None:
    manager.hold()
    manager.wait_for(lambda: bus.torque == [True, True])
    off = ServoCommands(name=JOINTS, torque_enabled=[False, False], goal_position=[math.nan, math.nan])
    manager.servo_commands.publish(off)
    manager.wait_for(lambda: bus.torque == [False, False])
    manager.run(int(3.0 * TIMEOUT / PERIOD))
    assert bus.torque == [False, False]
    manager.active = False
    end = bus.time + 1.5 * TIMEOUT
    manager.wait_for(lambda: bus.time > end)
    manager.active = True
    manager.wait_for(lambda: bus.torque == [True, True])


def test_a_goal_beyond_the_limits_lets_go_which_is_why_the_manager_enforces_them(
    manager: Manager, bus: ManagedBus
) -> None:
    manager.hold()
    manager.wait_for(lambda: bus.torque == [True, True])
    manager.command["elbow"] = -3.2
    manager.wait_for(lambda: bus.torque == [True, False])
    manager.command["elbow"] = 0.1
    manager.wait_for(lambda: bus.position[1] == 0.1)


def test_commands_that_come_faster_than_they_are_taken_do_not_queue_up(
    manager: Manager, bus: ManagedBus
) -> None:
    manager.hold()
    manager.wait_for(lambda: bus.torque == [True, True])
    node = manager.nodes[-1]
    (subscription,) = (each for each in node.subscriptions if each.topic_name == "/joint_command")
    turns: list[JointState] = []
    take = subscription.callback

    def counted(message: JointState) -> None:
        turns.append(message)
        take(message)

    subscription.callback = counted
    fast = manager.node.create_publisher(JointState, "joint_command", 1000)
    manager.wait_for(fast.get_subscription_count)
    manager.active = False
    both = JointState(name=list(JOINTS), position=[0.3, -0.3])
    for _ in range(300):
        fast.publish(both)
        fast.publish(JointState(name=["shoulder"], position=[-0.3]))
    fast.publish(both)  # the newest entry of each joint counts
    manager.wait_for(lambda: bus.position == [0.3, -0.3])
    manager.wait_for(lambda: bus.torque == [False, False])  # all is taken by then
    assert bus.position == [0.3, -0.3]
    assert len(turns) < 100
