# SPDX-License-Identifier: Apache-2.0
"""``bam validate --robot``: how well servos on all joints reproduce runs of a robot."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bam_core.atomic_file import require_file, write_text
from bam_core.cli.opengl import require_opengl
from bam_core.cli.robot import params_by_model, refuse_bench_options, robot_case
from bam_core.errors import Conflict, Missing, UnknownName
from bam_core.text_table import format_table

if TYPE_CHECKING:
    from bam_core.robot.deviations import RobotDeviations
    from bam_core.robot.run import RobotRun
    from bam_core.robot.validation import RobotValidation

log = logging.getLogger(__name__)


def run(arguments: argparse.Namespace) -> int:
    """Simulate every run with every friction model and report mean absolute errors."""
    if arguments.film:
        require_opengl("--film")
        _require_film(arguments)
    elif arguments.filmed:
        raise Missing("--film", "the film's file, as --run says which log is filmed")
    from tqdm import tqdm

    from bam_core.robot.validation import validate_robot

    refuse_bench_options(arguments, ("dt", "draws", "set", "bench_effects"))
    if arguments.json:
        require_file(arguments.json)
    case = robot_case(arguments)
    models = params_by_model(arguments.params or [], case)
    filmed = _filmed(arguments.filmed, case.runs)
    found = {}
    with tqdm(total=len(models) * len(case.runs), unit=" runs", disable=None, leave=False) as bar:
        for model, (servos, folder) in models.items():
            bar.set_description(model)
            found[model] = validate_robot(
                case.bench,
                case.runs,
                case.joints,
                servos,
                _deviations(arguments.deviations, folder, model),
                done=lambda _: bar.update() and None,
            )
    if arguments.json:
        content = {model: each.summary() for model, each in found.items()}
        write_text(arguments.json, json.dumps(content, indent=2) + "\n")
    print(_table(found))
    if arguments.film:
        from bam_core.robot.film import write_robot_film

        model, (servos, folder) = list(models.items())[-1]
        deviations = _deviations(arguments.deviations, folder, model)
        write_robot_film(case.bench, filmed, servos, arguments.film, deviations)
        print(f"wrote {arguments.film}: {filmed.name}, {model}; blue: measured")
    return 0


def _require_film(arguments: argparse.Namespace) -> None:
    """Check what a film needs before time is spent on simulations."""
    from bam_core.mujoco.film import require_film

    require_film(arguments.film)
    if arguments.others != "simulated":
        raise Conflict(
            "--film", "shows the whole robot", expected="--others simulated", advice="leave one out"
        )


def _filmed(name: str | None, runs: Sequence[RobotRun]) -> RobotRun:
    """Return the run that is filmed: the first where none is named."""
    found = {run.name: run for run in runs}
    if name is not None and name not in found:
        raise UnknownName("run", name, found)
    return runs[0] if name is None else found[name]


def _deviations(told: str | None, folder: object, model: str) -> RobotDeviations:
    """Return what --deviations names, or what is beside the servos."""
    from bam_core.robot.deviations import NO_DEVIATIONS
    from bam_core.robot.deviations_file import deviations_path, load_deviations

    if told == "none":
        return NO_DEVIATIONS
    if told is not None:
        return load_deviations(told)
    if folder is None:
        return NO_DEVIATIONS
    path = deviations_path(str(folder), model)
    if not path.is_file():
        return NO_DEVIATIONS
    log.info("%s: this robot's deviations, with which the servos were identified", path)
    return load_deviations(path)


def _table(found: Mapping[str, RobotValidation]) -> str:
    """Errors in mrad: one row per run, one column per model, then joints over all runs."""
    first = next(iter(found.values()))
    rows = [
        [name, *(f"{1e3 * each.per_log[name].mae:.2f}" for each in found.values())] for name in first.per_log
    ]
    rows.append(["mean", *(f"{1e3 * each.mae:.2f}" for each in found.values())])
    joints = next(iter(first.per_log.values())).per_joint
    for joint in joints:
        means = [each.mean_of_joint(joint) for each in found.values()]
        rows.append([f"  {joint}", *(f"{1e3 * mean:.2f}" for mean in means)])
    return format_table(["MAE [mrad]", *found], rows)
