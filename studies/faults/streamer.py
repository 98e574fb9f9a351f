# SPDX-License-Identifier: Apache-2.0
"""A client that commands joints, in a process of its own: executes lines until its connection ends.

`hold POSITION`, `swing CENTRE`, `torque` (without a position), `off`, `silent`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection

from bam_bench.msg import ServoCommands

from bam_ros.driver.servo_node import COMMAND_QOS
from bam_ros.node.client_node import ClientNode

PERIOD = 0.05  # s between commands: a tenth of the timeout
AMPLITUDE, FREQUENCY = 0.15, 0.4  # rad, 1/s of `swing`


def command(joints: list[str], line: str, now: float) -> ServoCommands | None:
    """Return what a line says at a time; None where nothing is said."""
    words = line.split()
    match words:
        case ["hold", position]:
            torque, goal = True, float(position)
        case ["swing", centre]:
            torque, goal = True, float(centre) + AMPLITUDE * math.sin(2.0 * math.pi * FREQUENCY * now)
        case ["torque"]:
            torque, goal = True, math.nan
        case ["off"]:
            torque, goal = False, math.nan
        case _:
            return None
    count = len(joints)
    return ServoCommands(name=joints, torque_enabled=[torque] * count, goal_position=[goal] * count)


def stream(joints: list[str], lines: Connection, environment: Mapping[str, str]) -> None:
    """Stream commands for these joints.

    Args:
        joints: that every command names.
        lines: what to say; its end ends the process.
        environment: of the process that wants it, ROS domain included: the one that this process was forked
            from may be older.
    """
    os.environ.update(environment)
    line = "silent"
    with ClientNode(f"streamer_{'_'.join(joints)}") as client:
        publisher = client.node.create_publisher(ServoCommands, "servo_commands", COMMAND_QOS)
        due = time.monotonic()
        while True:
            if lines.poll(max(due - time.monotonic(), 0.0)):
                try:
                    line = lines.recv()
                except EOFError:
                    return
                continue
            due = max(due + PERIOD, time.monotonic())
            message = command(joints, line, time.monotonic())
            if message is not None:
                publisher.publish(message)
