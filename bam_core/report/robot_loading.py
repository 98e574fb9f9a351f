# SPDX-License-Identifier: Apache-2.0
"""From a directory that `bam robot identify` wrote to `RobotResults`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from bam_core.errors import BamError, Malformed, Missing, Unreadable
from bam_core.errors.checks import require_file_name
from bam_core.recordings.supply import Supply
from bam_core.report import summary_file
from bam_core.report.loading import verdict_of
from bam_core.report.robot_curves import load_robot_curves
from bam_core.report.robot_results import (
    JointErrors,
    RobotEstimate,
    RobotModel,
    RobotResults,
    RobotRunInfo,
)
from bam_core.report.summary_file import (
    NAME,
    REMEDY,
    RobotErrors,
    RobotModelEntry,
    RobotSummary,
    RunEntry,
    RunErrors,
)
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, load_servo

_SAME = 1e-9  # relative: both files hold every digit


def is_of_robot(directory: str | os.PathLike[str]) -> bool:
    """Return whether a directory holds an identification on a robot, and not one on a bench.

    Raises:
        BamError: it holds none.
    """
    return summary_file.is_of_robot(Path(directory))


def load_robot_results(directory: str | os.PathLike[str]) -> RobotResults:
    """Read the results of one identification.

    Raises:
        BamError: one of its files is missing, damaged, of another identification or not as expected.
    """
    directory = Path(directory)
    summary = summary_file.read_summary(directory, RobotSummary)
    names, joints = (*summary.train, *summary.test), tuple(summary.joints)
    models = {name: _model(directory, name, entry, names, joints) for name, entry in summary.models.items()}
    if not models or not joints or not summary.train:
        raise Missing("models, joints or train", "one at least", advice=REMEDY).within(directory / NAME)
    first, before = next((name, entry.before) for name, entry in summary.models.items())
    errors = _errors(directory, f"models.{first}.before", before, names, joints)
    curves, without = load_robot_curves(directory, names, joints, tuple(models), summary.trajectories_sha256)
    return RobotResults(
        directory=directory,
        robot=summary.robot,
        root=summary.root,
        software=summary.software,
        date=summary.date,
        joints=summary.joints,
        runs={name: _run(name, summary, before) for name in names},
        before=errors,
        models=models,
        curves=curves,
        without_curves=without,
        verdict=None if summary.verdict is None else verdict_of(summary.verdict),
    )


def _run(name: str, summary: RobotSummary, errors: RobotErrors) -> RobotRunInfo:
    entry = summary.runs.get(name, RunEntry())
    return RobotRunInfo(
        name=name,
        is_test=name in summary.test,
        kp=entry.kp,
        kd=entry.kd,
        ki=entry.ki,
        supply=Supply(used=entry.supply_voltage, recorded=entry.recorded_voltage),
        goal_distance=errors.per_log[name].goal_distance,
    )


def _model(
    directory: Path, name: str, entry: RobotModelEntry, runs: Iterable[str], joints: Iterable[str]
) -> RobotModel:
    try:
        friction_model(name)
    except BamError as error:
        raise error.within(directory / NAME) from None
    return RobotModel(
        name=name,
        servos={
            servo: _servo(_servo_file(directory, entry.servos.get(servo, ""), name), name, estimates)
            for servo, estimates in entry.parameters.items()
        },
        after=_errors(directory, f"models.{name}.after", entry.after, runs, joints),
        one_joint=_errors(directory, f"models.{name}.one_joint", entry.one_joint, runs, joints),
        parameters=entry.parameters,
        deviations=entry.deviations,
        coverage=entry.band_90_coverage,
    )


def _servo_file(directory: Path, servo: str, model: str) -> Path:
    try:
        require_file_name("name of a servo", servo)
    except BamError as error:
        raise error.within(directory / NAME) from None
    return directory / f"{servo}_{model}.yaml"


def _servo(path: Path, model: str, estimates: Mapping[str, RobotEstimate]) -> ServoModel:
    """Return the servo of a file; raises BamError where it is not the one of the summary."""
    if not path.exists():
        raise Unreadable(path, f"is not there, though {NAME} lists it", advice=f"put it back or {REMEDY}")
    servo = load_servo(path)
    parameters = servo.parameters
    for name, estimate in estimates.items():
        here = parameters.get(name, math.nan)
        if servo.friction_model != model or not math.isclose(here, estimate.value, rel_tol=_SAME):
            raise Malformed(
                path,
                f"{name} is {here!r} of {servo.friction_model}, in {NAME} {estimate.value!r} of {model}",
                advice=f"put back the file of this identification, or {REMEDY}",
            )
    return servo


def _errors(
    directory: Path, what: str, entry: RobotErrors, runs: Iterable[str], joints: Iterable[str]
) -> JointErrors:
    errors = {run: entry.per_log.get(run, RunErrors()).per_joint for run in runs}
    chosen = list(joints)
    for run, per_joint in errors.items():
        for joint in chosen:
            if math.isnan(per_joint.get(joint, math.nan)):
                thing = f"{what}.per_log.{run}.per_joint.{joint}"
                raise Missing(thing, "a number", advice=REMEDY).within(directory / NAME)
    return JointErrors(of={run: {joint: error[joint] for joint in chosen} for run, error in errors.items()})
