# SPDX-License-Identifier: Apache-2.0
"""``bam validate --robot``: how well servos on all joints reproduce runs of a robot."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bam_core.atomic_file import require_file, write_text
from bam_core.cli.robot import params_by_model, refuse_bench_options, robot_case
from bam_core.text_table import format_table

if TYPE_CHECKING:
    from bam_core.robot.deviations import RobotDeviations
    from bam_core.robot.validation import RobotValidation

log = logging.getLogger(__name__)


def run(arguments: argparse.Namespace) -> int:
    """Simulate every run with every friction model and report mean absolute errors."""
    from tqdm import tqdm

    from bam_core.robot.validation import validate_robot

    refuse_bench_options(arguments, ("dt", "draws", "set", "bench_effects"))
    if arguments.json:
        require_file(arguments.json)
    case = robot_case(arguments)
    models = params_by_model(arguments.params or [], case)
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
    return 0


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
