# SPDX-License-Identifier: Apache-2.0
"""The verdict on a robot's servos follows from test error, motion, priors and bands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.robot.deviations import NO_DEVIATIONS
from bam_core.robot.estimates import Estimate
from bam_core.robot.prediction import RobotPrediction
from bam_core.robot.result import RobotIdentification, RobotModelFit, RobotTask
from bam_core.robot.run import RobotRun
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.validation import RobotValidation, RunErrors
from bam_core.robot.verdict import RobotVerdict, robot_verdict
from bam_core.robot.verdict_findings import FAR_OUTSIDE, WITHIN_PRIOR
from bam_core.servo.data_sheet import GUESSES
from bam_core.servo.model import ServoModel, load_servo
from bam_core.text.verdict_findings import (
    DeviationsNeeded,
    ErrorShare,
    MotorOutsidePrior,
    UntestedJoints,
    WorseJoints,
)
from bam_core.text.verdict_words import GREEN_SHARE, LEAST_HELD, RED_SHARE, WORSE_RUN
from test.core.whole_robot_cases import JOINTS, bench, goals


def run(seed: int, kp: float) -> RobotRun:
    asked = goals(seed=seed)
    return replace(asked, position=asked.goal_position, kp=kp)


SERVO = load_servo("mx64")
TRAIN, TEST = [run(1, 16.0), run(2, 16.0)], [run(3, 32.0)]
MOTION = float(np.mean(np.abs(TEST[0].position - TEST[0].position.mean(axis=0))))


def errors(of: Mapping[str, float]) -> RobotValidation:
    return RobotValidation(
        per_log={
            name: RunErrors(per_joint=dict.fromkeys(JOINTS, error), goal_distance=1.0)
            for name, error in of.items()
        }
    )


def estimate(shift: float, *, told: bool = True, value: float = 1.0) -> Estimate:
    return Estimate(value=value, begin=1.0, low=0.9, high=1.1, told=told, width=0.1, shift=shift)


def judged(
    share: float = 0.01,
    *,
    train: float = 0.01,
    given: float = 1.0,
    held: float = 0.9,
    shift: float = 0.0,
    resistance: float = 0.0,
    told: bool = True,
    test: Sequence[RobotRun] = TEST,
    servo: ServoModel = SERVO,
    **more: Any,
) -> RobotVerdict:
    """The verdict on errors that are shares of the test run's motion."""
    after = {**{each.name: train * MOTION for each in TRAIN}, **{each.name: share * MOTION for each in test}}
    more |= {"servos": {}, "deviations": NO_DEVIATIONS, "simulated": {}, "bands": {}}
    fit = RobotModelFit(
        estimates={
            "mx64": {
                "torque_constant": estimate(shift, told=told),
                "resistance": estimate(resistance, told=False, value=math.exp(0.1 * resistance)),
                "coulomb": estimate(0.0, told=False),
            }
        },
        deviation_estimates={"delay": estimate(0.0)},
        before=errors(dict.fromkeys(after, given * MOTION)),
        after=errors(after),
        one_joint=errors(after),
        coverage={each.name: held for each in test},
        prediction=RobotPrediction(scale={}, goal_distance={}, draws=()),
        **more,
    )
    task = RobotTask(
        bench=bench(),
        types=dict.fromkeys(JOINTS, "mx64"),
        servos={"mx64": servo},
        joints=JOINTS,
        train=TRAIN,
        test=test,
    )
    settings = RobotIdentifySettings(models=["m1"])
    return robot_verdict(RobotIdentification(fits={"m1": fit}, task=task, settings=settings, given={}))


def test_a_small_test_error_without_reservation_is_green() -> None:
    found = judged()
    assert (found.kind, found.reasons, found.new, found.model) == ("green", (), ("kp",), "m1")
    assert found.share == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("change", "kind", "reason"),
    [
        ({"share": 1.01 * GREEN_SHARE}, "yellow", "large_error"),
        ({"share": 1.01 * RED_SHARE}, "red", "error_above_motion"),
        ({"test": ()}, "yellow", "no_test"),
        ({"told": False}, "yellow", "unidentifiable"),
        ({"given": 0.009}, "yellow", "worse_than_given"),
        ({"train": 1.01 * WORSE_RUN * 0.01}, "yellow", "worse_run"),
        ({"shift": -1.01 * WITHIN_PRIOR}, "yellow", "outside_prior"),
        ({"held": LEAST_HELD - 0.04}, "yellow", "narrow_bands"),
    ],
)
def test_each_reservation_alone_counts(change: dict[str, Any], kind: str, reason: str) -> None:
    found = judged(**change)
    assert (found.kind, found.reasons) == (kind, (reason,))


