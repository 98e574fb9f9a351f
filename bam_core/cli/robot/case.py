# SPDX-License-Identifier: Apache-2.0
"""What the commands `bam robot ...` share: a robot, its servos, its runs, and the options that name them."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.logs import add_logs, add_strict
from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.quantities import quantity_in
from bam_core.errors import Conflict, Missing
from bam_core.text.comma_list import comma_list
from bam_core.text.quantity import VOLTAGE

if TYPE_CHECKING:
    from bam_core.recordings.excluded import Excluded
    from bam_core.robot.load import RunSettings
    from bam_core.robot.run import RobotRun
    from bam_core.robot.simulation import RobotBench
    from bam_core.servo.model import ServoModel

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RobotCase:
    """What was asked about.

    Attributes:
        bench: the robot.
        types: joint -> what the user calls its servo.
        servos: the same -> the servo.
        runs: to follow.
        joints: that count.
        excluded: runs that cannot be used, and why.
        require: raises BamError about a run that cannot be used.
    """

    bench: RobotBench
    types: Mapping[str, str]
    servos: Mapping[str, ServoModel]
    runs: Sequence[RobotRun]
    joints: tuple[str, ...]
    excluded: tuple[Excluded, ...] = ()
    require: Callable[[RobotRun], None] = lambda run: None


LOGS_HELP = (
    "runs of the robot: bags, CSV files with the columns time, goal:JOINT and read:JOINT (s, rad), LeRobot "
    "datasets, or NumPy archives of mujoco.sysid or with PACE's names; see docs/robot.md"
)


def add_runs(group: argparse.ArgumentParser) -> None:
    """Declare the runs of a robot and the options for how they were recorded."""
    add_logs(group, LOGS_HELP)
    add_strict(group)
    add_description(group)
    group.add_argument(
        "--interval",
        metavar="FILE",
        help="JSON: log name -> [first, last] in s, the part that is compared (default: all of a log)",
    )
    group.add_argument(
        "--others",
        choices=("simulated", "measured"),
        default="simulated",
        help="how the other joints move while one is simulated: by their servos, the whole robot at once, or "
        "as measured, one joint at a time (default: simulated)",
    )
    group.add_argument(
        "--kp",
        metavar="KP|JOINT=KP,...",
        help="position gain of all servos, or of joints (names or patterns), as in --kp pan=8,lift=32 "
        "(default: columns kp and kp:JOINT, a bench.yaml, or kpNN in a log's name)",
    )
    group.add_argument(
        "--kd",
        metavar="KD|JOINT=KD,...",
        help="derivative gain, likewise (default: columns kd and kd:JOINT, a bench.yaml, or 0)",
    )
    group.add_argument(
        "--ki",
        metavar="KI|JOINT=KI,...",
        help="integral gain, likewise (default: columns ki and ki:JOINT, a bench.yaml, or 0)",
    )
    group.add_argument(
        "--goal-acceleration",
        metavar="A|JOINT=A,...",
        help="largest acceleration of the servos' set-points, rad/s², likewise; 0: not limited. LeRobot sets "
        "38.6 on an SO-101 (default: a bench.yaml, or the servo files)",
    )
    group.add_argument(
        "--vin",
        type=quantity_in(VOLTAGE),
        help="supply, V (default: a column vin, a bench.yaml, or the servos' nominal one)",
    )
    add_units(group)
    add_start_contacts(group)


def add_units(group: argparse.ArgumentParser) -> None:
    """Declare the options about names and units of runs."""
    add_map(group)
    group.add_argument(
        "--unit",
        metavar="deg|rad|normalised",
        help="of positions (default: as a map has it, else rad; of LeRobot datasets what the steps of their "
        "values show, else it must be given)",
    )
    group.add_argument(
        "--calibration",
        metavar="FILE",
        help="LeRobot's calibration of the arm, for --unit normalised; goals beyond its ranges count as "
        "their ends, as the servos take them",
    )


def add_start_contacts(group: argparse._ActionsContainer) -> None:
    """Declare the option that simulates contacts which overlapping links of a description have."""
    group.add_argument(
        "--start-contacts",
        action="store_true",
        help="simulate contacts also between links that touch where the robot starts (default: they are left "
        "out and named, since overlapping meshes jam joints)",
    )


def add_description(group: argparse.ArgumentParser, *, has_joints: bool = True) -> None:
    """Declare the options for which robot, with which servos, on what; perhaps which joints count."""
    group.add_argument(
        "--robot", required=True, metavar="FILE", help="description of the robot, MJCF or URDF"
    )
    group.add_argument(
        "--servos",
        action="append",
        default=[],
        metavar="CLASS_OR_JOINT=SERVO,...",
        help="which servo is on which joints, as in --servos mx106=mx106,head_*=mx64: joints of a default "
        "class of the MJCF, or by name or pattern; the servo as a name from 'bam servos', or a file",
    )
    if has_joints:
        group.add_argument(
            "--joints",
            default="",
            metavar="JOINT,...",
            help="names or patterns of joints that count; !PATTERN leaves out (default: all with a servo "
            "that were recorded)",
        )
    group.add_argument(
        "--root",
        default="fixed",
        metavar="free|fixed|SITE_ON_GROUND",
        help="what the base does (default: fixed): it does not move, it is free, or it stands with this "
        "site, the sole of a foot, on level ground at the start",
    )


def robot_case(arguments: argparse.Namespace) -> RobotCase:
    """Load what the options name.

    Raises:
        BamError: something is missing, cannot be read, or does not go together.
    """
    import mujoco

    from bam_core.mujoco.robot_file import load_robot
    from bam_core.recordings.supply import unusual_supplies
    from bam_core.robot.description_evidence import description_findings
    from bam_core.robot.joints import (
        chosen_joints,
        joint_warnings,
        require_in_range,
        require_possible_speed,
        require_possible_supply,
        require_recorded,
        servos_by_joint,
    )
    from bam_core.robot.load import load_usable_runs
    from bam_core.robot.restarts import require_no_gap
    from bam_core.robot.root import FIXED, FREE
    from bam_core.robot.simulation import RobotBench
    from bam_core.servo.model import load_servo
    from bam_core.text.finding import log_findings
    from bam_core.text.robot_evidence_findings import FreeBase

    spec = load_robot(arguments.robot)
    types = servos_by_joint(spec, servo_words(arguments.servos))
    servos = {name: load_servo(name) for name in dict.fromkeys(types.values())}
    if arguments.root == FIXED and any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints):
        log_findings(log, [FreeBase(robot=arguments.robot)])
    if arguments.root == FREE and not any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints):
        raise Missing(
            f"{arguments.robot}, free base", "a free joint, for --root free", advice=f"use --root {FIXED}"
        )

    driven = {joint: servos[name] for joint, name in types.items()}

    def require(run: RobotRun) -> None:
        require_recorded(types, run.joints)
        require_possible_supply(run, driven)
        require_possible_speed(run.name, run, driven)
        require_in_range(spec, run.name, run.joints, run.position)
        if arguments.root != FIXED:
            require_no_gap(run)

    loaded = load_usable_runs(arguments.logs, run_settings(arguments), require=require)
    runs = loaded.runs
    log_findings(log, unusual_supplies(servos.values(), [run.supply_voltage for run in runs]))
    available = [joint for joint in types if all(joint in run.joints for run in runs)]
    if not available:
        raise Conflict("logs", "have no joint in common", advice="give those of one robot")
    log_findings(log, joint_warnings(spec, types, available))
    joints = chosen_joints(available, comma_list(arguments.joints))
    bench = RobotBench.make(
        spec,
        arguments.root,
        others=arguments.others,
        paths=[(run.joints, run.position) for run in runs],
        start_contacts=arguments.start_contacts,
    )
    if arguments.root == FIXED:
        log_findings(log, description_findings(bench.spec, runs, joints, driven))
    return RobotCase(
        bench=bench,
        types=types,
        servos=servos,
        runs=runs,
        joints=joints,
        excluded=loaded.excluded,
        require=require,
    )


def run_settings(arguments: argparse.Namespace) -> RunSettings:
    """Return the options that hold for all runs; raises BamError."""
    from bam_core.robot.load import RunSettings
    from bam_core.servo.gains import gain_from_text

    kp, kd, ki, acceleration = (
        None if text is None else gain_from_text(option, text)
        for option, text in (
            ("--kp", arguments.kp),
            ("--kd", arguments.kd),
            ("--ki", arguments.ki),
            ("--goal-acceleration", arguments.goal_acceleration),
        )
    )
    return RunSettings(
        kp=kp,
        kd=kd,
        ki=ki,
        goal_acceleration=acceleration,
        supply_voltage=arguments.vin,
        intervals=arguments.interval,
        unit=arguments.unit,
        calibration=arguments.calibration,
        strict=arguments.strict,
        map=map_words(arguments),
    )


def servo_words(given: Sequence[str]) -> list[str]:
    """Return the value of --servos, one word per assignment; raises Missing."""
    words = [word for option in given for word in comma_list(option)]
    if not words:
        raise Missing("--servos", "which servo is on which joints, as in mx106=mx106,head_*=mx64")
    return words


def params_by_model(
    paths: Sequence[str], case: RobotCase
) -> dict[str, tuple[dict[str, ServoModel], Path | None]]:
    """Return friction model -> the servo of every joint, and the directory that the servos come from.

    Args:
        paths: servo files or names; each takes the place of the servo of the same name. A model counts that
            all of the robot's servos have. None of them: the robot's servos as they are, called "given".
        case: the robot.

    Raises:
        BamError: a servo is none of the robot's, is given twice, or no model is complete.
    """
    from bam_core.servo.model import load_servo

    if not paths:
        return {"given": ({joint: case.servos[name] for joint, name in case.types.items()}, None)}
    names = {servo.name for servo in case.servos.values()}
    by_model: dict[str, dict[str, ServoModel]] = {}
    folders: dict[str, set[Path]] = {}
    for path in dict.fromkeys(paths):
        servo = load_servo(path)
        if servo.name not in names:
            raise Conflict(
                f"--params {path}",
                f"is a servo {servo.name}, which is on no joint",
                expected=", ".join(sorted(names)),
                advice="correct --servos or leave it out",
            )
        of_model = by_model.setdefault(servo.friction_model, {})
        if servo.name in of_model:
            raise Conflict(
                f"--params {path}",
                f"is a second {servo.name} of {servo.friction_model}",
                expected="one file per servo and friction model",
            )
        of_model[servo.name] = servo
        if Path(path).is_file():
            folders.setdefault(servo.friction_model, set()).add(Path(path).parent)
    complete = {
        model: servos_of_model for model, servos_of_model in by_model.items() if names <= set(servos_of_model)
    }
    if not complete:
        given = "; ".join(
            f"{model}: {', '.join(servos_of_model)}" for model, servos_of_model in by_model.items()
        )
        raise Missing(
            "--params",
            f"for one friction model a file for each of {', '.join(sorted(names))} (given: {given})",
        )
    result = {}
    for model in sorted(complete):
        servos = {joint: complete[model][case.servos[name].name] for joint, name in case.types.items()}
        places = folders.get(model, set())
        result[model] = (servos, places.pop() if len(places) == 1 else None)
    return result
