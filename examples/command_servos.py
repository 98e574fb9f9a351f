# SPDX-License-Identifier: Apache-2.0
"""Commands the first joint of a driver: sets its gain, moves it by 0.3 rad and back, resets the servo.

Start a driver before, such as `.venv/bin/python -m bam_ros.simulator.node`. A name given to this program is
that of the driver's node: `simulator` where none is.

.venv/bin/python examples/command_servos.py
"""

import math
import sys
import time
from typing import Any

import rclpy
from bam_bench.msg import ServoCommands, ServoStates
from bam_bench.srv import SetGains
from rclpy.qos import qos_profile_sensor_data
from std_srvs.srv import Trigger

TIMEOUT = 30.0  # s, for the joint to arrive

driver = sys.argv[1] if len(sys.argv) > 1 else "simulator"
rclpy.init()
node = rclpy.create_node("commander")
newest: dict[str, ServoStates] = {}
node.create_subscription(
    ServoStates, "servo_states", lambda states: newest.update(states=states), qos_profile_sensor_data
)
commands = node.create_publisher(ServoCommands, "servo_commands", 1)


def call(kind: Any, service: str, **request: object) -> None:
    """Call a service of the driver and print what it answers."""
    client = node.create_client(kind, f"{driver}/{service}")
    client.wait_for_service()
    answer = client.call_async(kind.Request(**request))
    rclpy.spin_until_future_complete(node, answer)
    print(f"{service}: {answer.result().message}")


while "states" not in newest:
    rclpy.spin_once(node)
joint, here = newest["states"].name[0], newest["states"].position[0]
call(SetGains, "set_gains", name=joint, kp=32.0)
for goal in (here + 0.3, here):
    end = time.monotonic() + TIMEOUT
    while abs(newest["states"].position[0] - goal) > 0.05 and time.monotonic() < end:
        # Over and over: torque goes off where commands stay away.
        commands.publish(ServoCommands(name=[joint], torque_enabled=[True], goal_position=[goal]))
        rclpy.spin_once(node, timeout_sec=0.02)
    print(f"{joint}: at {newest['states'].position[0]:.2f} rad, goal {goal:.2f} rad")
commands.publish(ServoCommands(name=[joint], torque_enabled=[False], goal_position=[math.nan]))
call(Trigger, "reboot")  # ends what a servo has shut down for, such as an overload
rclpy.shutdown()
