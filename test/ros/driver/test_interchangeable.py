# SPDX-License-Identifier: Apache-2.0
"""One client, unchanged, on the driver of a virtual Dynamixel and on the simulator: it cannot tell which."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import SetGains
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from bam_core.errors import OutOfRange
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import Gains
from bam_ros.text.driver_notices import GainsAnswer, Rebooted
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import LATE, LONGEST_COMMAND_TIMEOUT, PATIENCE, VirtualServos

pytestmark = pytest.mark.ros

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def command_timeout() -> float:
    """Of the server, s; a test that is not about it has all the time that it needs."""
    return LONGEST_COMMAND_TIMEOUT


@pytest.fixture(params=["dynamixel", pytest.param("simulator", marks=pytest.mark.long)])
def server(
    request: pytest.FixtureRequest, ros_domain: int, command_timeout: float
) -> Iterator[subprocess.Popen[bytes]]:
    """An MX-106 with 0.5 kg on 0.15 m behind either node, which is called `servos`."""
    with contextlib.ExitStack() as stack:
        arguments: list[str] = []
        if request.param == "dynamixel":
            virtual = stack.enter_context(
                VirtualServos(servo="mx106", pendulum=PendulumBench(mass=0.5, length=0.15))
            )
            arguments = ["-p", f"port:={virtual.path}", "-p", "baud_rate:=1000000"]
            arguments += [word for name, value in LATE.items() for word in ("-p", f"{name}:={value}")]
        node = [sys.executable, "-m", f"bam_ros.{request.param}.node"]
        timeout = ["-p", f"command_timeout:={command_timeout}", "-p", "failures:=1000"]
        arguments = ["-r", "__node:=servos", "-p", "rate:=100.0", *timeout, *arguments]
        process = subprocess.Popen([*node, "--ros-args", *arguments])
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield process


class Client(RosClient):
    """What a program of a user does."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.joints: list[JointState] = []
        self.configurations: list[ServoConfiguration] = []
        self.diagnostics: list[DiagnosticStatus] = []
        sensor = qos_profile_sensor_data
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, sensor)
        self.node.create_subscription(JointState, "joint_states", self.joints.append, sensor)
        self.node.create_subscription(
            ServoConfiguration, "servo_configuration", self.configurations.append, LATCHED
        )
        self.node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda array: self.diagnostics.extend(array.status), 10
        )
        self._publishers = {
            ServoCommands: self.node.create_publisher(ServoCommands, "servo_commands", 1),
            JointState: self.node.create_publisher(JointState, "joint_command", 1),
        }
        self._wish: ServoCommands | JointState | None = None
        self._next_command = 0.0

    def while_waiting(self) -> None:
        if self._wish is not None and time.monotonic() > self._next_command:
            self._next_command = time.monotonic() + 0.02
            self._publishers[type(self._wish)].publish(self._wish)

    def wait_for(
        self,
        predicate: Callable[[], object],
        wish: ServoCommands | JointState | None = None,
        timeout: float = PATIENCE,
    ) -> None:
        """Send the wish over and over until the predicate is true."""
        self._wish = wish
        super().wait_for(predicate, timeout)

    def call(self, kind: type, name: str, request: object) -> Any:
        return super().call(kind, f"servos/{name}", request)

    def change_state(self, transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return bool(self.call(ChangeState, "change_state", request).success)

    def says(self, level: bytes, words: str) -> bool:
        return any(status.level == level and words in status.message for status in self.diagnostics)


@pytest.fixture
def client(server: subprocess.Popen[bytes], ros_domain: int) -> Iterator[Client]:
    client = Client(ros_domain)
    client.wait_for(lambda: client.states and client.joints and client.configurations)
    yield client
    client.close()


def command(position: float, torque: bool = True, name: str = "joint") -> ServoCommands:
    return ServoCommands(name=[name], torque_enabled=[torque], goal_position=[position])


def test_what_is_there(client: Client) -> None:
    configuration, state = client.configurations[-1], client.states[-1]
    assert (list(configuration.name), list(configuration.servo)) == (["joint"], ["mx106"])
    assert list(configuration.position_min) == pytest.approx([-math.pi], abs=0.01)
    assert list(configuration.position_max) == pytest.approx([math.pi], abs=0.01)
    assert list(state.name) == list(client.joints[-1].name) == ["joint"]
    assert list(state.torque_enabled) == [False]
    assert list(state.hardware_error) == [0]
    client.wait_for(lambda: len(client.states) > 30)
    stamps = [state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in client.states]
    assert all(later > earlier for earlier, later in itertools.pairwise(stamps))
    assert abs(time.time() - stamps[-1]) < PATIENCE  # of this epoch, not since the start
    assert all(b.sequence > a.sequence for a, b in itertools.pairwise(client.states))
    client.wait_for(lambda: client.says(DiagnosticStatus.OK, "torque off"))


def test_a_goal_is_reached_held_and_let_go(client: Client) -> None:
    client.wait_for(lambda: abs(client.states[-1].position[0] - 0.4) < 0.04, command(0.4))
    state = client.states[-1]
    assert list(state.torque_enabled) == [True]
    assert state.goal_position[0] == pytest.approx(0.4, abs=2e-3)
    assert 11.0 < state.voltage[0] < 16.0
    for refused in (command(7.0), command(math.inf), command(0.0, name="elbow")):
        count = len(client.states)
        client.wait_for(lambda count=count: len(client.states) > count + 5, refused)
        assert client.states[-1].goal_position[0] == pytest.approx(0.4, abs=2e-3)
    client.wait_for(lambda: not client.states[-1].torque_enabled[0], command(0.4, torque=False))


@pytest.mark.parametrize("command_timeout", [0.5])
def test_torque_goes_off_when_commands_stop_and_on_when_they_are_back(client: Client) -> None:
    client.wait_for(lambda: client.states[-1].torque_enabled[0], command(0.2))
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "command_timeout"))
    client.wait_for(lambda: client.states[-1].torque_enabled[0], command(0.2))


