# SPDX-License-Identifier: Apache-2.0
"""The verdict on servos identified on a robot, of the form that one of a bench has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from bam_core.identification.verdict_form import VerdictForm
from bam_core.robot.estimates import Estimate
from bam_core.robot.result import RobotIdentification, RobotModelFit
from bam_core.robot.run import RobotRun
from bam_core.robot.verdict_findings import FAR_OUTSIDE, WITHIN_PRIOR, largest_motor_shift, verdict_findings
from bam_core.text.verdict_words import (
    GREEN_SHARE,
    LEAST_HELD,
    RED_SHARE,
    WORSE_RUN,
    reason_words,
    rule_of_robots,
)

REASONS = (
    "error_above_motion",
    "motor_outside_prior",
    "unidentifiable",
    "no_test",
    "worse_than_given",
    "large_error",
    "worse_run",
    "outside_prior",
    "narrow_bands",
)
"""Kinds of reservations, the weightiest first: the first two make a verdict red, the others yellow."""


@dataclass(frozen=True, kw_only=True)
class RobotVerdict(VerdictForm):
    """Whether to use servo files of a robot, for what, and how far off they will be.

    The model is the one with the least error of fitted runs: test runs choose nothing.

    Attributes:
        test_runs: number of test runs.
        outside: names of unknowns that end far outside their prior.
        held: least share of samples of a test run in its 90 % band; None without bands.
    """

    test_runs: int
    outside: tuple[str, ...]
    held: float | None

    RED: ClassVar = REASONS[:2]
    rule: ClassVar[str] = rule_of_robots(WITHIN_PRIOR, FAR_OUTSIDE)

    @property
    def file(self) -> str:
        """Pattern of the servo files, one for each type."""
        return f"*_{self.model}.yaml"

    def words(self, kind: str) -> str:
        """Return a reservation of REASONS in at most eight words."""
        return reason_words(
            kind,
            share=self.share or 0.0,
            logs=self.test_runs,
            count=len(self.outside),
            factor=self.worst,
            held=self.held or 0.0,
        )

    @property
    def _reservations(self) -> tuple[str, ...]:
        lines = super()._reservations
        if not self.outside:
            return lines
        beyond = f"outside their prior by more than {WITHIN_PRIOR:g} standard deviations"
        return (*lines, f"{beyond}: {', '.join(self.outside)}")

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``; errors in rad."""
        return {
            **super().summary(),
            "test_runs": self.test_runs,
            "outside_prior": list(self.outside),
            "band_90_least": self.held,
        }


def robot_verdict(identification: RobotIdentification) -> RobotVerdict:
    """Return the verdict on the model with the least error of fitted runs."""
    model = min(identification.fits, key=lambda name: identification.mae(name, identification.train) or 0.0)
    fit, task = identification.fits[model], identification.task
    error = identification.mae(model, identification.test)
    before = identification.mae(model, identification.test, before=True)
    motion = fmean(_motion(run, task.joints) for run in task.test) if task.test else None
    share = error / motion if error is not None and motion else 0.0
    largest = max(errors.mae for errors in fit.after.per_log.values())
    held = min(fit.coverage.values(), default=None)
    outside = _outside(fit)
    applies = {
        "error_above_motion": share > RED_SHARE,
        "motor_outside_prior": largest_motor_shift(fit, task) > FAR_OUTSIDE,
        "unidentifiable": not any(
            estimate.told for estimates in fit.estimates.values() for estimate in estimates.values()
        ),
        "no_test": error is None,
        "worse_than_given": error is not None and before is not None and error > before,
        "large_error": GREEN_SHARE < share <= RED_SHARE,
        "worse_run": bool(error) and largest > WORSE_RUN * (error or 0.0),
        "outside_prior": bool(outside),
        "narrow_bands": held is not None and held < LEAST_HELD,
    }
    gains = {repr(run.kp) for run in task.train}
    return RobotVerdict(
        model=model,
        test_mae=error,
        test_runs=len(task.test),
        motion=motion,
        new=("kp",) if task.test and not gains & {repr(run.kp) for run in task.test} else (),
        outside=outside,
        held=held,
        worst=largest / error if error else 0.0,
        reasons=tuple(reason for reason in REASONS if applies[reason]),
        beside=verdict_findings(identification, model),
    )


def _outside(fit: RobotModelFit) -> tuple[str, ...]:
    of_servos: dict[str, Estimate] = {
        f"{servo} {name}": estimate
        for servo, estimates in fit.estimates.items()
        for name, estimate in estimates.items()
    }
    return tuple(
        name
        for name, estimate in {**of_servos, **fit.deviation_estimates}.items()
        if abs(estimate.shift) > WITHIN_PRIOR
    )


def _motion(run: RobotRun, joints: Sequence[str]) -> float:
    """Return the mean over joints of the mean absolute distance from their mean position, rad."""
    compared = run.compared(joints)
    distances = []
    for index, joint in enumerate(joints):
        position = run.position[compared[:, index], run.column(joint)]
        if len(position):
            distances.append(float(np.mean(np.abs(position - position.mean()))))
    return fmean(distances)
