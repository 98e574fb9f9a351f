# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS: `python -m bam_ros.dynamixel.virtual --servo mx106 --link /tmp/bam_bus`."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bam_core.errors import BamError
from bam_core.pendulum import PendulumBench
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.virtual.builder import BusSetup, build_bus
from bam_ros.dynamixel.virtual.pty_server import PtyServer

_STOP = {signal.SIGINT, signal.SIGTERM}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bam_ros.dynamixel.virtual",
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
    add("--fault", nargs="*", default=[], help="drop=P, corrupt=P, overheat, overload, undervoltage ...")
    add("--wire-time", action="store_true", help="take as long as the bytes would on a real line")
    add("--reveal", action="store_true", help="print the hidden parameters at the end")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; return 0, or 2 after one line about bad input."""
    arguments = _parser().parse_args(argv)
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)  # before the threads, which inherit it
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
        with PtyServer(bus, link=arguments.link, wire_time=arguments.wire_time) as server:
            ids = ", ".join(str(servo.id) for servo in bus.servos)
            title = bus.servos[0].table.title
            print(f"{title} id {ids} at {setup.baud_rate} bit/s: {server.path}", flush=True)
            signal.sigwait(_STOP)
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    if arguments.reveal:
        print("\n".join(servo.bench.hidden.to_yaml() for servo in bus.servos), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
