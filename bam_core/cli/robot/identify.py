# SPDX-License-Identifier: Apache-2.0
"""``bam robot identify``: servos of an assembled robot, from its own runs."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.ending import terminable
from bam_core.cli.logs import add_test
from bam_core.cli.robot.case import RobotCase, add_runs, robot_case, run_settings
from bam_core.cli.robot.gain_table import gain_table
from bam_core.errors import Conflict, Missing, UnknownName, WrongType
from bam_core.text.comma_list import comma_list
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.recordings.excluded import Excluded
    from bam_core.robot.result import RobotIdentification
    from bam_core.robot.run import RobotRun
    from bam_core.robot.writing import RobotOutput
    from bam_core.text.output_findings import Unfinished

log = logging.getLogger(__name__)

EXAMPLE = (
    "bam robot identify runs/ --robot arm.urdf --servos '*=xl330' --vin 5 --test kp=200 --output identified"
)

FIRST_SCREEN = (
    "--robot",
    "--servos",
    "--root",
    "--kp",
    "--ki",
    "--kd",
    "--vin",
    "--map",
    "--models",
    "--test",
    "--output",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_runs(parser)
    parser.add_argument(
        "--models",
        default="m6",
        metavar="M1,M4,...|all",
        help="friction models to fit (separated by commas; default: %(default)s)",
    )
    add_test(
        parser,
        "runs that are not fitted, for the test error: kp=VALUE, names and patterns of runs, "
        "such as my_task_episode_1?, or files (default: none)",
        ("RULE|RUN|FILE", "RUN|FILE"),
    )
    parser.add_argument(
        "--tolerance",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how far the robot may be from its description, one standard deviation; 0 fixes it. mass, "
        "strength, back_emf, friction and load_friction are relative, centre and table in m, zero in rad, "
        "delay and expected_delay in s, as in --tolerance mass=0.03; may be repeated (default: mass 0.03 and "
        "centre 0.003 of links, table 0.005, zero 0.02, delay 0.005 around expected_delay 0.005, and how "
        "units differ: strength 0.05, back_emf 0.05, friction 0.1, load_friction 0.1)",
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="directory for results")


def run(arguments: argparse.Namespace) -> int:
    """Identify, print the tables, write the results."""
    from tqdm import tqdm

    from bam_core.identification.settings import resolve_models
    from bam_core.robot.evidence_checks import require_evidence, require_excitation
    from bam_core.robot.exchanged_names import exchanged_names
    from bam_core.robot.frame_rate import rate_findings, require_seconds
    from bam_core.robot.identification import fit_models
    from bam_core.robot.joint_direction import direction_findings
    from bam_core.robot.late_joints import with_true_times
    from bam_core.robot.result import RobotTask
    from bam_core.robot.root import FIXED
    from bam_core.robot.settings import RobotIdentifySettings
    from bam_core.robot.table import find_table
    from bam_core.robot.tolerances import DEFAULT
    from bam_core.robot.verdict import robot_verdict
    from bam_core.robot.writing import RobotOutput
    from bam_core.text.finding import log_findings
    from bam_core.text.robot_evidence_findings import TableFound
    from bam_core.text.tolerance_words import tolerances_from

    start = time.monotonic()
    models = [model.name for model in resolve_models(comma_list(arguments.models))]
    settings = RobotIdentifySettings(models=models, tolerances=tolerances_from(arguments.tolerance, DEFAULT))
    output = RobotOutput(arguments.output, Path(arguments.robot).stem)
    case = robot_case(arguments)
    train, test, excluded = _split(case, arguments.test or (), arguments)
    given = {joint: case.servos[name] for joint, name in case.types.items()}
    require_seconds(case.bench, train, case.joints, given)
    runs = with_true_times(case.bench, [*train, *test], case.joints, given, case.types)
    train, test = runs[: len(train)], runs[len(train) :]
    findings = require_evidence(train, case.joints, case.types, models)
    table = find_table(case.bench.spec, train) if case.bench.root == FIXED else None
    if table is not None:
        findings.append(TableFound(**vars(table)))
    task = RobotTask(
        bench=case.bench,
        types=case.types,
        servos=case.servos,
        joints=case.joints,
        train=train,
        test=test,
        excluded=excluded,
        table={} if table is None else {table.point: table.height},
    )
    rates = rate_findings(case.bench, train, case.joints, task.given)
    directions = direction_findings(case.bench, train, case.joints, task.given)
    names = exchanged_names(case.bench, train, case.joints, task.given)
    log_findings(log, (*findings, *names, *require_excitation(task), *directions, *rates))
    with tqdm(desc="identify", unit=" steps", disable=None, leave=False) as bar:

        def report(words: str) -> None:
            bar.set_description(words)
            bar.update()
            if bar.disable:  # standard error is no terminal
                print(words, file=sys.stderr, flush=True)

        try:
            with terminable():
                result = fit_models(
                    task, settings, progress=report, fitted=output.write_parameters, finished=output.write
                )
        except KeyboardInterrupt as stop:
            raise type(stop)(_unfinished(output, arguments.output, models)) from None
        except Exception:
            _warn_unfinished(output, arguments.output)
            raise
    _warn_unfinished(output, arguments.output)
    verdict = robot_verdict(result)
    print(verdict.lines[0])
    print(gain_table(case.joints, case.types, runs), end="\n\n")
    print(_tables(result))
    print(
        f"{time.monotonic() - start:.0f} s in all; wrote {Path(arguments.output)}, validate it with: "
        f"bam robot validate LOGS --robot {arguments.robot} ... --params {arguments.output}/*.yaml"
    )
    print(*verdict.lines, sep="\n")  # again, where it stays in view
    return 0


def _unfinished(output: RobotOutput, directory: str, models: Sequence[str]) -> Unfinished:
    """Return what is written of an identification that was stopped, and what is not."""
    from bam_core.text.output_findings import Unfinished

    written = {*output.complete, *output.unfinished}
    return Unfinished(
        kind="interrupted",
        directory=Path(directory),
        models=output.complete,
        not_converged=tuple(sorted(output.not_converged)),
        without_errors=tuple(sorted(output.unfinished - output.not_converged)),
        not_done=tuple(model for model in models if model not in written),
    )


def _warn_unfinished(output: RobotOutput, directory: str) -> None:
    for model in sorted(output.unfinished):
        log.warning("%s: wrote the parameters of %s, but not their errors", directory, model)


def _split(
    case: RobotCase, words: Sequence[str], arguments: argparse.Namespace
) -> tuple[list[RobotRun], list[RobotRun], tuple[Excluded, ...]]:
    """Return runs to fit, runs for the test (a rule kp=VALUE, names, or files), and those left out."""
    from bam_core.robot.load import LoadedRuns, load_usable_runs
    from bam_core.servo.gains import gain_text

    runs = list(case.runs)
    if not words or list(words) == ["none"]:
        return runs, [], case.excluded
    if len(words) == 1 and words[0].startswith("kp=") and not Path(words[0]).exists():
        try:
            gain = float(words[0].removeprefix("kp="))
        except ValueError:
            raise WrongType("--test kp", words[0], "kp=NUMBER") from None
        test = [run for run in runs if run.kp == gain]
        if not test or len(test) == len(runs):
            gains = ", ".join(gain_text(run.kp) for run in runs)
            raise Conflict(
                f"--test {words[0]}",
                "chooses none or all of the logs",
                expected=f"some of {gains}",
                advice="correct it",
            )
        return [run for run in runs if run.kp != gain], test, case.excluded
    named = [run for run in runs if any(fnmatchcase(run.name, word) for word in words)]
    files = [word for word in words if not any(fnmatchcase(run.name, word) for run in runs)]
    for word in files:
        if not Path(word).exists():
            raise UnknownName("--test run or file", word, [run.name for run in runs])

    def require(run: RobotRun) -> None:
        if not set(case.joints) <= set(run.joints):
            raise Missing(f"{run.name}, joints", ", ".join(case.joints))
        case.require(run)

    loaded = LoadedRuns(runs=[])
    if files:
        loaded = load_usable_runs(files, run_settings(arguments), require=require)
    test = [*named, *loaded.runs]
    names = {run.name for run in test}
    train = [run for run in runs if run.name not in names]
    if not train:
        raise Conflict("--test", "has all of the logs", expected="some that are left to fit")
    return train, test, (*case.excluded, *loaded.excluded)


def _tables(result: RobotIdentification) -> str:
    rows = []
    for model in result.fits:
        for what, names in (("fitted", result.train), ("test", result.test)):
            if names:
                fit = result.fits[model]
                ways = (fit.before, fit.after, fit.one_joint)
                rows.append((model.upper(), what, *(f"{1e3 * way.mean_of(names):.2f}" for way in ways)))
    parts = [format_table(("model", "runs", "before [mrad]", "after", "one joint at a time"), rows)]
    if not result.test:
        parts.append("no test: all runs were fitted; give --test FILES or kp=VALUE for an honest figure")
    for model, fit in result.fits.items():
        lines = [
            (
                servo,
                name,
                f"{estimate.value:.4g}",
                f"{estimate.low:.4g}",
                f"{estimate.high:.4g}",
                f"{100.0 * estimate.width:.0f} %",
                "" if estimate.told else "no",
            )
            for servo, estimates in fit.estimates.items()
            for name, estimate in estimates.items()
        ]
        header = (
            "servo",
            f"{model.upper()}, SI",
            "value",
            "95 % from",
            "to",
            "of the prior",
            "determined on its own",
        )
        parts.append(format_table(header, lines))
        if any(not estimate.told for estimates in fit.estimates.values() for estimate in estimates.values()):
            from bam_core.text.robot_result_findings import PriorOnly

            parts.append(str(PriorOnly()))
    supplies = [run.supply_voltage for run in result.task.train if run.supply_voltage is not None]
    if supplies:
        mean = sum(supplies) / len(supplies)
        parts.append(
            f"supply of these runs: {mean:.2f} V; the simulator takes it as supply_voltage:={mean:.1f}"
        )
    return "\n\n".join(parts)
