# SPDX-License-Identifier: Apache-2.0
"""``bam servos``: the servo library, and files for servos that it does not have."""

from __future__ import annotations

import argparse

from bam_core.cli import new_servo
from bam_core.errors import Conflict
from bam_core.text.gain_words import gain_words
from bam_core.text.table import format_table

EXAMPLE = (
    "bam servos new my_servo.yaml --voltage 12V --stall-torque '30 kg.cm' --stall-current 2.7A "
    "--no-load-speed 100rpm"
)
FIRST_SCREEN = (
    "--name",
    "--from",
    "--gear-ratio",
    "--firmware",
    "--voltage",
    "--stall-torque",
    "--stall-current",
    "--no-load-speed",
    "--counts-per-turn",
    "--factory-kp",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "servo",
        nargs="?",
        metavar="SERVO|new",
        help="servo to show as YAML, a name or a file, or 'new' to write FILE from a data sheet "
        "(default: list all)",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="for 'new': the file to write")
    new_servo.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the list or one servo's file."""
    from bam_core.servo.added import added_folder, added_names
    from bam_core.servo.families import LEROBOT_GAINS
    from bam_core.servo.model import load_servo, published_names, servo_names

    if arguments.servo == "new":
        return new_servo.run(arguments)
    if arguments.file is not None:
        raise Conflict(
            arguments.file,
            "is one argument too many",
            expected="a servo alone",
            advice=f"write 'bam servos {arguments.file}'"
            if arguments.servo in ("show", "list")
            else "leave it out",
        )
    if arguments.servo is not None:
        servo = load_servo(arguments.servo)
        print(servo.to_yaml(), end="")
        words = gain_words(servo.firmware.factory_kp, LEROBOT_GAINS.get(servo.firmware.name))
        print(*(f"# {line}" for line in words), sep="\n")  # what is printed is a servo file all the same
        return 0
    header = ("name", "title", "firmware", "supply V", "k_t N·m/A", "R Ω", "J_m kg·m²", "friction")
    rows = []
    for name in (*servo_names(), *added_names()):
        servo = load_servo(name)
        motor = servo.motor
        rows.append(
            (
                name,
                servo.title,
                servo.firmware.name,
                f"{servo.nominal_voltage:g}",
                f"{motor.torque_constant:.3f}",
                f"{motor.resistance:.2f}",
                f"{motor.armature:.5f}",
                servo.friction_model,
            )
        )
    print(format_table(header, rows))
    if added_names():
        print(f"added, in {added_folder()}: {', '.join(added_names())}")
    print(f"as others published them, for their integrator: {', '.join(published_names())}")
    return 0
