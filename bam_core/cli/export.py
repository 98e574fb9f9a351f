# SPDX-License-Identifier: Apache-2.0
"""``bam export``: servos and recordings for BAM's own program and for MuJoCo."""

from __future__ import annotations

import argparse
import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli import export_lerobot, export_robot, export_training
from bam_core.cli.bench_effects import bench_effects_for
from bam_core.cli.quantities import quantity_in
from bam_core.errors import Conflict, UnknownName, WrongType
from bam_core.files.atomic_file import require_directory, require_file, write_text
from bam_core.text.quantity import LENGTH, MASS, VOLTAGE, quantity

if TYPE_CHECKING:
    from bam_core.recordings.recording import Recording
    from bam_core.servo.pendulum import PendulumBench

log = logging.getLogger(__name__)

EXAMPLE = "bam export out/xl330/m6.yaml --kp 400 --to mjlab --output xl330.py"

FIRST_SCREEN = (
    "--output",
    "--servos",
    "--kp",
    "--vin",
    "--to",
    "--kd",
    "--draws",
    "--lerobot",
)

_FOR_MJCF = ("kp", "kd", "ki", "vin", "bench")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Turn a servo into BAM's parameter JSON (--output FILE.json) or into MJCF (FILE.xml), a robot\n"
        "into MJCF with its servos, and recordings into BAM's log JSON or a LeRobot dataset. What the\n"
        "other form cannot hold is listed, a line each."
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="a servo, a robot, or recordings: a YAML file or library name, MJCF or URDF, bags, logs, or "
        "directories of them",
    )
    parser.add_argument(
        "--output",
        required=True,
        metavar="PATH",
        help="FILE.json, .xml, .py or .npz; a directory for several recordings. An existing file is replaced",
    )
    parser.add_argument(
        "--actuator",
        metavar="NAME",
        help="BAM's name of the servo, in parameter JSON (default: the servo's own)",
    )
    export_training.add_arguments(parser)
    mjcf = parser.add_argument_group(
        "MJCF (a default class with the servo's name: armature, damping, frictionloss and a dcmotor)"
    )
    mjcf.add_argument(
        "--kp",
        type=export_robot.gain,
        metavar="KP",
        help="position gain, firmware units: the actuator's input is a goal in rad (default: a voltage, or a "
        "torque for firmware that asks for a current); for a robot that of all joints, or pan=8,lift=32",
    )
    mjcf.add_argument(
        "--vin", type=quantity_in(VOLTAGE), metavar="V", help="supply (default: the servo's nominal one)"
    )
    mjcf.add_argument(
        "--bench",
        metavar="KG,M[,ARM_KG]",
        help="a whole model, a pendulum of this load, length and arm (default: the class alone, for your "
        "robot to include)",
    )
    export_robot.add_arguments(parser)
    export_lerobot.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Export, all of it or nothing."""
    from bam_core.servo.added import added_names
    from bam_core.servo.model import published_names, servo_names

    output = Path(arguments.output)
    sources: list[str] = arguments.sources
    names = (*servo_names(), *added_names())
    for source in sources:
        is_name = Path(source).name == source and not Path(source).suffix
        if is_name and source not in names and not Path(source).exists():
            raise UnknownName("servo or recording", source, names)
    export_lerobot.require_lerobot(arguments)
    if arguments.lerobot:
        export_lerobot.export_dataset(sources, output, arguments)
        return 0
    if export_robot.is_robot(sources[0]):
        export_robot.export_robot(sources, output, arguments)
        return 0
    if arguments.servos:
        raise Conflict("--servos", "is for a robot", expected="its MJCF or URDF as SOURCE")
    export_robot.require_one_gain(arguments)
    library = {*names, *published_names()}
    servos = [source for source in sources if source in library or Path(source).suffix in (".yaml", ".yml")]
    if servos and len(sources) > 1:
        raise Conflict(
            sources[1],
            f"is given beside {sources[0]}",
            expected="one servo alone",
            advice="export one at a time",
        )
    given = [f"--{name}" for name in _FOR_MJCF if getattr(arguments, name) is not None]
    if arguments.draws is not None:
        return export_training.export_draws(servos, output, arguments)
    if arguments.to is not None:
        return export_training.export_drive(servos, output, arguments)
    export_training.require_target(arguments)
    if given and not (servos and output.suffix == ".xml"):
        raise Conflict(
            given[0], "is for MJCF", expected="a servo, and --output FILE.xml", advice="leave it out"
        )
    if arguments.actuator is not None and not (servos and output.suffix == ".json"):
        raise Conflict(
            "--actuator",
            "is for parameter JSON",
            expected="a servo, and --output FILE.json",
            advice="leave it out",
        )
    if servos:
        _export_servo(servos[0], output, arguments)
    else:
        _export_recordings(sources, output)
    return 0


def _export_servo(source: str, output: Path, arguments: argparse.Namespace) -> None:
    from bam_core.exchange import MjcfDrive, bam_parameters, bam_parameters_text, servo_mjcf
    from bam_core.servo.gain_registers import require_register_kp
    from bam_core.servo.model import load_servo

    if output.suffix not in (".json", ".xml"):
        raise WrongType(
            "--output", output.name, "FILE.json for BAM, or FILE.xml for MuJoCo", advice="rename it"
        )
    require_file(output)
    servo = load_servo(source)
    if output.suffix == ".xml":
        if arguments.kp is not None:
            require_register_kp("--kp", servo.firmware, arguments.kp)
        drive = MjcfDrive(kp=arguments.kp, supply_voltage=arguments.vin)
        text, remarks = servo_mjcf(servo, drive, _bench(arguments.bench))
    else:
        data, remarks = bam_parameters(servo, arguments.actuator, bench_effects_for(None, source))
        text = bam_parameters_text(data)
    write_text(output, text)
    for remark in remarks:
        log.warning("%s: %s", source, remark)
    print(f"wrote {output}")


def _bench(text: str | None) -> PendulumBench | None:
    from bam_core.servo.pendulum import PendulumBench

    if text is None:
        return None
    words = text.split(",")
    if len(words) not in (2, 3):
        raise WrongType("--bench", text, "KG,M or KG,M,ARM_KG, as in 0.5,0.1")
    mass, length, arm_mass = (
        quantity("--bench", word, units)
        for word, units in zip([*words, "0"][:3], (MASS, LENGTH, MASS), strict=True)
    )
    return PendulumBench(mass=mass, length=length, arm_mass=arm_mass)


def _export_recordings(sources: list[str], output: Path) -> None:
    from bam_core.exchange import bam_log_text
    from bam_core.recordings import load_recordings

    alone = output.suffix == ".json"
    if output.suffix in (".xml", ".yaml", ".yml", ".mcap"):
        raise WrongType(
            "--output", output.name, "FILE.json, or a directory for many recordings", advice="rename it"
        )
    recordings = load_recordings(sources)
    if alone and len(recordings) > 1:
        raise Conflict(
            "--output",
            f"is a file for {len(recordings)} recordings",
            expected="a directory",
            advice="rename it",
        )
    (require_file if alone else require_directory)(output)
    places = [output if alone else output / f"{recording.name}.json" for recording in recordings]
    texts = [bam_log_text(recording) for recording in recordings]
    for recording, place, text in zip(recordings, places, texts, strict=True):
        write_text(place, text)
        if math.isfinite(recording.demand_limit) and not _is_own(recording):
            log.warning(
                "%s: demand_limit %.3g is lost, BAM's log has no field for it", place, recording.demand_limit
            )
        print(f"wrote {place}")


def _is_own(recording: Recording) -> bool:
    """Whether a recording's limit is that of its firmware, as far as that is known."""
    from bam_core.servo.firmware_library import FIRMWARES

    firmware = FIRMWARES.get(recording.firmware)
    return firmware is not None and recording.demand_limit >= firmware.demand_limit
