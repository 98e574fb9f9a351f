# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node as a process of its own, on virtual servos: it follows, refuses, and lets go."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from bam_bench.srv import SetGains
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.errors import BamError, OutOfRange, UnknownName, WrongShape
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.servo_bus import ServoBus, ServoIdentity
from bam_ros.dynamixel.control_table import control_table
from bam_ros.dynamixel.errors import NoMode
from bam_ros.emulators import bench_physics as physics
from bam_ros.feedforward.bus import FeedForwardBus
from bam_ros.feedforward.node import FeedForwardNode
from bam_ros.feedforward.settings import FeedForwardSettings
from bam_ros.node.running_node import destroy_nodes
from test.ros.ros_client import RosClient, SpinningThread
from test.ros.ros_helpers import (
    LATE,
    LONGEST_COMMAND_TIMEOUT,
    PATIENCE,
    FakeBus,
    VirtualServos,
    bus_is_well,
    client_maker,
)

pytestmark = pytest.mark.ros

NAMES = ["hip", "knee"]
LOAD = PendulumBench(mass=0.2, length=0.1)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Process = subprocess.Popen[str]


class Client(RosClient):
    """Keeps torque on while it waits, unless told otherwise."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.configurations: list[ServoConfiguration] = []
        self.diagnostics: list[DiagnosticStatus] = []
        node = self.node
        node.create_subscription(ServoStates, "servo_states", self.states.append, qos_profile_sensor_data)
        node.create_subscription(
            ServoConfiguration, "servo_configuration", self.configurations.append, LATCHED
        )
        node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda array: self.diagnostics.extend(array.status), 10
        )
        self._commands = node.create_publisher(ServoCommands, "servo_commands", 1)
        self.trajectories = node.create_publisher(JointTrajectory, "feedforward/joint_trajectory", 10)
        self._next_command = 0.0
        self._torque = True

    def command(self, on: bool = True, position: float = math.nan, names: list[str] = NAMES) -> None:
        self._commands.publish(
            ServoCommands(name=names, torque_enabled=[on] * len(names), goal_position=[position] * len(names))
        )

    def while_waiting(self) -> None:
        if self._torque and time.monotonic() > self._next_command:
            self._next_command = time.monotonic() + 0.02
            self.command()

    def wait_for(
        self, predicate: Callable[[], object], timeout: float = PATIENCE, torque: bool = True
    ) -> None:
        self._torque = torque
        super().wait_for(predicate, timeout)

    def wait(self, seconds: float) -> None:
        """Keep torque on for a while."""
        end = time.monotonic() + seconds
        self.wait_for(lambda: time.monotonic() > end)

    def switch_on(self) -> None:
        self.wait_for(lambda: self.states and all(self.states[-1].torque_enabled))
        self.wait_for(lambda: self.trajectories.get_subscription_count() == 1)

    def send(
        self,
        rows: list[list[float]],
        times: list[float],
        velocities: list[list[float]] | None = None,
        ahead: float | None = None,
    ) -> None:
        """Send points, beginning at once, or so many seconds ahead."""
        points = []
        for number, (row, at) in enumerate(zip(rows, times, strict=True)):
            point = JointTrajectoryPoint(positions=row)
            point.time_from_start = Duration(sec=int(at), nanosec=round(at % 1.0 * 1e9))
            if velocities is not None:
                point.velocities = velocities[number]
            points.append(point)
        message = JointTrajectory(joint_names=NAMES, points=points)
        if ahead is not None:
            begin = self.node.get_clock().now().nanoseconds + round(ahead * 1e9)
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 1_000_000_000)
        self.trajectories.publish(message)

    def follow(self, rows: list[list[float]], times: list[float]) -> None:
        """Send points; again where the machine was so busy that the node could not plan them in time."""
        while not self.offer(rows, times):
            assert self.says(DiagnosticStatus.WARN, "is not planned within"), self.said()

    def offer(self, rows: list[list[float]], times: list[float]) -> bool:
        """Send points once, and return whether they were accepted; the diagnostics say why not."""
        before = self.trajectory_counts()
        self.diagnostics.clear()
        self.send(rows, times)
        self.wait_for(lambda: self.trajectory_counts() not in ((0, 0), before))
        return self.trajectory_counts()[0] > before[0]

    def trajectory_counts(self) -> tuple[int, int]:
        """How many were accepted and refused, as last heard."""
        return int(self.figure("trajectories accepted") or 0), int(self.figure("trajectories refused") or 0)

    def set_in_motion(self, virtual: VirtualServos) -> None:
        """Have both joints swing; over again where the machine stood still and torque went, or was late.

        The newest state may be of before that, so the node and the servos themselves are asked, too.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            self.switch_on()
            if self.offer([[1.2, -1.2]], [3.0]):
                self.wait_for(lambda: self.states[-1].goal_position[0] > 0.3 or not self.holds())
                if self.holds() and any(duties(virtual)):
                    return
            assert time.monotonic() < deadline, self.said()
            self.switch_off(time.monotonic() + 0.5)

    def switch_off(self, until: float) -> None:
        def off() -> bool:
            self.command(on=False)
            return time.monotonic() > until and not any(self.states[-1].torque_enabled)

        self.wait_for(off, torque=False)

    def holds(self) -> bool:
        return all(self.states[-1].torque_enabled)

    def said(self) -> str:
        return "; ".join(dict.fromkeys(status.message for status in self.diagnostics))

    def says(self, level: bytes, words: str) -> bool:
        return any(status.level == level and words in status.message for status in self.diagnostics)

    def figure(self, name: str) -> str:
        """The newest value of a figure."""
        values = (v.value for status in reversed(self.diagnostics) for v in status.values if v.key == name)
        return next(values, "")


