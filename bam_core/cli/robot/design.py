# SPDX-License-Identifier: Apache-2.0
"""``bam robot design``: the most informative motion for the servos of an assembled robot."""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bam_core.cli.map_words import map_words
from bam_core.cli.quantities import quantity_in
from bam_core.cli.robot.case import (
    LOGS_HELP,
    add_description,
    add_start_contacts,
    add_units,
    servo_words,
)
from bam_core.errors import Missing, OutOfRange, WrongType
from bam_core.files.atomic_file import require_file
from bam_core.text.comma_list import comma_list
from bam_core.text.quantity import LENGTH, SHARE, SPEED, TIME, VOLTAGE
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.robot.motion_design import DesignTask, MotionDesign

log = logging.getLogger(__name__)

EXAMPLE = "bam robot design --robot arm.urdf --servos '*=xl330' --kp 400 --vin 5 --output motion.csv"

FIRST_SCREEN = (
    "--robot",
    "--servos",
    "--root",
    "--kp",
    "--vin",
    "--seconds",
    "--speed",
    "--floor",
    "--output",
)


def add_arguments(group: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group.description = (
        "Plan a motion of all joints that determines the servos' parameters well. It keeps to its limits in\n"
        "simulations, also of robots that differ from the description."
    )
    group.add_argument("logs", nargs="*", metavar="LOGS", help=f"recorded already: {LOGS_HELP}")
    add_description(group)
    group.add_argument("--output", required=True, metavar="FILE", help="write the motion to this file (CSV)")
    group.add_argument(
        "--kp",
        required=True,
        metavar="KP|JOINT=KP,...",
        help="position gain of the servos, or of joints (names or patterns), firmware units",
    )
    add_units(group)
    group.add_argument(
        "--vin", type=quantity_in(VOLTAGE), metavar="V", help="supply (default: that of LOGS or nominal)"
    )
    group.add_argument(
        "--start",
        metavar="KEYFRAME",
        help="posture in which the motion begins and ends (default: that of the description)",
    )
    group.add_argument(
        "--floor",
        type=quantity_in(LENGTH),
        metavar="M",
        help="height of a floor that the description lacks, in its frame",
    )
    group.add_argument(
        "--models", default="m6", metavar="NAME", help="friction model to be identified (default: m6)"
    )
    group.add_argument(
        "--seconds",
        type=quantity_in(TIME),
        default=60.0,
        help="the motion's longest time (default: %(default)g)",
    )
    group.add_argument(
        "--speed",
        type=quantity_in(SPEED),
        default=2.0,
        metavar="RAD/S",
        help="limit of goals and joints (default: %(default)g)",
    )
    group.add_argument(
        "--torque",
        type=quantity_in(SHARE),
        default=0.5,
        metavar="SHARE",
        help="limit of the motors, as a share of their stall torque (default: %(default)g)",
    )
    group.add_argument(
        "--clearance",
        type=quantity_in(LENGTH),
        default=0.01,
        metavar="M",
        help="least distance of parts from each other and from all around (default: %(default)g)",
    )
    group.add_argument(
        "--pieces",
        type=int,
        default=60,
        metavar="N",
        help="pieces of motion to choose from (default: %(default)d)",
    )
    group.add_argument("--seed", type=int, default=0, help="of the pieces (default: 0)")
    group.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how far the robot may be from its description, as of bam robot identify; may be repeated",
    )
    add_start_contacts(group)


def run(arguments: argparse.Namespace) -> int:
    """Design, print the tables, write the motion."""
    from tqdm import tqdm

    from bam_core.robot.motion import write_motion
    from bam_core.robot.motion_design import design_motion

    begin = time.monotonic()
    require_file(arguments.output)
    task = _task(arguments)
    with tqdm(total=task.pieces, desc="pieces", unit="piece", disable=None, leave=False) as bar:
        design = design_motion(task, lambda words: bar.update() and None)
    write_motion(design.motion, arguments.output)
    print(_summary(task, design))
    print()
    print(_parameters(design))
    print(f"{time.monotonic() - begin:.0f} s; wrote {arguments.output}, play it with: bam robot record ...")
    return 0


