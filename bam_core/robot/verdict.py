# SPDX-License-Identifier: Apache-2.0
"""The verdict on servos identified on a robot, of the form that one of a bench has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from bam_core.robot.estimates import Estimate
from bam_core.robot.result import RobotIdentification, RobotModelFit
from bam_core.robot.run import RobotRun
from bam_core.text.verdict_words import (
    GREEN_SHARE,
    LEAST_HELD,
    RED_SHARE,
    RULE,
    VERDICTS,
    WORSE_RUN,
    headline,
    reason_words,
    verdict_words,
)

REASONS = (
    "error_above_motion",
    "no_test",
    "worse_than_given",
    "large_error",
    "worse_run",
    "outside_prior",
    "narrow_bands",
)
"""Kinds of reservations, the weightiest first: the first makes a verdict red, the others yellow."""

WITHIN_PRIOR = 3.0
"""Standard deviations of the prior that a value may be from where it began; one in 370 is further."""


@dataclass(frozen=True, kw_only=True)
class RobotVerdict:
    """Whether to use servo files of a robot, for what, and how far off they will be.

    Attributes:
        model: the one with the least error of fitted runs: test runs choose nothing.
        test_mae: mean absolute position error over the test runs, rad; None without such.
        test_runs: number of test runs.
        motion: mean absolute distance of their positions from the mean, rad; None without such.
        new: "kp" where no fitted run has the gains of the test.
        outside: names of unknowns that end far outside their prior.
        held: least share of samples of a test run in its 90 % band; None without bands.
        worst: largest error of a single run, as a multiple of `test_mae`; 0 without a test.
        reasons: of REASONS, in their order; empty of a green verdict.
    """

    model: str
    test_mae: float | None
    test_runs: int
    motion: float | None
    new: tuple[str, ...]
    outside: tuple[str, ...]
    held: float | None
    worst: float
    reasons: tuple[str, ...]

    @property
    def kind(self) -> str:
        """One of `VERDICTS`."""
        if REASONS[0] in self.reasons:
            return "red"
        return "yellow" if self.reasons else "green"

    @property
    def share(self) -> float | None:
        """Test error as a share of the motion; None where either is unknown."""
        return None if self.test_mae is None or not self.motion else self.test_mae / self.motion

    @property
    def sentence(self) -> str:
        """The verdict in at most 25 words."""
        reason = self._words(self.reasons[0]) if self.reasons else ""
        return verdict_words(self.kind, f"*_{self.model}.yaml", self.test_mae, self.share, self.new, reason)

    @property
    def lines(self) -> tuple[str, ...]:
        """The colour with its word and the sentence; all reservations where there are several; the rule."""
        more = "; ".join(map(self._words, self.reasons)) if len(self.reasons) > 1 else ""
        outside = ", ".join(self.outside)
        return (
            f"{headline(self.kind)}: {self.sentence}",
            *([f"reservations: {more}"] if more else []),
            *(
                [f"outside their prior by more than {WITHIN_PRIOR:g} standard deviations: {outside}"]
                if outside
                else []
            ),
            f"rule: {RULE}",
        )

    def summary(self) -> dict[str, Any]:
        """Return its entry in ``summary.json``; errors in rad."""
        return {
            "kind": self.kind,
            "word": VERDICTS[self.kind],
            "sentence": self.sentence,
            "rule": RULE,
            "reasons": [{"kind": kind, "sentence": self._words(kind)} for kind in self.reasons],
            "model": self.model,
            "test_mae": self.test_mae,
            "test_runs": self.test_runs,
            "motion": self.motion,
            "share_of_motion": self.share,
            "new_conditions": list(self.new),
            "outside_prior": list(self.outside),
            "band_90_least": self.held,
            "worst_run": self.worst,
        }

    def _words(self, kind: str) -> str:
        return reason_words(
            kind,
            share=self.share or 0.0,
            logs=self.test_runs,
            count=len(self.outside),
            factor=self.worst,
            held=self.held or 0.0,
        )


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