@pytest.mark.parametrize(
    "change",
    [
        {"share": 0.99 * GREEN_SHARE},
        {"train": 0.99 * WORSE_RUN * 0.01},
        {"shift": 0.99 * WITHIN_PRIOR},
        {"held": LEAST_HELD},
    ],
)
def test_what_is_within_its_limit_is_none(change: dict[str, Any]) -> None:
    assert judged(**change).kind == "green"


def test_the_summary_names_what_is_outside_its_prior() -> None:
    entry = judged(shift=4.0, held=0.76).summary()
    assert entry["outside_prior"] == ["mx64 torque_constant"]
    assert entry["band_90_least"] == 0.76
    assert [reason["kind"] for reason in entry["reasons"]] == ["outside_prior", "narrow_bands"]


def beside(verdict: RobotVerdict, kind: type[Any]) -> Any:
    return next(finding for finding in verdict.findings if isinstance(finding, kind))


@pytest.mark.parametrize(
    ("shift", "resistance"),
    [(1.01 * FAR_OUTSIDE, 0.0), (0.0, -1.01 * FAR_OUTSIDE), (0.72 * FAR_OUTSIDE, -0.72 * FAR_OUTSIDE)],
)
def test_a_motor_constant_or_the_ratio_of_both_far_outside_the_prior_is_red(
    shift: float, resistance: float
) -> None:
    found = judged(shift=shift, resistance=resistance)
    assert (found.kind, found.reasons[0]) == ("red", "motor_outside_prior")


def test_the_motor_of_a_data_sheet_is_no_measurement() -> None:
    guessed = replace(SERVO, provenance=replace(SERVO.provenance, source=f"sheet; {GUESSES}"))
    assert judged(shift=1.01 * FAR_OUTSIDE, servo=guessed).kind == "yellow"


def test_a_motor_outside_its_prior_asks_about_the_supply() -> None:
    shift = -1.01 * WITHIN_PRIOR
    finding = beside(judged(resistance=shift), MotorOutsidePrior)
    ohmic = math.exp(0.1 * shift)
    assert (finding.servo, finding.torque_constant) == ("mx64", 1.0)
    assert finding.resistance == pytest.approx(ohmic)
    assert finding.supply == finding.speed_supply == 12.0
    assert finding.torque_supply == pytest.approx(12.0 / ohmic)
    assert not any(isinstance(each, MotorOutsidePrior) for each in judged().findings)


def test_the_error_stands_beside_the_motion() -> None:
    finding = beside(judged(share=0.03), ErrorShare)
    assert (finding.error, finding.motion) == pytest.approx((0.03 * MOTION, MOTION))


def test_joints_that_no_test_run_moves_are_named() -> None:
    column = TEST[0].column("elbow")
    position = TEST[0].position.copy()
    position[:, column] = 0.3
    finding = beside(judged(test=[replace(TEST[0], position=position)]), UntestedJoints)
    assert finding.joints == ("elbow",)


def test_joints_that_the_servos_given_follow_better_are_named() -> None:
    finding = beside(judged(share=0.02, given=0.01), WorseJoints)
    assert [joint for joint, _, _ in finding.joints] == list(JOINTS)
    assert finding.joints[0][1:] == pytest.approx((0.01 * MOTION, 0.02 * MOTION))
    assert not any(isinstance(each, WorseJoints) for each in judged().findings)


def test_the_error_without_deviations_stands_beside_that_with_them() -> None:
    finding = beside(judged(servos_alone=errors({"run3": 0.5 * MOTION})), DeviationsNeeded)
    assert finding.file == "deviations/m1.yaml"
    assert finding.error == pytest.approx(0.01 * MOTION)
    assert finding.error_without == pytest.approx(0.5 * MOTION)


def test_the_summary_has_the_findings() -> None:
    entry = judged(resistance=-3.5).summary()
    assert {"error_share", "motor_outside_prior"} <= {each["kind"] for each in entry["findings"]}
    assert all(each["sentence"] for each in entry["findings"])


def test_the_lines_begin_with_the_verdict_and_end_with_its_rule() -> None:
    found = judged(shift=4.0, held=0.76)
    lines = found.lines
    assert found.sentence in lines[0]
    assert all(reason["sentence"] in lines[1] for reason in found.summary()["reasons"])
    assert "mx64 torque_constant" in lines[2]
    assert found.summary()["rule"] in lines[-1]
