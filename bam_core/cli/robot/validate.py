# SPDX-License-Identifier: Apache-2.0
"""``bam robot validate``: how well servos on all joints reproduce runs of a robot."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bam_core.cli.logs import add_params
from bam_core.cli.opengl import require_opengl
from bam_core.cli.robot.case import add_runs, params_by_model, robot_case
from bam_core.cli.robot.gain_table import gain_table
from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from pathlib import Path

    from bam_core.robot.deviations import RobotDeviations
    from bam_core.robot.prediction import RobotPrediction
    from bam_core.robot.run import RobotRun
    from bam_core.robot.validation import RobotValidation

log = logging.getLogger(__name__)

EXAMPLE = "bam robot validate runs/ --robot arm.urdf --servos '*=xl330' --vin 5 --params identified/*.yaml"

FIRST_SCREEN = (
    "--robot",
    "--servos",
    "--root",
    "--joints",
    "--kp",
    "--kd",
    "--vin",
    "--map",
    "--params",
    "--json",
    "--film",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_runs(parser)
    add_params(parser, ", of servos on the robot (default: the servos of --servos)")
    parser.add_argument("--json", metavar="FILE", help="write the errors [rad] to this file")
    parser.add_argument(
        "--deviations",
        metavar="FILE|none",
        help="the robot's deviations from its description (default: deviations/MODEL.yaml beside the servos, "
        "where 'bam robot identify' writes it)",
    )
    parser.add_argument(
        "--draws",
        type=int,
        default=0,
        metavar="N",
        help="simulate as many draws of each fit, 10 to 100, and compare 90 %% bands with what was measured "
        "(default: none); needs predictions/MODEL.json beside the servos",
    )
    parser.add_argument(
        "--film",
        metavar="FILE",
        help="a film, .gif or .mp4 (needs ffmpeg), of the measured robot, a translucent ghost, against the "
        "simulated one; a base that moves was not measured, so the ghost stands on the simulated one",
    )
    parser.add_argument(
        "--run", dest="filmed", metavar="NAME", help="the log that is filmed (default: the first)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Simulate every run with every friction model and report mean absolute errors."""
    if arguments.film:
        require_opengl("--film")
        _require_film(arguments)
    elif arguments.filmed:
        raise Missing("--film", "the film's file, for the log that --run names")
    from tqdm import tqdm

    from bam_core.robot.bands import coverage
    from bam_core.robot.exchanged_names import exchanged_names
    from bam_core.robot.frame_rate import rate_findings, require_seconds
    from bam_core.robot.joint_direction import direction_findings
    from bam_core.robot.late_joints import with_true_times
    from bam_core.robot.prediction import LEAST_DRAWS, MOST_DRAWS
    from bam_core.robot.validation import errors_of, simulate_runs
    from bam_core.text.finding import log_findings

    if arguments.json:
        require_file(arguments.json)
    if arguments.draws and not LEAST_DRAWS <= arguments.draws <= MOST_DRAWS:
        raise OutOfRange("--draws", arguments.draws, f"{LEAST_DRAWS} to {MOST_DRAWS}, or 0 for none")
    case = robot_case(arguments)
    models = params_by_model(arguments.params or [], case)
    _filmed(arguments.filmed, case.runs)
    model, (servos, folder) = next(iter(models.items()))
    deviations = _deviations(arguments.deviations, folder, model)
    require_seconds(case.bench, case.runs, case.joints, servos, deviations)
    runs = with_true_times(case.bench, case.runs, case.joints, servos, case.types, deviations)
    case = replace(case, runs=runs)
    filmed = _filmed(arguments.filmed, runs)
    for findings in (exchanged_names, direction_findings, rate_findings):
        log_findings(log, findings(case.bench, case.runs, case.joints, servos, deviations))
    predictions = _predictions(models) if arguments.draws else {}
    validations, coverages = {}, {}
    with tqdm(total=len(models) * len(case.runs), unit=" runs", disable=None, leave=False) as bar:
        for model, (servos, folder) in models.items():
            bar.set_description(model)
            simulated = simulate_runs(
                case.bench,
                case.runs,
                servos,
                _deviations(arguments.deviations, folder, model),
                done=lambda _: bar.update() and None,
            )
            validations[model] = errors_of(case.runs, case.joints, simulated)
            if model in predictions:
                bands = {}
                for run in case.runs:
                    bar.set_description(f"{model}, bands of {run.name}")
                    band = predictions[model].half_widths(
                        case.bench, run, case.joints, servos, simulated[run.name], draws=arguments.draws
                    )
                    if band is not None:
                        bands[run.name] = band
                coverages[model] = coverage(case.runs, case.joints, simulated, bands)
    if arguments.json:
        content: dict[str, Any] = {model: validation.summary() for model, validation in validations.items()}
        for model, shares in coverages.items():
            content[model]["band_90_coverage"] = shares
        if case.excluded:
            content["excluded"] = [excluded.summary() for excluded in case.excluded]
        write_text(arguments.json, json.dumps(content, indent=2) + "\n")
    print(gain_table(case.joints, case.types, case.runs), end="\n\n")
    print(_table(validations, case.runs))
    if coverages:
        print(_coverage_table(coverages))
    print(_deviations_line(arguments.deviations, models))
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
    by_name = {run.name: run for run in runs}
    if name is not None and name not in by_name:
        raise UnknownName("run", name, by_name)
    return runs[0] if name is None else by_name[name]


