# SPDX-License-Identifier: Apache-2.0
"""``bam export SERVO --to TARGET``: a servo for a training program, and what its constant friction costs."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from bam_core.errors import Conflict, Missing, OutOfRange, WrongType
from bam_core.files.atomic_file import require_file, write_bytes, write_text

log = logging.getLogger(__name__)

_TARGETS = ("genesis", "isaaclab", "mjlab", "mjx", "mujoco", "newton", "playground")
_WITH_DRAWS = ("isaaclab", "playground")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    training = parser.add_argument_group(
        "training programs (friction is constant there; its error is printed)"
    )
    training.add_argument(
        "--to",
        choices=_TARGETS,
        help="the program that loads FILE: a Python module, or MJCF for mjx and mujoco",
    )
    training.add_argument(
        "--motion",
        nargs="+",
        metavar="LOG",
        help="recordings to whose commands the drive is fitted (default: three scripts of the bench)",
    )
    training.add_argument(
        "--kd", type=float, metavar="KD", help="derivative gain, firmware units (default: 0)"
    )
    training.add_argument(
        "--ki",
        type=float,
        metavar="KI",
        help="integral gain, firmware units: no drive has one, and its absence is priced (default: 0)",
    )
    training.add_argument(
        "--draws",
        type=int,
        metavar="N",
        help="write N joint draws of the servo's parameters, SI, to --output FILE.npz, for randomisation",
    )
    training.add_argument("--seed", type=int, metavar="N", help="of the draws (default 0)")


def require_target(arguments: argparse.Namespace) -> None:
    """Refuse options of training programs where none is named."""
    if arguments.seed is not None:
        raise Conflict("--seed", "is for draws", expected="--draws N", advice="leave it out")
    for name in ("kd", "ki", "motion"):
        if getattr(arguments, name) is not None:
            raise Conflict(
                f"--{name}", "is for training programs", expected="--to TARGET", advice="leave it out"
            )


def export_drive(servos: list[str], output: Path, arguments: argparse.Namespace) -> int:
    """Write the file of a servo for a training program, and print its distances from the full law."""
    from bam_core.exchange.training import TARGETS, DriveGains, drive_draws, fit_drive
    from bam_core.recordings import load_recordings
    from bam_core.servo.gain_registers import require_register_kp
    from bam_core.servo.model import load_servo
    from bam_core.text.table import format_table
    from bam_core.text.training_words import next_step

    if not servos:
        raise Conflict(
            "--to", "is for servos", expected="a servo's file or library name", advice="leave it out"
        )
    for name in ("bench", "actuator"):
        if getattr(arguments, name) is not None:
            raise Conflict(f"--{name}", f"is not for --to {arguments.to}", advice="leave it out")
    if arguments.kp is None:
        raise Missing("--kp", "the position gain that the firmware will have", advice="give it")
    suffix, writer = TARGETS[arguments.to]
    if output.suffix != suffix:
        raise WrongType("--output", output.name, f"FILE{suffix} for {arguments.to}", advice="rename it")
    if output.stem == arguments.to:  # where the file lies, an import would find it instead of the program
        raise OutOfRange("--output", output.name, f"another name than that of the package {arguments.to}")
    require_file(output)
    servo = load_servo(servos[0])
    require_register_kp("--kp", servo.firmware, arguments.kp)
    gains = DriveGains(
        kp=arguments.kp, kd=arguments.kd or 0.0, ki=arguments.ki or 0.0, supply_voltage=arguments.vin
    )
    motions = None if arguments.motion is None else load_recordings(arguments.motion)
    print(
        f"{servos[0]}: fits a drive to the whole law, about ten seconds on a free machine",
        file=sys.stderr,
        flush=True,
    )
    priced = fit_drive(servo, gains, motions)
    draws = drive_draws(servos[0], gains, priced)
    write_text(output, writer(servo, gains, priced, draws))
    if arguments.to in _WITH_DRAWS and len(draws["stiffness"]) == 1:
        log.warning("%s: errors of its parameters are unknown; nothing is randomised", servos[0])
    for remark in priced.remarks:
        log.warning("%s: %s", servos[0], remark)
    rows = [(name, f"{1e3 * error:.2f}") for name, error in priced.errors.items()]
    print(f"Fitted to {', '.join(priced.motions)}: {1e3 * priced.fit_error:.2f} mrad from the whole law.")
    print("Distance from the whole law, mean over three scripts and two loads that took no part in the fit:")
    print(format_table(("drive", "MAE [mrad]"), rows))
    print(f"wrote {output}")
    print(next_step(arguments.to, output.name, servo.name))
    return 0


def export_draws(servos: list[str], output: Path, arguments: argparse.Namespace) -> int:
    """Write joint draws of a servo's parameters."""
    from bam_core.exchange.training import servo_draws

    if not servos:
        raise Conflict(
            "--draws", "is for servos", expected="a servo's file or library name", advice="leave it out"
        )
    for name in ("to", "motion", "kp", "kd", "ki", "vin", "bench", "actuator"):
        if getattr(arguments, name) is not None:
            raise Conflict(f"--{name}", "is not for --draws", advice="leave it out")
    if arguments.draws < 1:
        raise OutOfRange("--draws", arguments.draws, "one or more")
    if output.suffix != ".npz":
        raise WrongType("--output", output.name, "FILE.npz for --draws", advice="rename it")
    require_file(output)
    draws = servo_draws(servos[0], arguments.draws, arguments.seed or 0)
    write_bytes(output, draws.npz())
    names = ", ".join(draws.parameters)
    print(f"wrote {output}: {arguments.draws} draws of {names}")
    return 0
