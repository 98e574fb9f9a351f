# SPDX-License-Identifier: Apache-2.0
"""``bam export ROBOT --servos``: a robot's description with its servos, for programs with the plugin."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.errors import Conflict, WrongType
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import mujoco

    from bam_core.mujoco.native import NativeServo

_SUFFIXES = (".xml", ".mjcf", ".urdf")
_NOT_FOR_ROBOTS = ("to", "draws", "motion", "seed", "bench", "actuator", "lerobot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_argument_group("a robot (SOURCE is its MJCF or URDF): MJCF with servos as plugins")
    group.add_argument(
        "--servos",
        action="append",
        default=[],
        metavar="CLASS_OR_JOINT=SERVO,...",
        help="which servo is on which joints, as in --servos mx106=mx106,head_*=mx64; gains and supply: "
        "--kp, --kd, --ki and --vin, else a bench.yaml above the robot, else those of the factory",
    )


def gain(text: str) -> float | str:
    """Return a gain of all joints, or the words of gains of joints, such as "pan=8,lift=32"."""
    try:
        return float(text)
    except ValueError:
        if "=" in text:
            return text
        raise argparse.ArgumentTypeError(f"is {text!r} (expected a number, or JOINT=NUMBER,...)") from None


def is_robot(source: str) -> bool:
    """Whether a source is the description of a robot, by its suffix."""
    return Path(source).suffix.lower() in _SUFFIXES


def require_one_gain(arguments: argparse.Namespace) -> None:
    """Raise WrongType where gains of joints are given for a single servo."""
    if isinstance(arguments.kp, str):
        raise WrongType("--kp", arguments.kp, "one number for a servo")


def export_robot(sources: list[str], output: Path, arguments: argparse.Namespace) -> None:
    """Write the robot with its servos.

    Raises:
        BamError: options that are not for robots, no servos, or what `servos_by_joint` raises.
    """
    from bam_core.cli.robot.case import servo_words
    from bam_core.cli.simulate_robot import native_servos
    from bam_core.mujoco.native import equip_native
    from bam_core.mujoco.robot import compile_robot
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.robot.joints import servos_by_joint

    robot, *others = sources
    if others:
        raise Conflict(others[0], f"is given beside {robot}", expected="one robot alone")
    for name in _NOT_FOR_ROBOTS:
        if getattr(arguments, name):
            raise Conflict(f"--{name}", f"is not for the robot {robot}", advice="leave it out")
    if output.suffix != ".xml":
        raise WrongType("--output", output.name, "FILE.xml for a robot", advice="rename it")
    if output.resolve() == Path(robot).resolve():
        raise Conflict("--output", f"is the robot itself, {robot}", advice="choose another name")
    require_file(output)
    spec = load_robot(robot)
    names = servos_by_joint(spec, servo_words(arguments.servos))
    texts = {name: _text(getattr(arguments, name)) for name in ("kp", "kd", "ki")}
    given = argparse.Namespace(robot=robot, vin=arguments.vin, **texts)
    servos = native_servos(names, given)
    equip_native(spec, servos)
    compile_robot(spec)
    _find_assets_from(output, spec, Path(robot))
    write_text(output, spec.to_xml())
    print(f"wrote {output}: servos on {', '.join(names)}; import bam_core before MuJoCo loads it")
    print("gains and supply in it (a gain without JOINT= is that of all joints):")
    print(_gains(servos))


def _find_assets_from(output: Path, spec: mujoco.MjSpec, robot: Path) -> None:
    """Let the file that is written find meshes and textures where they are. In place, once it is compiled."""
    for directory in ("meshdir", "texturedir"):
        place = robot.resolve().parent / getattr(spec, directory)
        setattr(spec, directory, os.path.relpath(place, output.resolve().parent))


def _gains(servos: Mapping[str, NativeServo]) -> str:
    """Return a row per joint: its servo, gains in firmware units, and supply in V."""
    from bam_core.servo.model import load_servo

    rows = []
    for joint, native in servos.items():
        servo = load_servo(native.servo)
        kp = servo.firmware.factory_kp if native.kp is None else native.kp
        supply = servo.nominal_voltage if native.supply_voltage is None else native.supply_voltage
        rows.append((joint, servo.name, *(f"{value:g}" for value in (kp, native.ki, native.kd, supply))))
    return format_table(("joint", "servo", "kp", "ki", "kd", "supply [V]"), rows)


def _text(value: float | str | None) -> str | None:
    return None if value is None else str(value)
