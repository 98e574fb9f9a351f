# SPDX-License-Identifier: Apache-2.0
"""``bam simulate``: a servo on the bench in MuJoCo, following a script or a recording."""

from __future__ import annotations

import argparse

from bam_core.cli.bench_effects import add_bench_effects
from bam_core.cli.opengl import require_opengl
from bam_core.cli.quantities import quantity_in
from bam_core.cli.robot.case import add_start_contacts
from bam_core.cli.simulate_bench import BENCH_DEFAULTS, run_recordings, run_script
from bam_core.errors import Missing, OutOfRange
from bam_core.files.atomic_file import require_directory
from bam_core.text.quantity import LENGTH, MASS, TIME, VOLTAGE

EXAMPLE = (
    "bam simulate --servo out/xl330/m6.yaml --script sin_sin --mass 0.5 --length 0.1 --kp 200 --output run/"
)

FIRST_SCREEN = (
    "--servo",
    "--script",
    "--recording",
    "--mass",
    "--length",
    "--kp",
    "--output",
    "--render",
    "--view",
    "--robot",
    "--servos",
    "--motion",
)

_FINEST_DT, _COARSEST_DT = 1e-5, 0.1  # s; MuJoCo refuses what is unstable below that


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--servo", metavar="NAME|FILE", help="a name from 'bam servos' or a servo YAML file; not with --robot"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--script", metavar="NAME", help="trajectory script, such as sin_sin")
    what.add_argument(
        "--recording",
        nargs="+",
        metavar="LOGS",
        help="recorded runs whose commands, load and supply are replayed and whose positions are compared",
    )
    add_bench_effects(parser.add_argument_group("with --recording"))
    bench = parser.add_argument_group("with --script")
    for name, units, text in (
        ("mass", MASS, "load, kg"),
        ("arm-mass", MASS, "uniform arm, kg"),
        ("length", LENGTH, "from the axis to the load, m"),
    ):
        default = BENCH_DEFAULTS[name.replace("-", "_")]
        bench.add_argument(
            f"--{name}", type=quantity_in(units), metavar="X", help=f"{text}, {default:g} unless given"
        )
    bench.add_argument(
        "--kp",
        metavar="KP|JOINT=KP,...",
        help="position gain, firmware units, the factory's unless given; with --robot also of joints (names "
        "or patterns), as in --kp "
        "pan=8,lift=32 (default: with --robot a bench.yaml above it, else the servo's factory gain)",
    )
    bench.add_argument(
        "--kd", metavar="KD|JOINT=KD,...", help="derivative gain, likewise (default: a bench.yaml, or 0)"
    )
    bench.add_argument(
        "--ki", metavar="KI|JOINT=KI,...", help="integral gain, likewise (default: a bench.yaml, or 0)"
    )
    bench.add_argument(
        "--vin", type=quantity_in(VOLTAGE), metavar="V", help="supply (default: the servo's nominal one)"
    )
    parser.add_argument(
        "--dt", type=quantity_in(TIME), default=1e-3, metavar="SECONDS", help="time step (default: 0.001)"
    )
    parser.add_argument(
        "--output", metavar="DIR", help="write a plot (.png) and the trajectory (.csv) of every run"
    )
    display = parser.add_mutually_exclusive_group()
    display.add_argument(
        "--render",
        metavar="FILE",
        help="draw the bench: moments of the run as .png, a film as .gif, or as .mp4 with ffmpeg",
    )
    display.add_argument("--view", action="store_true", help="show the run, or the robot, in MuJoCo's viewer")
    robot = parser.add_argument_group("any robot: with --motion, or with --view, whose sliders set goals")
    robot.add_argument("--robot", metavar="FILE", help="its description, MJCF or URDF")
    robot.add_argument(
        "--servos",
        action="append",
        default=[],
        metavar="CLASS_OR_JOINT=SERVO,...",
        help="which servo is on which joints, as in --servos mx106=mx106,head_*=mx64",
    )
    robot.add_argument(
        "--motion",
        metavar="FILE",
        help="goals of its joints: CSV with columns time, goal:JOINT and kp, as 'bam robot design' writes",
    )
    add_start_contacts(robot)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, compare where there is something to compare with, and print the result."""
    from bam_core.servo.model import load_servo

    if arguments.robot is not None:
        from bam_core.cli import simulate_motion, simulate_robot

        _check_dt(arguments.dt)
        simulate_robot.require_no_bench(arguments)
        return (simulate_robot if arguments.motion is None else simulate_motion).run(arguments)
    if arguments.motion is not None:
        raise Missing("--robot", "the description of the robot with this --motion")
    if arguments.servos:
        raise Missing("--robot", "the description of the robot with these --servos")
    if arguments.servo is None:
        raise Missing("--servo", "a servo file or a name from 'bam servos' (or --robot FILE with --view)")
    if arguments.script is None and arguments.recording is None:
        raise Missing("--script or --recording", "a script such as sin_sin, or recorded runs")
    _require_opengl(arguments)
    servo = load_servo(arguments.servo)
    _check_dt(arguments.dt)
    if arguments.output:
        require_directory(arguments.output)
    if arguments.script is not None:
        return run_script(servo, arguments)
    return run_recordings(servo, arguments)


def _require_opengl(arguments: argparse.Namespace) -> None:
    """Check what a picture or window needs before time is spent on the simulation."""
    if arguments.render:
        require_opengl("--render")
        from bam_core.mujoco.picture import require_picture

        require_picture(arguments.render)
    if arguments.view:
        from bam_core.mujoco.window import require_screen

        require_screen()


def _check_dt(dt: float) -> None:
    if not _FINEST_DT <= dt <= _COARSEST_DT:
        raise OutOfRange("--dt", dt, f"{_FINEST_DT:g} to {_COARSEST_DT:g}", printed=f"{dt:g} s")
