# SPDX-License-Identifier: Apache-2.0
"""Sends a trajectory to the node `feedforward`: every joint swings by 0.3 rad from where it is, and back.

.venv/bin/python examples/send_trajectory.py
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable

import rclpy
from bam_bench.msg import ServoCommands, ServoStates
from builtin_interfaces.msg import Duration
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.utilities import remove_ros_args, try_shutdown
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SWING, DURATION = 0.3, 2.0  # rad, s
TIMEOUT = 20.0  # s, for the node to answer
BEGIN = 8.0  # s, for the goal to move
SLOWEST = 5.0  # s it may take per s of the trajectory; simulated servos may live more slowly


class Sender(Node):
    """Keeps torque on, sends one trajectory, and notes how far the joints were from it."""

    def __init__(self) -> None:
        super().__init__("sender")
        self.states: ServoStates | None = None
        self.torque = True
        self.worst: list[float] = []
        self.goals: list[tuple[float, ...]] = []
        self.create_subscription(ServoStates, "servo_states", self.on_states, qos_profile_sensor_data)
        self.commands = self.create_publisher(ServoCommands, "servo_commands", 1)
        self.trajectories = self.create_publisher(JointTrajectory, "feedforward/joint_trajectory", 10)
        self.create_timer(0.05, self.keep_torque)  # torque goes off where this stream stops

    def on_states(self, states: ServoStates) -> None:
        """Note the goal, and the largest distance between goal and position so far."""
        self.states = states
        distances = [abs(g - p) for g, p in zip(states.goal_position, states.position, strict=True)]
        if all(map(math.isfinite, distances)):
            self.goals.append(tuple(states.goal_position))
            self.worst = [max(pair) for pair in zip(distances, self.worst or distances, strict=True)]

    def keep_torque(self) -> None:
        """Ask for torque on every joint, or on none."""
        if self.states is not None:
            joints = list(self.states.name)
            nowhere = [math.nan] * len(joints)
            self.commands.publish(
                ServoCommands(name=joints, torque_enabled=[self.torque] * len(joints), goal_position=nowhere)
            )

    def ready(self) -> bool:
        """Whether torque is on and somebody takes trajectories."""
        on = self.states is not None and all(self.states.torque_enabled)
        return on and self.trajectories.get_subscription_count() > 0

    def moving(self) -> bool:
        """Whether the goal has left its place."""
        return any(goal != first for goal, first in zip(self.goals[-1], self.goals[0], strict=True))

    def swung(self) -> bool:
        """Whether the goal went there and back."""
        highs = map(max, zip(*self.goals, strict=True))
        ends = zip(self.goals[0], highs, self.goals[-1], strict=True)
        return all(high - here > 0.9 * SWING > 0.1 * SWING > abs(last - here) for here, high, last in ends)

    def ended(self) -> bool:
        """Whether there is nothing more to wait for: torque is off, or the goal is back."""
        return self.states is None or not all(self.states.torque_enabled) or self.swung()

    def spin(self, seconds: float, done: Callable[[], bool] = lambda: False) -> bool:
        """Take messages until it is done, and return whether it was in time."""
        end = self.get_clock().now().nanoseconds + round(seconds * 1e9)
        while not done() and self.get_clock().now().nanoseconds < end:
            rclpy.spin_once(self, timeout_sec=0.1)
        return done()

    def send(self) -> None:
        """Send two points; the way to the first one begins where the joints are."""
        assert self.states is not None
        here = list(self.states.position)
        points = [
            JointTrajectoryPoint(positions=[place + SWING for place in here], time_from_start=after(0.5)),
            JointTrajectoryPoint(positions=here, time_from_start=after(1.0)),
        ]
        self.trajectories.publish(JointTrajectory(joint_names=list(self.states.name), points=points))


def after(share: float) -> Duration:
    """Return a share of the trajectory's duration."""
    seconds = share * DURATION
    return Duration(sec=int(seconds), nanosec=round(seconds % 1.0 * 1e9))


def swing(sender: Sender) -> int:
    """Send it, print how it was followed, and return the exit status."""
    if not sender.spin(TIMEOUT, sender.ready):
        print(
            "servo_states: no servos with torque on (expected the node feedforward); start it",
            file=sys.stderr,
        )
        return 2
    sender.goals = sender.goals[-1:]
    sender.send()
    if sender.spin(BEGIN, sender.moving):
        sender.spin(SLOWEST * DURATION, sender.ended)
    if not sender.swung():
        print("joint_trajectory: not followed to its end; /diagnostics has the reason", file=sys.stderr)
        return 2
    assert sender.states is not None
    for joint, worst in zip(sender.states.name, sender.worst, strict=True):
        print(f"{joint}: at most {1e3 * worst:.1f} mrad from its trajectory")
    sender.torque = False
    sender.spin(1.0, lambda: sender.states is not None and not any(sender.states.torque_enabled))
    return 0


def main() -> int:
    """Swing every joint once."""
    about = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about.parse_args(remove_ros_args(sys.argv)[1:])
    rclpy.init()
    sender = Sender()
    try:
        return swing(sender)
    except (KeyboardInterrupt, ExternalShutdownException):
        return 130  # torque goes off where commands stay away
    finally:
        sender.destroy_node()
        try_shutdown()


if __name__ == "__main__":
    raise SystemExit(main())
