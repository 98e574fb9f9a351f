# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS as a command; `__main__` starts it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bam_core.errors import BamError
from bam_core.servo.pendulum import PendulumBench
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.emulators.dynamixel.servo import SERVO_FAULTS

_STOP = {signal.SIGINT, signal.SIGTERM}
_FAULTS = (
    f"what is broken from the start: drop=P, corrupt=P (probabilities), {', '.join(SERVO_FAULTS)},"
    " and with Protocol 2.0 encoder, shock"
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{sys.executable} -m bam_ros.emulators.dynamixel",
        description="Emulated Dynamixel servos, each with a pendulum, behind a pseudo-terminal.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    default = BusSetup()
    add = parser.add_argument
    add("--servo", default=default.servo, help=f"one of {', '.join(CONTROL_TABLES)}")
    add("--id", type=int, nargs="+", default=list(default.ids), help="bus id of each servo")
    add("--baud", type=int, default=default.baud_rate, help="bit/s that the servos are set to")
    add("--link", type=Path, help="symbolic link to the pseudo-terminal")
    add("--mass", type=float, default=default.pendulum.mass, help="load, kg")
    add("--arm-mass", type=float, default=default.pendulum.arm_mass, help="uniform arm, kg")
    add("--length", type=float, default=default.pendulum.length, help="from the axis to the load, m")
    add("--seed", type=int, default=default.seed, help="of the hidden parameters")
    add("--fault", nargs="*", default=[], metavar="FAULT", help=_FAULTS)
    add("--wire-time", action="store_true", help="take as long as the bytes would on a real line")
    add("--reveal", action="store_true", help="print the hidden parameters at the end")
    return parser


def _example(setup: BusSetup, port: Path) -> str:
    given = [f"port:={port}", f"baud_rate:={setup.baud_rate}"]
    if tuple(setup.ids) != (1,):
        names = ", ".join(f"joint{servo}" for servo in setup.ids)
        given += [f"ids:='[{', '.join(map(str, setup.ids))}]'", f"joint_names:='[{names}]'"]
    words = " ".join(f"-p {word}" for word in given)
    return f"{sys.executable} -m bam_ros.dynamixel.node --ros-args {words}"


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; return 0, or 2 after one line about bad input."""
    arguments = _parser().parse_args(argv)
    try:
        setup = BusSetup(
            servo=arguments.servo,
            ids=arguments.id,
            baud_rate=arguments.baud,
            pendulum=PendulumBench(mass=arguments.mass, arm_mass=arguments.arm_mass, length=arguments.length),
            seed=arguments.seed,
            faults=arguments.fault,
        )
        bus = build_bus(setup, time.monotonic())
        stopped = _stop_signals()
        with PtyServer(bus, link=arguments.link, wire_time=arguments.wire_time) as server:
            ids = ", ".join(str(servo.id) for servo in bus.servos)
            title = bus.servos[0].table.title
            print(f"ready: {title} id {ids} at {setup.baud_rate} bit/s: {server.path}", flush=True)
            print(f"connect with: {_example(setup, server.path)}", flush=True)
            os.read(stopped, 1)
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.reveal:
        print("\n".join(servo.bench.hidden.to_yaml() for servo in bus.servos), flush=True)
    for number in _STOP:  # one more shall not change how the process ends
        signal.signal(number, signal.SIG_IGN)
    return 0


def _stop_signals() -> int:
    """Take SIGINT and SIGTERM over; return a file descriptor that becomes readable with the first of them.

    Waiting for the signals themselves would not do: threads of numerical libraries receive them, too.
    """
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in _STOP:
        signal.signal(number, lambda number, frame: None)
    return readable
