# SPDX-License-Identifier: Apache-2.0
"""Servos of an assembled robot, identified from its own runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.fit import fit_robot
from bam_core.robot.intervals import Estimate, parameter_intervals
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.unknowns import Tolerances, Unknowns, bodies_for, with_friction_model
from bam_core.robot.validation import RobotValidation, validate_robot
from bam_core.servo.model import ServoModel

_SEARCH_STEPS = (4e-3, 2e-3)  # s; a search takes the longest that is exact enough, else the bench's own
_EXACT = 0.5e-3  # rad, mean, from the motion with the bench's step: a third of an encoder's count of 4096
_LEAD, _SETTLING = 0.5, 0.5  # s before the interval that counts; s at rest before that


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotModelFit:
    """One friction model, identified.

    Attributes:
        servos: type -> servo.
        deviations: of the robot.
        estimates: type -> parameter -> what is known of it.
        before: errors on all runs with the servos given, and no deviations.
        after: errors on all runs.
        one_joint: the same where one joint at a time is simulated and the others move as measured: how much
            of `after` joints pass on to each other.
    """

    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations
    estimates: Mapping[str, Mapping[str, Estimate]]
    before: RobotValidation
    after: RobotValidation
    one_joint: RobotValidation


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotIdentification:
    """All friction models.

    Attributes:
        fits: model -> what was found.
        train: names of the runs that were fitted.
        test: names of those that no fit has seen.
    """

    fits: Mapping[str, RobotModelFit]
    train: tuple[str, ...]
    test: tuple[str, ...]

    def mae(self, model: str, names: Sequence[str], *, before: bool = False) -> float | None:
        """Return the mean error of some runs, rad; None of none."""
        fit = self.fits[model]
        found = (fit.before if before else fit.after).per_log
        return float(np.mean([found[name].mae for name in names])) if names else None

    def summary(self) -> dict[str, Any]:
        """Return plain values, SI."""
        return {
            "train": list(self.train),
            "test": list(self.test),
            "models": {
                model: {
                    "train_mae": self.mae(model, self.train),
                    "test_mae": self.mae(model, self.test),
                    "train_mae_before": self.mae(model, self.train, before=True),
                    "test_mae_before": self.mae(model, self.test, before=True),
                    "before": fit.before.summary(),
                    "after": fit.after.summary(),
                    "one_joint": fit.one_joint.summary(),
                    "parameters": {
                        servo: {name: vars(each) for name, each in estimates.items()}
                        for servo, estimates in fit.estimates.items()
                    },
                }
                for model, fit in self.fits.items()
            },
        }


@dataclass(frozen=True, kw_only=True)
class RobotTask:
    """What is to be identified from.

    Attributes:
        bench: the robot.
        types: joint -> type of its servo.
        servos: type -> where to begin.
        joints: that count.
        train: runs to fit.
        test: runs that no fit sees.
        tolerances: of the robot.
    """

    bench: RobotBench
    types: Mapping[str, str]
    servos: Mapping[str, ServoModel]
    joints: Sequence[str]
    train: Sequence[RobotRun]
    test: Sequence[RobotRun] = ()
    tolerances: Tolerances = field(default_factory=Tolerances)


def identify_robot(
    task: RobotTask, models: Sequence[str], progress: Callable[[str], None] = lambda words: None
) -> RobotIdentification:
    """Fit friction models one after the other.

    Args:
        task: robot, servos and runs.
        models: "m1" to "m6".
        progress: told each step, in words.

    Raises:
        BamError: a run cannot be simulated.
    """
    fits = {}
    for model in models:

        def say(words: str, model: str = model) -> None:
            progress(f"{model}: {words}")

        fits[model] = _fitted(task, model, say)
    return RobotIdentification(
        fits=fits,
        train=tuple(run.name for run in task.train),
        test=tuple(run.name for run in task.test),
    )


def _fitted(task: RobotTask, model: str, say: Callable[[str], None]) -> RobotModelFit:
    unknowns = Unknowns(
        servos={name: with_friction_model(servo, model) for name, servo in task.servos.items()},
        joints=task.types,
        tolerances=task.tolerances,
        bodies=bodies_for(task.bench.spec, task.tolerances),
    )
    search = _search_bench(task)
    fit = fit_robot(search, task.train, task.joints, unknowns, progress=say)
    runs = [*task.train, *task.test]
    say("errors of all runs")
    given = {joint: task.servos[name] for joint, name in task.types.items()}
    deviations, servos = unknowns.deviations_at(fit.point), unknowns.servos_at(fit.point)
    alone = replace(search, others="measured")
    return RobotModelFit(
        servos=unknowns.types_at(fit.point),
        deviations=deviations,
        estimates=parameter_intervals(fit.unknowns, fit.point, fit.covariance),
        before=validate_robot(task.bench, runs, task.joints, given),
        after=validate_robot(task.bench, runs, task.joints, servos, deviations),
        one_joint=validate_robot(alone, runs, task.joints, servos, deviations),
    )


def _search_bench(task: RobotTask) -> RobotBench:
    """Return a bench with the longest steps that simulate the first run as the bench itself does."""
    run = task.train[0]
    servos = {joint: task.servos[name] for joint, name in task.types.items()}
    columns = [run.column(joint) for joint in task.joints]
    exact = task.bench.coarser(task.bench.step, settling=_SETTLING, lead=_LEAD)
    there = exact.simulate(run, servos)[run.counts][:, columns]
    for step in _SEARCH_STEPS:
        if step > task.bench.step:
            search = task.bench.coarser(step, settling=_SETTLING, lead=_LEAD)
            if np.abs(search.simulate(run, servos)[run.counts][:, columns] - there).mean() < _EXACT:
                return search
    return exact