@pytest.fixture
def start(ros_domain: int) -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def make(port: str, *, ready: bool = True, **parameters: object) -> Process:
        # The emulator shares this process with the client: it answers late now and then.
        patient = {"rate": 100.0, "failures": 1000, "command_timeout": LONGEST_COMMAND_TIMEOUT, **LATE}
        bus = {"port": port, "baud_rate": 1_000_000, "ids": [1, 2], "joint_names": NAMES}
        values = {**bus, **patient, **parameters}
        arguments = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
        command = [sys.executable, "-m", "bam_ros.feedforward.node", "--ros-args", *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
        processes.append(process)
        if ready:
            assert process.stderr is not None
            assert "fed forward in PWM mode" in process.stderr.readline()
        return process

    yield make
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def virtual(virtual_servos: Callable[..., VirtualServos]) -> VirtualServos:
    return virtual_servos(servo="mx64_2", ids=(1, 2), pendulum=LOAD)


@pytest.fixture
def make_client(ros_domain: int) -> Iterator[Callable[[], Client]]:
    """Make clients once the node is up: participants that start together take 3 s to find each other."""
    with client_maker(Client, ros_domain) as make:
        yield make


MakeClient = Callable[[], Client]
Start = Callable[..., Process]


def released(virtual: VirtualServos) -> bool:
    return not any(servo.torque_enabled for servo in virtual.bus.servos)


def check_no_jump(states: list[ServoStates], speed: float) -> None:
    """Goals of states with torque move no faster than this, rad/s, however many states were lost.

    A goal is as old as the answer that its state comes with: where the driver had to wait for its turn in
    between, the stamp is late, and the next one seems to come too soon after it.
    """
    moving = [state for state in states if all(state.torque_enabled)]
    goals = np.array([state.goal_position for state in moving])
    stamps = np.array([state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec for state in moving])
    passed = stamps[1:] - np.concatenate((stamps[:1], stamps[:-2]))
    jumps = np.flatnonzero((np.abs(np.diff(goals, axis=0)) > speed * passed[:, None] + 0.01).any(axis=1))
    assert not len(jumps), [(stamps[k - 2 : k + 4] - stamps[k], goals[k - 2 : k + 4]) for k in jumps]


def duties(virtual: VirtualServos) -> list[int]:
    return [servo.registers.get("goal_pwm") for servo in virtual.bus.servos]


def test_a_trajectory_is_followed_and_its_end_held(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, command_timeout=5.0, following_error=3.0)  # a machine that stalls is no fault here
    client = make_client()
    client.switch_on()
    client.wait_for(lambda: client.configurations)
    assert list(client.configurations[-1].servo) == ["mx64_2", "mx64_2"]
    client.follow([[0.6, -0.3], [0.2, 0.1]], [2.0, 4.0])
    client.wait_for(lambda: any(state.goal_position[0] > 0.55 for state in client.states))
    client.wait_for(lambda: client.states[-1].goal_position[0] < 0.2 + 1e-6)
    client.wait(0.5)
    # How closely it is followed on the way depends on the machine: see test_feedforward_virtual.py.
    moving = [state for state in client.states if all(state.torque_enabled)]
    assert list(client.states[-1].position) == pytest.approx([0.2, 0.1], abs=0.03)
    check_no_jump(moving, 3.0)
    client.wait_for(lambda: client.figure("trajectories accepted") == "1")
    assert math.isfinite(float(client.figure("delay [ms]")))
    # Torque goes with the commands, and comes back where the servo is then.
    client.wait_for(lambda: released(virtual), torque=False)
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "command_timeout"), torque=False)
    client.switch_on()
    place, goal = client.states[-1].position, client.states[-1].goal_position
    assert list(goal) == pytest.approx(list(place), abs=0.1)


