# SPDX-License-Identifier: Apache-2.0
"""A client that commands one joint, in a process of its own: obeys lines on its input until that ends.

`hold POSITION`, `swing CENTRE`, `torque` (without a position), `off`, `silent`.
"""

from __future__ import annotations

import math
import os
import select
import sys
import time

from bam_bench.msg import ServoCommands

from bam_ros.driver.servo_node import COMMAND_QOS
from bam_ros.node.client_node import ClientNode

PERIOD = 0.02  # s between commands
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
    return ServoCommands(name=joints, torque_enable=[torque] * count, position=[goal] * count)


def main(joints: list[str]) -> int:
    """Stream commands for these joints."""
    line, rest = "silent", b""
    with ClientNode(f"streamer_{'_'.join(joints)}") as client:
        publisher = client.node.create_publisher(ServoCommands, "servo_commands", COMMAND_QOS)
        due = time.monotonic()
        while True:
            if select.select([sys.stdin], [], [], max(due - time.monotonic(), 0.0))[0]:
                data = os.read(sys.stdin.fileno(), 4096)
                if not data:
                    return 0
                *lines, rest = (rest + data).split(b"\n")
                line = lines[-1].decode() if lines else line
                continue
            due = max(due + PERIOD, time.monotonic())
            message = command(joints, line, time.monotonic())
            if message is not None:
                publisher.publish(message)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