def test_joint_command_moves_the_joint_and_does_not_undo_torque_off(client: Client) -> None:
    wish = JointState(name=["joint", "of another driver"], position=[0.4, 0.1])
    client.wait_for(lambda: abs(client.states[-1].position[0] - 0.4) < 0.04, wish)
    assert list(client.states[-1].torque_enabled) == [True]
    client.wait_for(lambda: not client.states[-1].torque_enabled[0], command(0.4, torque=False))
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 10, wish)
    assert not client.states[-1].torque_enabled[0]


@pytest.mark.parametrize("command_timeout", [0.5])
def test_torque_goes_off_when_joint_command_stops(client: Client) -> None:
    client.wait_for(lambda: client.states[-1].torque_enabled[0], JointState(name=["joint"], position=[0.2]))
    client.wait_for(lambda: not client.states[-1].torque_enabled[0])
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "command_timeout"))


def test_gains_and_reboot(client: Client) -> None:
    answer = client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=16.0))
    kp16 = GainsAnswer(joint="joint", held=(16.0, 0.0, 0.0), wanted=(16.0, 0.0, 0.0))
    assert (answer.success, answer.message) == (True, str(kp16))
    assert not client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=-1.0)).success
    refused = client.call(SetGains, "set_gains", SetGains.Request(name="elbow", kp=16.0))
    assert "'elbow': unknown" in refused.message
    client.wait_for(lambda: client.states[-1].torque_enabled[0], command(0.2))
    assert client.call(Trigger, "reboot", Trigger.Request()).message == str(Rebooted(joints=("joint",)))
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 2)
    assert not client.states[-1].torque_enabled[0]


def test_a_gain_between_two_counts_is_refused(client: Client) -> None:
    answer = client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=7.3))
    assert not answer.success
    with pytest.raises(OutOfRange) as refused:
        Gains(kp=7.3, ki=0.0, kd=0.0).require_whole("joint")
    assert answer.message == str(refused.value)


def test_the_example_commands_a_joint(client: Client) -> None:
    example = subprocess.Popen(
        [sys.executable, "examples/command_servos.py", "servos"],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        client.wait_for(lambda: example.poll() is not None)
        said, errors = example.communicate()
    finally:
        example.kill()
    assert (example.returncode, errors) == (0, "")
    gains, there, back, reset = said.splitlines()
    kp32 = GainsAnswer(joint="joint", held=(32.0, 0.0, 0.0), wanted=(32.0, 0.0, 0.0))
    assert gains == f"set_gains: {kp32}"
    # Its own words: a client beside it may get no processor while the joint moves.
    for line, goal in ((there, 0.3), (back, 0.0)):
        at, wanted = re.fullmatch(r"joint: at (\S+) rad, goal (\S+) rad", line).groups()
        assert float(wanted) == pytest.approx(goal, abs=0.01)
        assert float(at) == pytest.approx(goal, abs=0.06)
    assert "rebooted" in reset
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 2)
    assert not client.states[-1].torque_enabled[0]


def test_the_life_cycle_and_its_end(client: Client, server: subprocess.Popen[bytes]) -> None:
    client.wait_for(lambda: client.states[-1].torque_enabled[0], command(0.2))
    assert client.change_state(Transition.TRANSITION_DEACTIVATE)
    assert not client.call(SetGains, "set_gains", SetGains.Request(name="joint", kp=16.0)).success
    assert client.change_state(Transition.TRANSITION_ACTIVATE)
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 2)
    assert not client.states[-1].torque_enabled[0]
    server.send_signal(signal.SIGINT)
    assert server.wait(PATIENCE) == 0


def test_the_end_of_the_life_cycle_ends_the_process(client: Client, server: subprocess.Popen[bytes]) -> None:
    client.wait_for(lambda: client.states[-1].torque_enabled[0], command(0.2))
    assert client.change_state(Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert server.wait(PATIENCE) == 0
