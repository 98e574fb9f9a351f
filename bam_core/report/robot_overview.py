# SPDX-License-Identifier: Apache-2.0
"""What a reader of a robot's page should know first: figures, and what to beware of."""

from __future__ import annotations

from bam_core.recordings.supply import supply_warning
from bam_core.report.numbers import change, mrad
from bam_core.report.overview import Tile
from bam_core.report.robot_results import RobotModel, RobotResults
from bam_core.report.robot_tables import all_estimates, delay_cell
from bam_core.text.finding import Finding
from bam_core.text.robot_result_findings import NarrowBands, RobotErrors, UndeterminedServos
from bam_core.text.verdict_words import LEAST_HELD

_PASSED_ON = 1.5  # times the error of one joint at a time, beyond which joints pass errors on
_WORSE = 2.0  # times the error of the fitted runs

IN_BAND = "Within the 90 % band"
"""Label of the share of test samples in bands."""


def robot_tiles(results: RobotResults, model: RobotModel) -> list[Tile]:
    """Return the figures of a model."""
    tiles = []
    for label, runs in (("Test error", results.test), ("Error of fitted runs", results.train)):
        before = results.before.mean(runs, results.joints)
        after = model.after.mean(runs, results.joints)
        count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        note = (
            f"{count}; {mrad(before)} with the servos given: {change(before, after)}"
            if runs
            else "no test runs: all were fitted"
        )
        tiles.append(Tile(label=label, value=mrad(after), unit="mrad" if runs else "", note=note))
    runs = results.test or results.train
    tiles.append(
        Tile(
            label="One joint at a time",
            value=mrad(model.one_joint.mean(runs, results.joints)),
            unit="mrad",
            note=f"{'test' if results.test else 'fitted'} runs, the other joints moved as measured",
        )
    )
    if model.coverage:
        share = sum(model.coverage.values()) / len(model.coverage)
        tiles.append(Tile(label=IN_BAND, value=f"{100 * share:.0f}", unit="%", note="of test samples"))
    estimates = all_estimates(model)
    determined = sum(estimate.told for estimate in estimates.values())
    note = f"{determined} of them determined on their own by these runs"
    tiles.append(Tile(label="Unknowns", value=str(len(estimates)), unit="", note=note))
    if delay := delay_cell(model):
        tiles.append(
            Tile(
                label="Delay of goals",
                value=delay.value,
                unit="ms",
                note=f"95\N{NO-BREAK SPACE}%: {delay.interval}",
            )
        )
    return tiles


def robot_warnings(results: RobotResults, model: RobotModel) -> list[Finding]:
    """Return what to be careful of before using the model."""
    findings: list[Finding] = list(supply_warning({name: run.supply for name, run in results.runs.items()}))
    train, test = (model.after.mean(runs, results.joints) for runs in (results.train, results.test))
    given = results.before.mean(results.test, results.joints)
    if not results.test:
        findings.append(RobotErrors(kind="no_test_runs"))
    elif test > _WORSE * train:
        findings.append(RobotErrors(kind="worse_than_fitted", factor=test / train))
    if test > given:
        findings.append(RobotErrors(kind="worse_than_given", factor=test / given))
    runs = results.test or results.train
    whole, alone = (errors.mean(runs, results.joints) for errors in (model.after, model.one_joint))
    if whole > _PASSED_ON * alone:
        findings.append(RobotErrors(kind="errors_passed_on", factor=whole / alone))
    undetermined = tuple(
        servo
        for servo, estimates in model.parameters.items()
        if not any(estimate.told for estimate in estimates.values())
    )
    if undetermined:
        findings.append(UndeterminedServos(servos=undetermined))
    if missed := {run: share for run, share in model.coverage.items() if share < LEAST_HELD}:
        total = len(model.coverage)
        findings.append(NarrowBands(runs=tuple(missed), shares=tuple(missed.values()), total=total))
    return findings
