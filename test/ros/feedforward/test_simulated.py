# SPDX-License-Identifier: Apache-2.0
"""The feed-forward node with simulated servos: trajectories in simulated time, pauses, `/clock`."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from builtin_interfaces.msg import Duration, Time
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.errors import BamError, UnknownName, Unsupported
from bam_ros.feedforward.node import FeedForwardNode
from test.ros.ros_client import RosClient
from test.ros.ros_helpers import PATIENCE

pytestmark = pytest.mark.ros

NAMES = ["shoulder", "elbow"]
ROBOT = Path(__file__).parents[3] / "config" / "robots" / "dynamixel_2r.xml"
PARAMETERS = {
    "driver": "simulator",
    "joint_names": NAMES,
    "servos": ["mx106", "mx64"],
    "model": str(ROBOT),
    "publish_clock": True,
    "command_timeout": 60.0,  # simulated; the client's stream comes in wall time
}
GOAL = [0.5, -0.3]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Client(RosClient):
    """Asks for torque on both joints while it waits."""

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.states: list[ServoStates] = []
        self.clock: list[Clock] = []
        self.configurations: list[ServoConfiguration] = []
        self.node.create_subscription(ServoStates, "servo_states", self.states.append, 10)
        self.node.create_subscription(Clock, "/clock", self.clock.append, 1)
        self.node.create_subscription(
            ServoConfiguration, "servo_configuration", self.configurations.append, LATCHED
        )
        self._commands = self.node.create_publisher(ServoCommands, "servo_commands", 1)
        self.trajectories = self.node.create_publisher(JointTrajectory, "feedforward/joint_trajectory", 10)
        self.fed: FeedForwardNode | None = None
        self._next_command = 0.0

    def start(self, **parameters: object) -> None:
        overrides = [Parameter(name, value=value) for name, value in {**PARAMETERS, **parameters}.items()]
        self.fed = FeedForwardNode(context=self.context, parameter_overrides=overrides)
        self.add(self.fed)
        self.fed.start()

    def while_waiting(self) -> None:
        if time.monotonic() > self._next_command:
            self._next_command = time.monotonic() + 0.02
            self._commands.publish(
                ServoCommands(name=NAMES, torque_enabled=[True] * 2, goal_position=[math.nan] * 2)
            )

    def switch_on(self) -> None:
        self.wait_for(lambda: self.states and all(self.states[-1].torque_enabled))
        self.wait_for(lambda: self.trajectories.get_subscription_count() == 1)

    def send(self, positions: list[float], lasts: float) -> None:
        """Send both joints somewhere, rad, within so many s from now on."""
        message = JointTrajectory(joint_names=NAMES)
        whole = int(lasts)
        end = Duration(sec=whole, nanosec=round((lasts - whole) * 1e9))
        message.points = [JointTrajectoryPoint(positions=positions, time_from_start=end)]
        self.trajectories.publish(message)

    def go(self, stamp: float = 0.0) -> None:
        """Send both joints to their goals within a second from a time on."""
        message = JointTrajectory(joint_names=NAMES)
        message.header.stamp = Time(sec=int(stamp), nanosec=round(stamp % 1.0 * 1e9))
        message.points = [JointTrajectoryPoint(positions=GOAL, time_from_start=Duration(sec=1))]
        self.trajectories.publish(message)

    def send_piece(self, place: np.ndarray, rate: np.ndarray, begin: float, lasts: float) -> None:
        """Send one piece, (2, 2) rad and rad/s at its ends, from a simulated time on, for so long, s."""
        message = JointTrajectory(joint_names=NAMES)
        message.header.stamp = Time(sec=int(begin), nanosec=round(begin % 1.0 * 1e9))
        message.points = [
            JointTrajectoryPoint(
                positions=list(place[row]),
                velocities=list(rate[row]),
                time_from_start=Duration(nanosec=round(row * lasts * 1e9)),
            )
            for row in (0, 1)
        ]
        self.trajectories.publish(message)

    def arrived(self) -> bool:
        return list(self.states[-1].goal_position) == pytest.approx(GOAL, abs=1e-9)

    def pause(self, data: bool) -> None:
        assert self.call(SetBool, "feedforward/pause", SetBool.Request(data=data)).success

    def motion(self) -> tuple[np.ndarray, np.ndarray]:
        """Simulated time since the goal began to move, s, and goals, rad, until they have arrived."""
        states = [state for state in self.states if all(state.torque_enabled)]
        times = np.array([seconds(state) for state in states])
        goals = np.array([state.goal_position for state in states])
        first = int(np.argmax(np.abs(goals - goals[0]).max(axis=1) > 1e-6))
        return times[first - 1 :] - times[first - 1], goals[first - 1 :]

    def close(self) -> None:
        if self.fed is not None:
            self.fed.close()
        super().close()


def seconds(message: ServoStates) -> float:
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def goals(message: ServoStates) -> tuple[float, ...]:
    return tuple(message.goal_position)


@pytest.fixture
def client(ros_domain: int) -> Iterator[Client]:
    client = Client(ros_domain)
    yield client
    client.close()


def test_a_trajectory_is_replaced_and_stopped_in_motion(client: Client) -> None:
    client.start(rate=100.0)
    client.switch_on()
    client.send([1.5, 0.0], 3.0)
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.3)
    client.send([0.0, 0.4], 2.0)
    client.wait_for(lambda: client.states[-1].goal_position[1] > 0.1)
    client.trajectories.publish(JointTrajectory())
    stands = seconds(client.states[-1]) + 0.5
    client.wait_for(lambda: seconds(client.states[-1]) > stands)
    held = goals(client.states[-1])
    assert 0.1 < held[1] < 0.4
    client.wait_for(lambda: seconds(client.states[-1]) > stands + 0.5)
    assert goals(client.states[-1]) == held
    moved = np.array([goals(state) for state in client.states if all(state.torque_enabled)])
    times = np.array([seconds(state) for state in client.states if all(state.torque_enabled)])
    assert moved[:, 0].max() < 1.2
    assert np.all(np.abs(np.diff(moved, axis=0)).max(axis=1) <= 3.0 * np.diff(times) + 1e-9)


@pytest.mark.long
def test_a_stamp_in_simulated_time_is_kept_and_a_pause_freezes_the_motion(client: Client) -> None:
    client.start(rate=100.0)  # it shares this process with the client
    client.switch_on()
    client.wait_for(lambda: client.configurations and client.clock)
    assert list(client.configurations[-1].servo) == ["mx106", "mx64"]
    start = seconds(client.states[-1]) + 1.0
    client.go(start)
    client.wait_for(lambda: client.states[-1].goal_position[0] > 0.2)
    moving = next(state for state in client.states if state.goal_position[0] > 0.01)
    assert start < seconds(moving) < start + 0.5
    client.pause(True)
    count = len(client.states)
    client.wait_for(lambda: len(client.states) > count + 100)
    frozen = {(seconds(s), tuple(s.goal_position), tuple(s.position)) for s in client.states[-50:]}
    assert len(frozen) == 1
    held = seconds(client.states[-1])
    assert client.call(Trigger, "feedforward/step", Trigger.Request()).success
    client.wait_for(lambda: seconds(client.states[-1]) > held)
    client.pause(False)
    client.wait_for(client.arrived)
    arrival = next(s for s in client.states if list(s.goal_position) == pytest.approx(GOAL, abs=1e-9))
    assert seconds(arrival) == pytest.approx(start + 1.0, abs=0.05)
    assert list(client.states[-1].position) == pytest.approx(GOAL, abs=0.1)
    assert all(client.states[-1].torque_enabled)


@pytest.mark.parametrize("pieces", [pytest.param(2, marks=pytest.mark.long), 5])
def test_wherever_a_stream_of_pieces_ends_servos_brake_and_hold(client: Client, pieces: int) -> None:
    """Simulated, for a busy machine would let real servos go on with the duty that they have."""
    client.start(rate=100.0, real_time_factor=0.5)
    client.switch_on()
    ends = 0.15 * np.arange(pieces + 1)
    place, rate = 0.5 * np.sin(3.0 * ends) ** 2, 1.5 * np.sin(6.0 * ends)
    sides = np.array([1.0, -0.8])
    begin = seconds(client.states[-1]) + 2.0
    for number in range(pieces):
        rows = slice(number, number + 2)
        client.send_piece(
            np.outer(place[rows], sides), np.outer(rate[rows], sides), begin + ends[number], 0.15
        )
    client.wait_for(lambda: seconds(client.states[-1]) > begin + ends[-1])
    client.wait_for(lambda: len(set(map(goals, client.states[-50:]))) == 1)
    since = len(client.states)  # from here on they hold
    client.wait_for(lambda: len(client.states) > since + 50)
    held = client.states[since:]
    assert {goals(state) for state in held} == {goals(held[0])}
    np.testing.assert_allclose(held[0].goal_position, place[-1] * sides, atol=0.15)
    positions = np.array([state.position for state in held])
    assert np.ptp(positions, axis=0).max() < 0.02
    assert np.abs(positions - held[0].goal_position).max() < 0.1
    assert all(all(state.torque_enabled) for state in held)


@pytest.fixture
def start(ros_domain: int, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Start nodes in processes of their own."""
    processes = []

    def make(**parameters: object) -> None:
        given = {**PARAMETERS, **parameters}
        text = "\n".join(f"    {name}: {value!r}" for name, value in given.items())
        file = tmp_path / "parameters.yaml"
        file.write_text(f"feedforward:\n  ros__parameters:\n{text}\n".replace("True", "true"))
        command = [sys.executable, "-m", "bam_ros.feedforward.node", "--ros-args", "--params-file", str(file)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        assert process.stderr is not None
        assert "fed forward in PWM mode" in process.stderr.readline()

    yield make
    for process in processes:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.long
def test_a_trajectory_takes_a_second_of_simulated_time_at_any_speed(
    client: Client, start: Callable[..., None]
) -> None:
    """In a process of its own: as fast as possible the node leaves the interpreter to nobody else."""
    start(real_time_factor=0.0)
    client.switch_on()
    client.go()
    client.wait_for(client.arrived)
    when, goals = client.motion()
    arrived = int(np.argmax(np.abs(goals - GOAL).max(axis=1) < 1e-9))
    # The goal left its place and arrived between states: at full speed they may be far apart.
    shortest, longest = when[arrived - 1] - when[1], when[arrived] - when[0]
    assert shortest - 0.05 <= 1.0 <= longest + 0.05
    assert longest < 1.5
    assert list(client.states[-1].position) == pytest.approx(GOAL, abs=0.1)


def run_example() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "examples/send_trajectory.py"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.long
def test_the_example_swings_every_joint(start: Callable[..., None]) -> None:
    start()
    done = run_example()
    assert (done.returncode, done.stderr) == (0, "")
    rows = re.findall(r"(shoulder|elbow): at most ([\d.]+) mrad", done.stdout)
    assert [name for name, _ in rows] == NAMES
    assert all(float(error) < 100.0 for _, error in rows)


@pytest.mark.long
def test_the_example_says_where_its_trajectory_was_refused(start: Callable[..., None]) -> None:
    start(speed_limit=0.1)
    done = run_example()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "joint_trajectory: not followed to its end; /diagnostics has the reason\n"


@pytest.mark.parametrize(
    ("parameters", "kind", "named"),
    [
        ({"driver": "erob"}, UnknownName, "parameter driver 'erob'"),
        ({"servos": ["erob80_100"]}, Unsupported, "joint 'shoulder'"),
        ({"joint_names": ["shoulder", "wrist"]}, BamError, "joint 'wrist'"),
    ],
)
def test_what_cannot_be_simulated_is_one_line(
    client: Client, parameters: dict[str, object], kind: type[BamError], named: str
) -> None:
    with pytest.raises(kind, match=named) as caught:
        client.start(**parameters)
    assert "\n" not in str(caught.value)
