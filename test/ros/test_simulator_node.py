# SPDX-License-Identifier: Apache-2.0
"""The simulator looks like a driver to its clients, and can be paused, stepped, reset and reloaded."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

import pytest
import rclpy
from bam_bench.msg import ServoCommands, ServoStates
from bam_bench.srv import SetGains, SetLoad
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from bam_core.errors import BamError
from bam_ros.simulator.node import SimulatorNode

pytestmark = pytest.mark.ros


class Client:
    """A client of a simulator that runs in the same process or in another one."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.node = Node("client", context=self.context)
        self.executor.add_node(self.node)
        self.states: list[ServoStates] = []
        self.joints: list[JointState] = []
        self.clock: list[Clock] = []
        self.descriptions: list[String] = []
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        sensor = qos_profile_sensor_data
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, sensor)
        self.node.create_subscription(JointState, "joint_states", self.joints.append, sensor)
        self.node.create_subscription(Clock, "/clock", self.clock.append, 10)
        self.node.create_subscription(String, "robot_description", self.descriptions.append, latched)
        self.commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)
        self.simulator: SimulatorNode | None = None
        self.wish: tuple[bool, float] | None = None
        self._next_command = 0.0

    def start(self, **parameters: object) -> None:
        # Client and simulator share one thread here: a rate that leaves time for both.
        parameters = {"rate": 100.0, **parameters}
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        self.simulator = SimulatorNode(context=self.context, parameter_overrides=overrides)
        self.executor.add_node(self.simulator)
        self.simulator.start()

    def wait_for(self, predicate: Callable[[], object], timeout: float = 15.0) -> None:
        deadline = time.monotonic() + timeout
        while not predicate():
            assert time.monotonic() < deadline, "not in time"
            # Whoever publishes without a pause keeps the interpreter from the simulator's thread.
            if self.wish is not None and time.monotonic() > self._next_command:
                self._next_command = time.monotonic() + 0.02
                torque, position = self.wish
                self.commands.publish(
                    ServoCommands(name=["joint"], torque_enable=[torque], position=[position])
                )
            self.executor.spin_once(timeout_sec=0.01)

    def connect(self) -> None:
        self.wait_for(lambda: self.states and self.joints and self.commands.get_subscription_count())

    def wait_for_position(self, position: float, tolerance: float = 0.03) -> None:
        self.wait_for(lambda: abs(self.states[-1].position[0] - position) < tolerance)

    def call(self, service_type: type, name: str, request: object) -> object:
        client = self.node.create_client(service_type, f"simulator/{name}")
        self.wait_for(client.service_is_ready)
        future = client.call_async(request)
        self.wait_for(future.done)
        return future.result()

    def close(self) -> None:
        if self.simulator is not None:
            self.simulator.close()
            self.simulator.destroy_node()
        self.node.destroy_node()
        self.executor.shutdown()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    client = Client(ros_domain)
    yield client
    client.close()


def test_joint_states_follow_a_goal(client: Client) -> None:
    client.start()
    client.connect()
    client.wish = (True, 0.5)
    client.wait_for_position(0.5)
    state = client.states[-1]
    assert list(state.torque_enabled) == [True]
    assert list(state.name) == list(client.joints[-1].name) == ["joint"]
    stamp = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
    assert abs(time.time() - stamp) < 0.5
    client.wish = (False, math.nan)
    client.wait_for_position(0.0, 0.2)


def test_torque_goes_off_when_commands_stop(client: Client) -> None:
    client.start(command_timeout=0.2)
    client.connect()
    client.wish = (True, 0.3)
    client.wait_for(lambda: client.states[-1].torque_enabled[0])
    client.wish = None
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])


def test_pause_step_and_reset(client: Client) -> None:
    client.start(initial_position=[0.8], publish_clock=True)
    client.connect()
    client.wish = (True, 0.0)
    client.wait_for_position(0.0, 0.1)
    client.wish = None
    assert not client.call(Trigger, "step", Trigger.Request()).success
    assert client.call(SetBool, "pause", SetBool.Request(data=True)).success
    held, count = client.states[-1].position[0], len(client.states)
    client.wait_for(lambda: len(client.states) > count + 20)
    assert client.states[-1].position[0] == pytest.approx(held, abs=0.01)
    stamp = client.states[-1].header.stamp
    assert client.states[-5].header.stamp == stamp
    assert client.call(Trigger, "step", Trigger.Request()).success
    client.wait_for(lambda: client.states[-1].header.stamp != stamp)
    assert client.states[-1].header.stamp.nanosec - stamp.nanosec in (1_000_000, 1_000_000 - 10**9)
    assert client.call(Trigger, "reset", Trigger.Request()).success
    client.wait_for_position(0.8, 0.01)
    assert not client.states[-1].torque_enabled[0]
    assert client.call(SetBool, "pause", SetBool.Request(data=False)).success
    client.wait_for(lambda: client.clock)
    times = [message.clock.sec + 1e-9 * message.clock.nanosec for message in client.clock]
    assert times == sorted(times)


def test_gains_and_loads_can_be_changed(client: Client) -> None:
    client.start()
    client.connect()
    answer = client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=16.0))
    assert answer.success, answer.message
    assert not client.call(SetGains, "set_gains", SetGains.Request(name="elbow", kp=16.0)).success
    assert client.call(SetLoad, "set_load", SetLoad.Request(mass=1.0, length=0.2)).success
    client.wait_for(lambda: client.descriptions and 'value="1"' in client.descriptions[-1].data)
    refused = client.call(SetLoad, "set_load", SetLoad.Request(mass=-1.0, length=0.2))
    assert not refused.success
    assert "bench mass: is -1.0" in refused.message


def test_the_description_is_a_urdf_of_the_bench(client: Client) -> None:
    client.start(joint_names=["servo_1"], mass=0.3)
    client.wait_for(lambda: client.descriptions)
    robot = ElementTree.fromstring(client.descriptions[-1].data)
    assert robot.find("joint").get("name") == "servo_1"
    client.wait_for(lambda: client.joints)
    assert list(client.joints[-1].name) == ["servo_1"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"servos": ["mx107"]}, "servo 'mx107': unknown"),
        ({"model": "nowhere.urdf"}, "nowhere.urdf: no such file"),
        ({"joint_names": ["a", "a"]}, "joint_names: "),
        ({"servos": ["mx64", "mx106"]}, "servos: 2 entries for 1 joint_names"),
        ({"timestep": 0.05}, "time step of 0.05 s is unstable"),
    ],
)
def test_a_wrong_parameter_is_one_line(client: Client, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(BamError) as error:
        client.start(**parameters)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_another_process_is_driven_and_ends_with_sigint(client: Client) -> None:
    command = [sys.executable, "-m", "bam_ros.simulator.node", "--ros-args", "-p", "mass:=0.2"]
    process = subprocess.Popen(command, env=os.environ)
    try:
        client.connect()
        client.wish = (True, 0.4)
        client.wait_for_position(0.4)
        process.send_signal(signal.SIGINT)
        assert process.wait(10.0) == 0
    finally:
        process.kill()
        process.wait()