def _task(arguments: argparse.Namespace) -> DesignTask:
    from bam_core.identification.settings import resolve_models
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.robot.contacts import ContactCheck
    from bam_core.robot.joints import chosen_joints, servos_by_joint
    from bam_core.robot.load import RunSettings, load_runs
    from bam_core.robot.motion_check import MotionCheck
    from bam_core.robot.motion_design import DESIGN_STEP, DesignTask
    from bam_core.robot.motion_limits import MotionLimits, joint_space
    from bam_core.robot.simulation import RobotBench
    from bam_core.robot.tolerances import DEFAULT
    from bam_core.robot.unknowns import Unknowns, bodies_for, with_friction_model
    from bam_core.servo.gains import gain_from_text, gain_of, over, require_gain
    from bam_core.servo.model import load_servo
    from bam_core.text.tolerance_words import tolerances_from

    gain = gain_from_text("--kp", arguments.kp)
    require_gain("--kp", gain, "kp")
    if not 1.0 <= arguments.seconds <= 3600.0:
        raise OutOfRange("--seconds", arguments.seconds, "1 to 3600")
    if not 1 <= arguments.pieces <= 10_000:
        raise OutOfRange("--pieces", arguments.pieces, "1 to 10000")
    limits = MotionLimits(speed=arguments.speed, torque=arguments.torque, clearance=arguments.clearance)
    models = [model.name for model in resolve_models(comma_list(arguments.models))]
    if len(models) != 1:
        raise WrongType("--models", arguments.models, "one friction model, as in m6")
    spec = load_robot(arguments.robot)
    types = servos_by_joint(spec, servo_words(arguments.servos))
    servos = {
        name: with_friction_model(load_servo(name), models[0]) for name in dict.fromkeys(types.values())
    }
    joints = chosen_joints(list(types), comma_list(arguments.joints))
    space = joint_space(spec, list(types), arguments.start or "", moving=joints)
    bench = RobotBench.make(
        spec,
        arguments.root,
        step=DESIGN_STEP,
        paths=[(space.joints, space.start[None])],
        start_contacts=arguments.start_contacts,
    )
    tolerances = tolerances_from(arguments.tolerance, DEFAULT)
    unknowns = Unknowns(
        servos=servos, joints=types, tolerances=tolerances, bodies=bodies_for(bench.spec, tolerances)
    )
    contacts = ContactCheck(spec, arguments.root, clearance=limits.clearance, floor=arguments.floor)
    for pair in contacts.allow(space.joints, space.start):
        log.warning("%s touch at the start: their contact is not looked at", pair)
    if not contacts.has_surroundings:
        log.warning("the description has nothing around the robot, no table and no floor: --floor adds one")
    kp = over(None, gain, space.joints, "the robot")
    for joint in space.joints:
        if gain_of(kp, joint) is None:
            raise Missing(f"--kp of '{joint}'", "a position gain of every joint", advice="add it")
    assert kp is not None
    settings = RunSettings(
        kp=kp,
        supply_voltage=arguments.vin,
        unit=arguments.unit,
        calibration=arguments.calibration,
        map=map_words(arguments),
    )
    return DesignTask(
        bench=bench,
        check=MotionCheck(
            bench, unknowns, limits, contacts, supply_voltage=arguments.vin, seed=arguments.seed
        ),
        unknowns=unknowns,
        space=space,
        limits=limits,
        kp=kp,
        supply_voltage=arguments.vin,
        seconds=arguments.seconds,
        pieces=arguments.pieces,
        seed=arguments.seed,
        known=load_runs(arguments.logs, settings) if arguments.logs else (),
    )


def _summary(task: DesignTask, design: MotionDesign) -> str:
    counts: dict[str, int] = {}
    for piece in design.pieces:
        counts[piece.kind] = counts.get(piece.kind, 0) + 1
    lines = [
        f"{design.motion.duration:.1f} s of motion of {len(design.motion.joints)} joints, "
        f"{design.bits:.0f} bit about the servos: {_listed(counts)}",
        f"within limits in {task.check.robots} simulations of robots that it may be: fastest joint "
        f"{design.peaks.speed:.2f} of {task.limits.speed:g} rad/s, strongest motor "
        f"{100 * design.peaks.torque:.0f} of {100 * task.limits.torque:.0f} % of its stall torque, "
        f"nothing nearer than {1e3 * task.limits.clearance:g} mm",
    ]
    if design.refused:
        count = sum(design.refused.values())
        example = max(design.refused, key=lambda reason: design.refused[reason])
        lines.append(f"{count} of {task.pieces} pieces were refused, such as: {example}")
    return "\n".join(lines)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} x {kind}" for kind, count in counts.items())


def _parameters(design: MotionDesign) -> str:
    import numpy as np

    from bam_core.robot.estimates import parameter_estimates

    begin = np.zeros(len(design.unknowns.names))
    before, after = (
        parameter_estimates(design.unknowns, begin, np.sqrt(np.diag(covariance)))
        for covariance in (design.before, design.after)
    )
    rows: list[Sequence[str]] = []
    for servo, estimates in after.items():
        for name, estimate in estimates.items():
            known = before[servo][name]
            rows.append(
                (
                    servo,
                    name,
                    f"{estimate.value:.4g}",
                    f"{known.low:.3g} to {known.high:.3g}",
                    f"{estimate.low:.3g} to {estimate.high:.3g}",
                    "" if estimate.told else "no",
                )
            )
    header = ("servo", "parameter, SI", "value", "95 % now", "95 % expected after it", "determined")
    return format_table(header, rows)
