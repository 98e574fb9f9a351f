# SPDX-License-Identifier: Apache-2.0
"""A client of the feed-forward node, on two virtual servos."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable

import numpy as np
from bam_bench.msg import ServoCommands, ServoConfiguration, ServoStates
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from ros_client import RosClient
from ros_helpers import PATIENCE, VirtualServos
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from bam_core.servo.pendulum import PendulumBench

NAMES = ["hip", "knee"]
LOAD = PendulumBench(mass=0.2, length=0.1)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

Process = subprocess.Popen[str]
Start = Callable[..., Process]


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
        self.trajectories = node.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self._next_command = 0.0
        self._torque = True

    def command(self, on: bool = True, position: float = math.nan, names: list[str] = NAMES) -> None:
        self._commands.publish(
            ServoCommands(name=names, torque_enable=[on] * len(names), position=[position] * len(names))
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

    def said(self) -> str:
        return "; ".join(dict.fromkeys(status.message for status in self.diagnostics))

    def says(self, level: bytes, words: str) -> bool:
        return any(status.level == level and words in status.message for status in self.diagnostics)

    def figure(self, name: str) -> str:
        """The newest value of a figure."""
        values = (v.value for status in reversed(self.diagnostics) for v in status.values if v.key == name)
        return next(values, "")


MakeClient = Callable[[], Client]


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
