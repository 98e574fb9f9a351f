# SPDX-License-Identifier: Apache-2.0
"""``bam robot view``: runs of a robot as they are, and as simulated with its servos."""

from __future__ import annotations

import argparse
from pathlib import Path

from bam_core.cli.logs import add_params
from bam_core.cli.robot.case import add_runs, params_by_model, robot_case
from bam_core.files.atomic_file import require_file, write_text

EXAMPLE = "bam robot view runs/ --robot arm.urdf --servos '*=xl330' --vin 5 --output runs.html"

PAGE = "view.html"

FIRST_SCREEN = ("--robot", "--servos", "--root", "--joints", "--kp", "--vin", "--params", "--output")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_runs(parser)
    add_params(parser, ", of servos on the robot (default: the servos of --servos)")
    parser.add_argument(
        "--output", metavar="FILE", help=f"page to write (default: {PAGE} where the command is run)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate every run with every friction model, and write the page."""
    from bam_core.report.results import Trajectory
    from bam_core.report.robot_view import render_robot_view
    from bam_core.robot.deviations import NO_DEVIATIONS
    from bam_core.robot.deviations_file import deviations_path, load_deviations
    from bam_core.robot.validation import simulate_runs
    from bam_core.servo.gains import gain_text

    output = Path(arguments.output or PAGE)
    require_file(output)
    case = robot_case(arguments)
    simulated = {}
    for model, (servos, folder) in params_by_model(arguments.params or [], case).items():
        file = None if folder is None else deviations_path(folder, model)
        deviations = load_deviations(file) if file is not None and file.is_file() else NO_DEVIATIONS
        simulated[model] = simulate_runs(case.bench, case.runs, servos, deviations)
    curves = {
        (run.name, joint): Trajectory(
            time=run.time[run.counts],
            measured=run.position[run.counts, run.column(joint)],
            goal=run.goal_position[run.counts, run.column(joint)],
            torque=None,
            simulated={
                model: paths[run.name][run.counts, run.column(joint)] for model, paths in simulated.items()
            },
        )
        for run in case.runs
        for joint in case.joints
    }
    about = [f"{run.name}: kp {gain_text(run.kp)}" for run in case.runs]
    write_text(output, render_robot_view(Path(arguments.robot).stem, curves, list(simulated), about))
    print(f"wrote {output}")
    return 0
