# SPDX-License-Identifier: Apache-2.0
"""Virtual servos without ROS as a command; `__main__` starts it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bam_core.cli.quantities import quantity_in
from bam_core.errors import BamError, Missing
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.comma_list import comma_list
from bam_core.text.quantity import LENGTH, MASS
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.emulators.dynamixel.builder import BusSetup, build_arm_bus, build_bus
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.catalog import Catalog
from bam_ros.emulators.dynamixel.control import COMMANDS, Control
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.emulators.dynamixel.servo import SERVO_FAULTS
from bam_ros.emulators.options import OneLineParser, seed
from bam_ros.emulators.serving import ignore_signals, serve, stop_signals
from bam_ros.emulators.starting import output_closed

_FAULTS = (
    f"what is broken from the start: drop=P, corrupt=P (probabilities), {', '.join(SERVO_FAULTS)},"
    " and with Protocol 2.0 of Dynamixel encoder, shock"
)
_MOST_EXAMPLES = 8  # names of servos in the help


def _examples(tables: Mapping[str, ControlTable]) -> str:
    """Return the servos there are, or as many as a line holds."""
    names = list(tables)
    if len(names) <= _MOST_EXAMPLES:
        return ", ".join(names)
    shown = names[:: len(names) // _MOST_EXAMPLES]
    return f"{', '.join(shown)} or another of the {len(names)} models with a control table"


def _parser(default: BusSetup) -> argparse.ArgumentParser:
    brand = default.catalog.brand
    parser = OneLineParser(
        prog=f"{sys.executable} -m bam_ros.emulators.{brand.lower()}",
        description=f"Emulated {brand} servos behind a pseudo-terminal, on pendulums or on one arm.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--servo",
        default=default.servo,
        help=f"of all, or one for each id with commas between: {_examples(default.catalog.tables)}",
    )
    add("--id", type=int, nargs="+", help="bus id of each servo; 1, or of a robot 1, 2, ...")
    add("--robot", metavar="FILE", help="MJCF or URDF of an arm whose joints the servos drive")
    add("--servos", action="append", default=[], metavar="CLASS_OR_JOINT=SERVO,...", help="of a robot")
    add("--baud", type=int, default=default.baud_rate, help="bit/s that the servos are set to")
    add("--link", type=Path, help="symbolic link to the pseudo-terminal")
    add("--mass", type=quantity_in(MASS), default=default.pendulum.mass, help="load, kg")
    add("--arm-mass", type=quantity_in(MASS), default=default.pendulum.arm_mass, help="uniform arm, kg")
    add(
        "--length",
        type=quantity_in(LENGTH),
        default=default.pendulum.length,
        help="from the axis to the load, m",
    )
    add("--seed", type=seed, default=default.seed, help="of the hidden parameters")
    add("--fault", nargs="*", default=[], metavar="FAULT", help=_FAULTS)
    add("--wire-time", action="store_true", help="take as long as the bytes would on a real line")
    add("--control", action="store_true",
        help=f"execute lines on standard input ({'; '.join(COMMANDS)}), and end with it")  # fmt: skip
    add("--reveal", action="store_true", help="print the hidden parameters at the end")
    return parser


def _example(setup: BusSetup, joints: Sequence[str], port: Path) -> str:
    given = [f"port:={port}", f"baud_rate:={setup.baud_rate}"]
    if tuple(setup.ids) != (1,):
        given += [f"ids:='[{', '.join(map(str, setup.ids))}]'", f"joint_names:='[{', '.join(joints)}]'"]
    words = " ".join(f"-p {word}" for word in given)
    return f"{sys.executable} -m {setup.catalog.driver} --ros-args {words}"


def _build(arguments: argparse.Namespace, catalog: Catalog) -> tuple[BusSetup, Sequence[str], VirtualBus]:
    """Return what is on the bus, the names of its joints, and the bus."""
    setup = BusSetup(
        catalog=catalog,
        servo=arguments.servo,
        ids=arguments.id or [1],
        baud_rate=arguments.baud,
        pendulum=PendulumBench(mass=arguments.mass, arm_mass=arguments.arm_mass, length=arguments.length),
        seed=arguments.seed,
        faults=arguments.fault,
    )
    now = time.monotonic()
    if arguments.robot is None:
        if arguments.servos:
            raise Missing("--robot", "the arm that --servos is about", advice="add --robot FILE")
        return setup, [f"joint{servo}" for servo in setup.ids], build_bus(setup, now)
    # Not before it is needed; see `build_arm_bus`.
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.robot.joints import servos_by_joint

    spec = load_robot(arguments.robot)
    servos = servos_by_joint(spec, [word for servo in arguments.servos for word in comma_list(servo)])
    if not servos:
        raise Missing("--servos", "a servo on every joint", advice="add it, as in --servos '*=mx106'")
    setup = replace(setup, ids=arguments.id or list(range(1, 1 + len(servos))))
    return setup, list(servos), build_arm_bus(setup, spec, servos, now)


def main(argv: Sequence[str] | None = None, default: BusSetup | None = None) -> int:
    """Serve until SIGINT or SIGTERM; return 0, or 2 after one line about bad input."""
    default = default or BusSetup()
    arguments = _parser(default).parse_args(argv)
    try:
        setup, joints, bus = _build(arguments, default.catalog)
        stopped = stop_signals()
        with PtyServer(bus, link=arguments.link, wire_time=arguments.wire_time) as server:
            ids = ", ".join(str(servo.id) for servo in bus.servos)
            title = ", ".join(dict.fromkeys(servo.table.title for servo in bus.servos))
            print(f"ready: {title} id {ids} at {setup.baud_rate} bit/s: {server.path}", flush=True)
            if not arguments.control:  # whose lines are answers
                print(f"connect with: {_example(setup, joints, server.path)}", flush=True)
            execute = Control(server, setup).execute if arguments.control else None
            serve(stopped, execute)
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        return output_closed()
    if arguments.reveal:
        print("\n".join(servo.bench.hidden.to_yaml() for servo in bus.servos), flush=True)
    ignore_signals()
    return 0