class OnMotors(FeedForwardNode):
    """The node with servos that reach their goals at once."""

    def create_bus(self) -> ServoBus:
        motors = FakeBus(tuple(NAMES), period=2e-3)
        motors.servos = [ServoIdentity(servo="mx64_2", id=1)] * len(NAMES)
        return FeedForwardBus(
            motors, FeedForwardSettings(servos=[""] * len(NAMES), limits=[(-1.0, 1.0)] * len(NAMES))
        )


@pytest.mark.parametrize(
    "message",
    [
        ServoCommands(name=["knee"], torque_enabled=[False], goal_position=[math.nan]),
        ServoCommands(name=NAMES, torque_enabled=[False, False], goal_position=[0.1, 0.2]),
        ServoCommands(name=NAMES, torque_enabled=[True, False], goal_position=[math.nan, math.nan]),
        ServoCommands(name=["knee", "elbow"], torque_enabled=[False, True], goal_position=[0.1, 30.0]),
    ],
    ids=["one joint", "with positions", "on and off", "beside what is wrong"],
)
def test_torque_off_of_any_joint_is_torque_off_of_all(
    ros_domain: int, message: ServoCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Context()
    context.init(domain_id=ros_domain)
    node = OnMotors(context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        node.start()
        taken: list[dict[int, JointCommand]] = []
        monkeypatch.setattr(node._loop, "take", taken.append)
        node._on_commands(message)
        assert [{joint: command.torque_enable for joint, command in each.items()} for each in taken] == [
            {0: False, 1: False}
        ]
    finally:
        node.close()
        destroy_nodes(executor, node)
        context.try_shutdown()


def test_commands_are_taken_while_a_trajectory_is_planned(
    ros_domain: int, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    planning, planned = threading.Event(), threading.Event()

    def plan(*_: object) -> None:
        planning.set()
        assert planned.wait(PATIENCE)

    monkeypatch.setattr(FeedForwardBus, "follow", plan)
    context = Context()
    context.init(domain_id=ros_domain)
    node = OnMotors(context=context)
    spinning = SpinningThread(SingleThreadedExecutor(context=context), node)
    try:
        node.start()
        client = make_client()
        client.wait_for(lambda: client.trajectories.get_subscription_count() == 1)
        client.send([[0.1, 0.1]], [1.0])
        client.wait_for(planning.is_set)
        assert node._loop is not None
        streams = node._loop._streams
        taken = streams.number
        client.wait_for(lambda: streams.number > taken + 5)
    finally:
        planned.set()
        node.close()
        spinning.close()
        context.try_shutdown()


def test_what_is_refused_is_published_with_the_reason_and_changes_nothing(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, limits=[-math.pi, 1.0], speed_limit=3.0)
    client = make_client()
    client.wait_for(lambda: client.trajectories.get_subscription_count() == 1, torque=False)
    client.wait_for(lambda: client.states, torque=False)
    client.send([[0.1, 0.1]], [4.0])
    client.wait_for(lambda: client.says(DiagnosticStatus.WARN, "torque is off"), torque=False)
    client.switch_on()
    held = list(client.states[-1].goal_position)
    bad: list[tuple[Callable[[], None], str]] = [
        (lambda: client.send([[0.1, math.nan]], [1.0]), "positions of point 0, joint 'knee': is nan"),
        (lambda: client.send([[0.5, 0.0], [0.6, 0.0]], [0.0, 1.0]), "jump of position of joint 'hip': "),
        (lambda: client.send([[0.0, 0.0], [0.1, 0.0]], [0.0, 1.0], ahead=-3.0), "too early to be planned"),
        (lambda: client.send([[0.1, 0.0]], [1.0], ahead=100.0), "ahead (expected at most 60 s)"),
        (lambda: client.send([[1.2, 0.0]], [3.0]), "position of joint 'hip': "),
        (lambda: client.send([[0.9, 0.0]], [0.2]), "velocity of joint 'hip': "),
        (
            lambda: client.trajectories.publish(
                JointTrajectory(joint_names=["hip"], points=[JointTrajectoryPoint(positions=[0.1])])
            ),
            "joint_names: is hip (expected hip, knee, each once)",
        ),
    ]
    for count, (send, reason) in enumerate(bad, 2):
        send()
        client.wait_for(
            lambda reason=reason: any(
                "refused: " in status.message and reason in status.message for status in client.diagnostics
            )
        )
        client.wait_for(lambda count=count: client.figure("trajectories refused") == str(count))
    assert list(client.states[-1].goal_position) == pytest.approx(held, abs=1e-9)
    client.command(position=0.3)  # not from here
    client.command(names=["hip"])
    client.wait(0.2)
    assert list(client.states[-1].goal_position) == pytest.approx(held, abs=1e-9)
    client.follow([[0.1, 0.1]], [2.0])
    assert client.figure("trajectories accepted") == "1"
    client.diagnostics.clear()
    client.wait_for(lambda: bus_is_well(s for s in client.diagnostics if "refused" not in s.message))


@pytest.mark.parametrize(
    "way", ["SIGINT", *(pytest.param(way, marks=pytest.mark.long) for way in ("SIGKILL", "SIGSTOP"))]
)
def test_servos_are_let_go_of_whatever_becomes_of_the_node(
    way: str, virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    process = start(virtual.path)
    client = make_client()
    client.set_in_motion(virtual)
    os.kill(process.pid, getattr(signal, way))
    if way == "SIGSTOP":
        # The servos' own watchdogs brake them, before the guardian takes their torque.
        client.wait_for(
            lambda: all(s.registers.get("bus_watchdog") < 0 for s in virtual.bus.servos) or released(virtual),
            torque=False,
        )
    client.wait_for(lambda: released(virtual), torque=False)
    if way == "SIGINT":
        _, log = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert "Traceback" not in log


@pytest.mark.long
def test_a_joint_that_is_blocked_ends_torque_until_torque_off_is_commanded(
    virtual: VirtualServos, start: Start, make_client: MakeClient
) -> None:
    start(virtual.path, following_error=0.15, duty_limit=0.5)
    client = make_client()
    client.switch_on()
    block = PendulumBench(mass=30.0, length=0.3)  # nothing lifts it
    virtual.bus.servos[1].bench._parameters[physics.GRAVITY_TORQUE] = block.gravity_torque
    client.follow([[0.2, 0.8]], [4.0])
    client.wait_for(lambda: client.says(DiagnosticStatus.ERROR, "knee: is "))
    assert released(virtual)
    client.wait(0.3)  # the stream goes on
    assert released(virtual)
    virtual.bus.servos[1].bench._parameters[physics.GRAVITY_TORQUE] = LOAD.gravity_torque

    def acknowledged() -> bool:
        client.command(on=False)
        return bus_is_well(client.diagnostics)

    client.diagnostics.clear()
    client.wait_for(acknowledged, torque=False)
    client.switch_on()


@pytest.mark.long
def test_gains_and_reboot_are_served(virtual: VirtualServos, start: Start, make_client: MakeClient) -> None:
    start(virtual.path)
    client = make_client()
    client.switch_on()
    for kind, name, request in (
        (SetGains, "set_gains", SetGains.Request(name="knee", kp=24.0, ki=0.5)),
        (Trigger, "reboot", Trigger.Request()),
    ):
        service = client.node.create_client(kind, f"feedforward/{name}")
        client.wait_for(service.service_is_ready)
        answer = service.call_async(request)
        client.wait_for(answer.done)
        assert answer.result().success, answer.result().message
    # Torque was asked for during the reboot: it stays off until the client has noticed.
    client.diagnostics.clear()

    def acknowledged() -> bool:
        client.command(on=False)
        return bus_is_well(client.diagnostics)

    client.wait_for(acknowledged, torque=False)
    client.switch_on()


@pytest.mark.long
def test_a_servo_without_pwm_mode_ends_the_node_with_one_line_and_status_2(
    start: Start, virtual_servos: Callable[..., VirtualServos]
) -> None:
    old = virtual_servos(servo="mx64", ids=(1, 2), pendulum=LOAD)
    process = start(old.path, ready=False)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert log == f"{NoMode('hip', control_table('mx64'), CommandKind.DUTY)}\n"
    assert released(old)


@pytest.mark.parametrize(
    ("parameters", "kind", "named"),
    [
        ({"following_error": 0.0}, OutOfRange, "following_error"),
        ({"resume": 1.0}, BamError, "opposition resume"),
        ({"limits": [0.1, 0.2, 0.3]}, WrongShape, "limits"),
        ({"limits": [0.2, 0.1]}, OutOfRange, "limits"),
        ({"servos": ["mx64", "mx64"]}, WrongShape, "servos"),
        ({"gain": 1.0}, UnknownName, "parameter 'gain'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    parameters: dict[str, Any], kind: type[BamError], named: str, ros_domain: int
) -> None:
    context = Context()
    context.init(domain_id=ros_domain)
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    try:
        with pytest.raises(kind, match=named):
            FeedForwardNode(context=context, parameter_overrides=overrides).start()
    finally:
        context.try_shutdown()
