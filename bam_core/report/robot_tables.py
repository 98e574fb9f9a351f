# SPDX-License-Identifier: Apache-2.0
"""Errors of runs, joints and servo types, and deviations of a robot, as rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from bam_core.report.numbers import Scale, mrad, round_up
from bam_core.report.robot_results import RobotEstimate, RobotModel, RobotResults

_SHARES = ("strength", "back_emf", "friction", "load_friction", "mass")
_SCALES = {"zero": 1e3, **dict.fromkeys(_SHARES, 1e2), "centre": 1e3, "table": 1e3}  # to mrad, %, mm


@dataclass(frozen=True, kw_only=True)
class ErrorLine:
    """Errors of one run, or of one joint or servo type over runs; bars are percent of the axis.

    Attributes:
        name: of the run, joint or servo type.
        note: gain of a run, number of joints of a type.
        is_test: of a run that no fit has seen, or over such runs.
        is_sum: a mean over other lines.
        goal: mean distance from the goals, text; empty where that is unknown.
        coverage: share of samples within the 90 % band, text; empty where there is none.
        before: text, mrad.
        after: likewise.
        one_joint: likewise.
        bars: of before and after.
    """

    name: str
    note: str
    is_test: bool
    is_sum: bool
    goal: str
    coverage: str
    before: str
    after: str
    one_joint: str
    bars: tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class ErrorTable:
    """Lines on one axis, which ends at `axis` mrad."""

    lines: tuple[ErrorLine, ...]
    axis: str


@dataclass(frozen=True, kw_only=True)
class DeviationCell:
    """One deviation, text."""

    value: str
    interval: str
    told: bool


def run_table(results: RobotResults, model: RobotModel) -> ErrorTable:
    """Lay out the errors of every run, and their means."""
    limit = _limit(results.before.mean([run], results.joints) for run in results.runs)
    lines = [
        _line(
            results,
            model,
            name,
            [name],
            list(results.joints),
            limit,
            note=f"kp {run.kp}" if run.kp else "",
            goal=mrad(run.goal_distance),
        )
        for name, run in results.runs.items()
    ]
    for words, runs in (("all fitted runs", results.train), ("all test runs", results.test)):
        if len(runs) > 1:
            goal = mrad(fmean(results.runs[run].goal_distance for run in runs))
            lines.append(
                _line(results, model, words, runs, list(results.joints), limit, goal=goal, is_sum=True)
            )
    return ErrorTable(lines=tuple(lines), axis=f"{limit:g}")


def joint_table(results: RobotResults, model: RobotModel, *, of_test: bool) -> ErrorTable:
    """Lay out the errors of every servo type, and below each of its joints, over test or fitted runs."""
    runs = results.test if of_test else results.train
    limit = _limit(results.before.mean(runs, [joint]) for joint in results.joints)
    lines = []
    for servo in dict.fromkeys(results.joints.values()):
        own = [joint for joint, its_servo in results.joints.items() if its_servo == servo]
        count = f"{len(own)} joint{'' if len(own) == 1 else 's'}"
        lines.append(_line(results, model, servo, runs, own, limit, note=count, is_sum=True))
        lines += [_line(results, model, joint, runs, [joint], limit) for joint in own]
    return ErrorTable(lines=tuple(lines), axis=f"{limit:g}")


def deviation_cells(model: RobotModel, section: str) -> dict[str, DeviationCell]:
    """Return joint, body, or body and axis -> a deviation of a section ("zero", "mass", ...)."""
    scale = _SCALES[section]
    return {
        name.removeprefix(f"{section} "): _cell(deviation, scale)
        for name, deviation in model.deviations.items()
        if name.startswith(f"{section} ")
    }


def delay_cell(model: RobotModel) -> DeviationCell | None:
    """Return the delay of goals in ms; None where none was looked for."""
    delay = model.deviations.get("delay")
    return _cell(delay, 1e3) if delay else None


def all_estimates(model: RobotModel) -> Mapping[str, RobotEstimate]:
    """Return all unknowns of a model, of servos and robot."""
    of_servos = {
        f"{servo} {name}": estimate
        for servo, estimates in model.parameters.items()
        for name, estimate in estimates.items()
    }
    return {**of_servos, **model.deviations}


def _line(
    results: RobotResults,
    model: RobotModel,
    name: str,
    runs: list[str],
    joints: list[str],
    limit: float,
    *,
    note: str = "",
    goal: str = "",
    is_sum: bool = False,
) -> ErrorLine:
    scale = Scale(0.0, limit)
    before, after = results.before.mean(runs, joints), model.after.mean(runs, joints)
    shares = [model.coverage[run] for run in runs if run in model.coverage]
    return ErrorLine(
        name=name,
        note=note,
        is_test=all(results.runs[run].is_test for run in runs),
        is_sum=is_sum,
        goal=goal,
        coverage=f"{100 * sum(shares) / len(shares):.0f} %" if len(shares) == len(runs) else "",
        before=mrad(before),
        after=mrad(after),
        one_joint=mrad(model.one_joint.mean(runs, joints)),
        bars=(scale.percent(1e3 * before), scale.percent(1e3 * after)),
    )


def _limit(errors: Iterable[float]) -> float:
    return round_up(1e3 * max(errors, default=0.0))


def _cell(estimate: RobotEstimate, scale: float) -> DeviationCell:
    """Return it with one decimal: finer than any of these is known."""
    value, low, high = (_signed(scale * number) for number in (estimate.value, estimate.low, estimate.high))
    return DeviationCell(value=value, interval=f"{low} to {high}", told=estimate.told)


def _signed(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "−")