def _deviations(given: str | None, folder: Path | None, model: str) -> RobotDeviations:
    """Return what --deviations names, or what is beside the servos."""
    from bam_core.robot.deviations import NO_DEVIATIONS
    from bam_core.robot.deviations_file import load_deviations

    if given == "none":
        return NO_DEVIATIONS
    if given is not None:
        return load_deviations(given)
    path = _found_deviations(folder, model)
    return NO_DEVIATIONS if path is None else load_deviations(path)


def _found_deviations(folder: Path | None, model: str) -> Path | None:
    """Return the file beside the servos, None where there is none."""
    from bam_core.robot.deviations_file import deviations_path

    path = None if folder is None else deviations_path(folder, model)
    return path if path is not None and path.is_file() else None


def _table(validations: Mapping[str, RobotValidation], runs: Sequence[RobotRun]) -> str:
    """Errors in mrad: one row per run, one column per model, then joints over all runs.

    Beside each run are the gain, the supply and the part of it that were used, wherever they came from.
    """

    def row(name: str, used: Sequence[str], errors: Iterable[float]) -> list[str]:
        return [name, *used, *(f"{1e3 * error:.2f}" for error in errors)]

    rows = [
        row(run.name, _used(run), (validation.per_log[run.name].mae for validation in validations.values()))
        for run in runs
    ]
    nothing = ["", "", ""]
    rows.append(row("mean", nothing, (validation.mae for validation in validations.values())))
    for joint in next(iter(validations.values())).per_log[runs[0].name].per_joint:
        rows.append(
            row(
                f"  {joint}",
                nothing,
                (validation.mean_of_joint(joint) for validation in validations.values()),
            )
        )
    return format_table(["MAE [mrad]", "kp", "supply [V]", "compared [s]", *validations], rows)


def _predictions(
    models: Mapping[str, tuple[object, Path | None]],
) -> dict[str, RobotPrediction]:
    """Return what each fit expects of other runs; raises Missing."""
    from bam_core.robot.prediction_file import load_prediction, prediction_path

    predictions = {}
    for model, (_, folder) in models.items():
        path = None if folder is None else prediction_path(folder, model)
        if path is None or not path.is_file():
            raise Missing(
                f"--draws, prediction of {model}",
                "--params with servos that 'bam robot identify' wrote"
                if path is None
                else f"{path}, which 'bam robot identify' writes",
                advice="leave --draws out, or identify again",
            )
        predictions[model] = load_prediction(path)
    return predictions


def _coverage_table(coverages: Mapping[str, Mapping[str, float]]) -> str:
    """Shares of samples within 90 % bands, in percent: one row per run, one column per model."""
    names = list(dict.fromkeys(name for shares in coverages.values() for name in shares))
    rows = [
        [
            name,
            *(f"{100 * shares[name]:.1f}" if name in shares else "no band" for shares in coverages.values()),
        ]
        for name in names
    ]
    return format_table(["within 90 % bands [%]", *coverages], rows)


def _used(run: RobotRun) -> tuple[str, str, str]:
    from bam_core.servo.gains import gain_text

    supply = "nominal" if run.supply_voltage is None else f"{run.supply_voltage:.1f}"
    first, last = run.interval or (run.time[0], run.time[-1])
    return gain_text(run.kp), supply, f"{first:.1f} to {last:.1f}"


def _deviations_line(given: str | None, models: Mapping[str, tuple[object, Path | None]]) -> str:
    """Name in one line the deviations of this robot from its description were used."""
    if given is not None:
        return f"deviations: {given}"
    files = {model: _found_deviations(folder, model) for model, (_, folder) in models.items()}
    words = ", ".join(str(path) for path in files.values() if path is not None)
    return f"deviations of this robot, with which its servos were identified: {words or 'none'}"
