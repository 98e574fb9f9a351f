# SPDX-License-Identifier: Apache-2.0
"""From a directory that `bam identify --robot` wrote to `RobotResults`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from bam_core.errors import BamError, Malformed, Missing, Unreadable
from bam_core.errors.checks import require_file_name
from bam_core.recordings.supply import Supply
from bam_core.report._fields import Fields
from bam_core.report.loading import SUMMARY, read_summary
from bam_core.report.robot_curves import load_robot_curves
from bam_core.report.robot_results import (
    JointErrors,
    RobotEstimate,
    RobotModel,
    RobotResults,
    RobotRunInfo,
)
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, load_servo

_SAME = 1e-9  # relative: both files hold every digit
_REMEDY = "run 'bam identify' again"


def is_of_robot(directory: str | os.PathLike[str]) -> bool:
    """Return whether a directory holds an identification on a robot, and not one on a bench.

    Raises:
        BamError: it holds none.
    """
    return "robot" in read_summary(Path(directory))


def load_robot_results(directory: str | os.PathLike[str]) -> RobotResults:
    """Read the results of one identification.

    Raises:
        BamError: one of its files is missing, damaged, of another identification or not as expected.
    """
    directory = Path(directory)
    summary = read_summary(directory)
    summary.require("robot", "joints", "train", "models")
    joints = {joint: summary.child("joints").text(joint) for joint in summary.child("joints")}
    train, test = summary.texts("train"), summary.texts("test")
    entries = summary.child("models")
    names = (*train, *test)
    models = {name: _model(directory, name, entries.child(name), names, joints) for name in entries}
    if not models or not joints or not train:
        raise Missing("models, joints or train", "one at least", advice=_REMEDY).within(directory / SUMMARY)
    before = entries.child(next(iter(models))).child("before")
    curves, without = load_robot_curves(
        directory, names, tuple(joints), tuple(models), summary.text("trajectories_sha256")
    )
    return RobotResults(
        directory=directory,
        robot=summary.text("robot"),
        root=summary.text("root"),
        software=summary.text("software"),
        date=summary.text("date"),
        joints=joints,
        runs={
            name: _run(name, name in test, summary.child("runs").child(name), before.child("per_log"))
            for name in names
        },
        before=_errors(before, names, joints),
        models=models,
        curves=curves,
        without_curves=without,
    )


def _run(name: str, is_test: bool, entry: Fields, errors: Fields) -> RobotRunInfo:
    return RobotRunInfo(
        name=name,
        is_test=is_test,
        kp=entry.number("kp"),
        supply=Supply(used=entry.number("supply_voltage"), recorded=entry.number("recorded_voltage")),
        goal_distance=errors.child(name).number("goal_distance"),
    )


def _model(
    directory: Path, name: str, entry: Fields, runs: Iterable[str], joints: Iterable[str]
) -> RobotModel:
    try:
        friction_model(name)
    except BamError as error:
        raise error.within(directory / SUMMARY) from None
    entry.require("before", "after", "one_joint", "parameters", "deviations", "servos")
    parameters, deviations = entry.child("parameters"), entry.child("deviations")
    estimates = {
        servo: {each: _estimate(parameters.child(servo), each) for each in parameters.child(servo)}
        for servo in parameters
    }
    servos = {
        servo: _servo(_servo_file(directory, entry.child("servos").text(servo), name), name, estimates[servo])
        for servo in estimates
    }
    coverage = entry.child("band_90_coverage")
    return RobotModel(
        name=name,
        servos=servos,
        after=_errors(entry.child("after"), runs, joints),
        one_joint=_errors(entry.child("one_joint"), runs, joints),
        parameters=estimates,
        deviations={each: _estimate(deviations, each) for each in deviations},
        coverage={run: coverage.number(run) for run in coverage},
    )


def _servo_file(directory: Path, servo: str, model: str) -> Path:
    try:
        require_file_name("name of a servo", servo)
    except BamError as error:
        raise error.within(directory / SUMMARY) from None
    return directory / f"{servo}_{model}.yaml"


def _servo(path: Path, model: str, estimates: dict[str, RobotEstimate]) -> ServoModel:
    """Return the servo of a file; raises BamError where it is not the one that the summary tells of."""
    if not path.exists():
        raise Unreadable(path, f"is not there, though {SUMMARY} lists it", advice=f"put it back or {_REMEDY}")
    servo = load_servo(path)
    found = servo.parameters
    for name, told in estimates.items():
        here = found.get(name, math.nan)
        if servo.friction_model != model or not math.isclose(here, told.value, rel_tol=_SAME):
            raise Malformed(
                path,
                f"{name} is {here!r} of {servo.friction_model}, in {SUMMARY} {told.value!r} of {model}",
                advice=f"put back the file of this identification, or {_REMEDY}",
            )
    return servo


def _errors(entry: Fields, runs: Iterable[str], joints: Iterable[str]) -> JointErrors:
    found = {}
    chosen = list(joints)
    for run in runs:
        per_joint = entry.child("per_log").child(run).child("per_joint")
        per_joint.require(*chosen)
        found[run] = {joint: per_joint.number(joint) for joint in chosen}
    return JointErrors(of=found)


def _estimate(entry: Fields, name: str) -> RobotEstimate:
    one = entry.child(name)
    one.require("value", "low", "high")
    return RobotEstimate(
        value=one.number("value"),
        begin=one.number("begin"),
        low=one.number("low"),
        high=one.number("high"),
        told=one.flag("told"),
    )
