# SPDX-License-Identifier: Apache-2.0
"""Sends a trajectory to the node `feedforward`: every joint swings by 0.3 rad from where it is, and back.

.venv/bin/python examples/send_trajectory.py
"""

from __future__ import annotations

import math

import rclpy
from bam_bench.msg import ServoCommands, ServoStates
from builtin_interfaces.msg import Duration
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SWING, DURATION = 0.3, 2.0  # rad, s


class Sender(Node):
    """Keeps torque on, sends one trajectory, and notes how far the joints were from it."""

    def __init__(self) -> None:
        super().__init__("sender")
        self.states: ServoStates | None = None
        self.worst: list[float] = []
        self.create_subscription(ServoStates, "servo_states", self.on_states, qos_profile_sensor_data)
        self.commands = self.create_publisher(ServoCommands, "servo_commands", 1)
        self.trajectories = self.create_publisher(JointTrajectory, "joint_trajectory", 10)
        self.create_timer(0.05, self.keep_torque)  # torque goes off where this stream stops

    def on_states(self, states: ServoStates) -> None:
        """Note the largest distance between goal and position so far."""
        self.states = states
        distances = [abs(g - p) for g, p in zip(states.goal_position, states.position, strict=True)]
        if all(map(math.isfinite, distances)):
            self.worst = [max(pair) for pair in zip(distances, self.worst or distances, strict=True)]

    def keep_torque(self) -> None:
        """Ask for torque on every joint."""
        if self.states is not None:
            joints = list(self.states.name)
            nowhere = [math.nan] * len(joints)
            self.commands.publish(
                ServoCommands(name=joints, torque_enable=[True] * len(joints), position=nowhere)
            )

    def ready(self) -> bool:
        """Whether torque is on and somebody takes trajectories."""
        on = self.states is not None and all(self.states.torque_enabled)
        return on and self.trajectories.get_subscription_count() > 0

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


def main() -> None:
    """Send it and say how it was followed."""
    rclpy.init()
    sender = Sender()
    while not sender.ready():
        rclpy.spin_once(sender)
    sender.send()
    end = sender.get_clock().now().nanoseconds + round((DURATION + 0.5) * 1e9)
    while sender.get_clock().now().nanoseconds < end:
        rclpy.spin_once(sender)
    assert sender.states is not None
    for joint, worst in zip(sender.states.name, sender.worst, strict=True):
        print(f"{joint}: at most {1e3 * worst:.1f} mrad from its trajectory")
    sender.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
