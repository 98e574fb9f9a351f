# SPDX-License-Identifier: Apache-2.0
"""What stands beside the verdict on a robot's servos: what it rests on, and what it does not cover."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from bam_core.robot.estimates import Estimate
from bam_core.robot.evidence_checks import LEAST_MOTION, require_excitation
from bam_core.robot.result import RobotIdentification, RobotModelFit, RobotTask
from bam_core.robot.run import RobotRun
from bam_core.servo.data_sheet import GUESSES
from bam_core.text.finding import Finding
from bam_core.text.robot_evidence_findings import NoLoad
from bam_core.text.verdict_findings import (
    DeviationsNeeded,
    MotorOutsidePrior,
    UntestedJoints,
    WorseJoints,
)

WITHIN_PRIOR = 3.0
"""Standard deviations of the prior that a value may be from where it began; one in 370 is further."""

FAR_OUTSIDE = 4.0
"""Standard deviations from which a motor constant makes a verdict red. M4 of an SO-101 from three runs ends
1.8 away at its 12 V, and 4.5 away where 7.4 V was given, with the same test error."""

_TORQUE_CONSTANT, _RESISTANCE = "torque_constant", "resistance"
_SAME = 1.02  # times the error, up to which it did not grow: repeated runs of one servo differ by 2 %


def verdict_findings(identification: RobotIdentification, model: str) -> tuple[Finding, ...]:
    """Return what a reader of the verdict on a model must know beside it."""
    fit, task = identification.fits[model], identification.task
    return (
        *motors_outside_prior(fit, task),
        *(finding for finding in require_excitation(task) if isinstance(finding, NoLoad)),
        *_untested_joints(task),
        *_worse_joints(fit, task),
        *_deviations(fit, task, model),
    )


def largest_motor_shift(fit: RobotModelFit, task: RobotTask) -> float:
    """Return the largest `motor_shift` of servos whose motor was known: a data sheet's is no measurement."""
    return max(
        (
            motor_shift(estimates)
            for name, estimates in fit.estimates.items()
            if not task.servos[name].provenance.source.endswith(GUESSES)
        ),
        default=0.0,
    )


def motor_shift(estimates: Mapping[str, Estimate]) -> float:
    """Return how far torque constant, resistance or their ratio is from where it began, in prior deviations.

    Both have logarithmic coordinates with one width, so that of the ratio is sqrt 2 as wide.
    """
    torque, resistance = (
        estimates[name].shift if name in estimates else 0.0 for name in (_TORQUE_CONSTANT, _RESISTANCE)
    )
    return max(abs(torque), abs(resistance), abs(torque - resistance) / math.sqrt(2.0))


def motors_outside_prior(fit: RobotModelFit, task: RobotTask) -> Iterator[MotorOutsidePrior]:
    """Return a finding about each servo whose torque constant, resistance, or their ratio left its prior.

    Without load a servo turns at U/k_t, at standstill it has k_t·U/R: simulated at a wrong supply U, a servo
    gets a k_t that is off as much, and an R that is off by the square. A prior holds both back.
    """
    for name, estimates in fit.estimates.items():
        if motor_shift(estimates) <= WITHIN_PRIOR:
            continue
        torque, resistance = estimates[_TORQUE_CONSTANT], estimates[_RESISTANCE]
        nominal = task.servos[name].nominal_voltage
        supply = fmean(run.supply_voltage or nominal for run in task.train)
        yield MotorOutsidePrior(
            servo=name,
            torque_constant=(constant := torque.value / torque.begin),
            resistance=(ohmic := resistance.value / resistance.begin),
            supply=supply,
            speed_supply=supply / constant,
            torque_supply=supply * constant / ohmic,
        )


def _untested_joints(task: RobotTask) -> Iterator[UntestedJoints]:
    resting = tuple(joint for joint in task.joints if _motion(task.test, joint) < LEAST_MOTION)
    if task.test and resting:
        yield UntestedJoints(joints=resting, limit=LEAST_MOTION)


def _motion(runs: Sequence[RobotRun], joint: str) -> float:
    """Return the range of a joint's positions in the run in which it moves most, rad."""
    return max((float(np.ptp(run.position[run.counts, run.column(joint)])) for run in runs), default=0.0)


def _worse_joints(fit: RobotModelFit, task: RobotTask) -> Iterator[WorseJoints]:
    if not task.test:
        return
    errors = {
        joint: tuple(
            fmean(errors.per_log[run.name].per_joint[joint] for run in task.test)
            for errors in (fit.before, fit.after)
        )
        for joint in task.joints
    }
    worse = tuple(
        (joint, before, after) for joint, (before, after) in errors.items() if after > _SAME * before
    )
    if worse:
        yield WorseJoints(joints=worse)


def _deviations(fit: RobotModelFit, task: RobotTask, model: str) -> Iterator[DeviationsNeeded]:
    if fit.servos_alone is not None and task.test:
        yield DeviationsNeeded(
            file=f"deviations/{model}.yaml",
            error=fit.after.mean_of([run.name for run in task.test]),
            error_without=fit.servos_alone.mae,
        )
