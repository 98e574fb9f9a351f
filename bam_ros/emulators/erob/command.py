# SPDX-License-Identifier: Apache-2.0
"""Virtual drives without ROS as a command; `__main__` starts it."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

from bam_core.cli.quantities import quantity_in
from bam_core.errors import BamError, Missing
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.quantity import LENGTH, MASS
from bam_ros.emulators.erob.builder import SegmentSetup, build_segment
from bam_ros.emulators.erob.control import COMMANDS, execute
from bam_ros.emulators.erob.drive import DRIVE_FAULTS
from bam_ros.emulators.erob.faults import SLAVE_FAULTS, parse_faults
from bam_ros.emulators.erob.hidden_drive import SERVOS
from bam_ros.emulators.erob.server import SegmentServer
from bam_ros.emulators.erob.veth import VethPair
from bam_ros.emulators.options import OneLineParser, seed
from bam_ros.emulators.serving import ignore_signals, serve, stop_signals
from bam_ros.emulators.starting import output_closed

_FAULTS = (
    "what is broken from the start: drop=P, corrupt=P, garble=P, truncate=P, reorder=P (probabilities),"
    f" delay=SECONDS; {', '.join((*SLAVE_FAULTS, *DRIVE_FAULTS))}, fault=CODE, each with @SLAVE, or of"
    " every slave"
)
_LARGEST_CODE = 0xFFFFFFFF
_COMMAND = f"{sys.executable} -m bam_ros.emulators.erob"
_EXAMPLES = f"""examples:
  {_COMMAND} --create-veth ecat0:ecat1 --slaves 2
      makes the pair, serves two drives at ecat1; a master opens ecat0
  {_COMMAND} --interface ecat1 --fault drop=0.01 overcurrent@1
      serves one drive at an interface that is there already, with faults
"""


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog=_COMMAND,
        description="Emulated eRob drives, each with a pendulum, as slaves of an EtherCAT segment.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = SegmentSetup()
    load = default.pendulum
    add = parser.add_argument
    add("--interface", metavar="NAME", help="network interface to answer at; not needed with --create-veth")
    add("--create-veth", metavar="MASTER:SLAVES",
        help="make a pair of interfaces, answer at SLAVES, and remove it at the end")  # fmt: skip
    add("--servo", default=default.servo, help=f"one of {', '.join(SERVOS)} (default: %(default)s)")
    add("--slaves", type=int, default=default.slaves, metavar="N", help="how many (default: %(default)s)")
    add("--mass", type=quantity_in(MASS), default=load.mass, help="load, kg (default: %(default)s)")
    add(
        "--arm-mass",
        type=quantity_in(MASS),
        default=load.arm_mass,
        help="uniform arm, kg (default: %(default)s)",
    )
    add(
        "--length",
        type=quantity_in(LENGTH),
        default=load.length,
        help="from axis to load, m (default: %(default)s)",
    )
    add("--seed", type=seed, default=default.seed, help="of the hidden parameters (default: %(default)s)")
    add(
        "--vendor",
        type=_code,
        default=default.vendor,
        metavar="ID",
        help="that the slaves report",
    )
    add("--product", type=_code, default=default.product, metavar="CODE", help="that they report")
    add("--fault", nargs="*", default=[], metavar="FAULT", help=_FAULTS)
    add("--control", action="store_true",
        help=f"execute lines on standard input ({'; '.join(COMMANDS)}), and end with it")  # fmt: skip
    add("--reveal", action="store_true", help="print the hidden parameters at the end")
    return parser


def _code(word: str) -> int:
    try:
        code = int(word, 0)
    except ValueError:
        code = -1
    if not 0 <= code <= _LARGEST_CODE:
        raise argparse.ArgumentTypeError(
            f"{word!r} is no code (expected 0 to 0x{_LARGEST_CODE:X}, such as 0x5A65726F)"
        )
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; return 0, or 2 after one line about bad input."""
    arguments = _parser().parse_args(argv)
    try:
        with ExitStack() as stack:
            pair = VethPair.parse(arguments.create_veth) if arguments.create_veth else None
            interface = arguments.interface or (pair.slaves if pair is not None else "")
            if not interface:
                raise Missing(
                    "interface",
                    "the one of the slaves",
                    advice="name one with --interface, or make a pair with --create-veth",
                )
            setup = SegmentSetup(
                servo=arguments.servo,
                slaves=arguments.slaves,
                pendulum=PendulumBench(
                    mass=arguments.mass, arm_mass=arguments.arm_mass, length=arguments.length
                ),
                seed=arguments.seed,
                vendor=arguments.vendor,
                product=arguments.product,
            )
            faults = parse_faults(arguments.fault, setup.slaves)
            segment = build_segment(setup, time.monotonic_ns())
            stopped = stop_signals()
            if pair is not None:
                stack.enter_context(pair)
            server = SegmentServer(segment, interface, seed=setup.seed)
            server.set_faults(faults)
            stack.enter_context(server)
            master = f", master at {pair.master}" if pair is not None else ""
            gc.collect()
            gc.disable()  # frames make no garbage in cycles, and a collection would make one of them late
            print(f"ready: {setup.slaves} x {setup.servo} at {interface}{master}", flush=True)
            serve(stopped, (lambda line: execute(server, line)) if arguments.control else None)
    except BamError as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        return output_closed()
    if arguments.reveal:
        print("\n".join(slave.bench.hidden.to_yaml() for slave in segment.slaves), flush=True)
    ignore_signals()
    return 0
