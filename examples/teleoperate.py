# SPDX-License-Identifier: Apache-2.0
"""A follower arm goes where a leader arm is moved by hand. Each has a driver in a namespace of its own.

Arguments are the two namespaces. The joints of both arms have the same names. At its end, by Ctrl-C, the
follower's torque goes off.

.venv/bin/python examples/teleoperate.py
"""

import contextlib
import sys

import rclpy
from bam_bench.msg import ServoCommands, ServoStates
from rclpy.executors import ExternalShutdownException
from rclpy.qos import qos_profile_sensor_data

leader, follower = sys.argv[1:] if len(sys.argv) == 3 else ("leader", "follower")
rclpy.init()
node = rclpy.create_node("teleoperate")
commands = node.create_publisher(ServoCommands, f"/{follower}/servo_commands", 1)


def follow(states: ServoStates) -> None:
    """Command the leader's positions. The first ones are approached slowly: `torque_on_speed`."""
    torque = [True] * len(states.name)
    commands.publish(ServoCommands(name=states.name, torque_enabled=torque, goal_position=states.position))


node.create_subscription(ServoStates, f"/{leader}/servo_states", follow, qos_profile_sensor_data)
with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
    rclpy.spin(node)
