# SPDX-License-Identifier: Apache-2.0
"""Leave one configuration out: every log is judged once, by a fit that has not seen its configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import pytest
from identification_cases import mx106, session

from bam_core.identification.choice.cross_validation import cross_validate
from bam_core.identification.data.split import Split, leave_one_out
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout, parameter_vector

TRUTH = mx106("m1")
LOGS = session(TRUTH)


def errors(servo: ServoModel, split: Split) -> dict[str, float]:
    found = Rollout.for_servo(split.validation, servo).errors(parameter_vector(servo))[0]
    return {log.name: float(error) for log, error in zip(split.validation, found, strict=True)}


def wrong_where_seen(kp: float) -> Callable[[Split], dict[str, float]]:
    """Errors of a fit that is right unless it has seen this gain."""

    def evaluate(split: Split) -> dict[str, float]:
        seen = any(log.kp == kp for log in split.train)
        return errors(
            replace(TRUTH, motor=replace(TRUTH.motor, torque_constant=1.5)) if seen else TRUTH, split
        )

    return evaluate


def test_every_log_is_judged_by_the_fit_that_did_not_see_its_configuration() -> None:
    seen: list[Split] = []
    result = cross_validate(leave_one_out(LOGS, "kp"), wrong_where_seen(8.0), progress=seen.append)
    assert [split.rule for split in seen] == ["kp=8", "kp=16", "kp=32"]
    assert sorted(result.per_log) == sorted(log.name for log in LOGS)
    right, *wrong = result.folds
    assert right.mae < 1e-3
    assert all(fold.mae > 5e-3 for fold in wrong)
    assert right.per_log == errors(TRUTH, right.split)


def test_the_error_is_the_mean_over_logs_and_its_uncertainty_comes_from_configurations() -> None:
    result = cross_validate(leave_one_out(LOGS, "kp"), wrong_where_seen(8.0))
    assert result.mae == pytest.approx(fmean(result.per_log.values()))
    even = cross_validate(leave_one_out(LOGS, "kp"), lambda split: errors(TRUTH, split))
    assert even.standard_error < 0.1 * result.standard_error
