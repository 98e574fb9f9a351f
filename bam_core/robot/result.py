# SPDX-License-Identifier: Apache-2.0
"""What servos of an assembled robot are identified from, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.recordings.excluded import Excluded
from bam_core.robot.curves import RunCurves
from bam_core.robot.deviations import OF_A_UNIT, RobotDeviations
from bam_core.robot.estimates import Estimate
from bam_core.robot.prediction import RobotPrediction
from bam_core.robot.run import RobotRun
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import RobotValidation
from bam_core.servo.model import ServoModel


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
        excluded: runs that were given and cannot be used.
        table: site or body -> m, height of a table that runs show; see `table`.
    """

    bench: RobotBench
    types: Mapping[str, str]
    servos: Mapping[str, ServoModel]
    joints: Sequence[str]
    train: Sequence[RobotRun]
    test: Sequence[RobotRun] = ()
    excluded: Sequence[Excluded] = ()
    table: Mapping[str, float] = field(default_factory=dict)

    @property
    def runs(self) -> list[RobotRun]:
        """All runs, those to fit first."""
        return [*self.train, *self.test]

    @property
    def given(self) -> dict[str, ServoModel]:
        """Joint -> the servo to begin with."""
        return {joint: self.servos[name] for joint, name in self.types.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotParameters:
    """The best point of a descent, before errors and bands are computed.

    Attributes:
        model: friction model.
        servos: type -> servo.
        deviations: of the robot.
        task: what they were identified from.
        settings: of the identification.
        is_converged: whether the descent came to its end; one that was interrupted did not.
    """

    model: str
    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations
    task: RobotTask
    settings: RobotIdentifySettings
    is_converged: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotModelFit:
    """One friction model, identified.

    Attributes:
        servos: type -> servo.
        deviations: of the robot.
        estimates: type -> parameter -> what is known of it.
        deviation_estimates: the same of the deviations, by their names.
        before: errors on all runs with the servos given, and no deviations.
        after: errors on all runs.
        one_joint: the same where one joint at a time is simulated and the others move as measured: how much
            of `after` joints pass on to each other.
        simulated: run -> (n, joints of the run) rad, whose errors `after` has.
        bands: test run -> (n, joints that count) rad, half the width of the 90 % band around `simulated`.
        coverage: test run -> share of its samples within the band.
        prediction: of other runs of this robot.
        servos_alone: errors on the test runs without the deviations; None without test runs.
    """

    servos: Mapping[str, ServoModel]
    deviations: RobotDeviations
    estimates: Mapping[str, Mapping[str, Estimate]]
    deviation_estimates: Mapping[str, Estimate]
    before: RobotValidation
    after: RobotValidation
    one_joint: RobotValidation
    simulated: Mapping[str, Array]
    bands: Mapping[str, Array]
    coverage: Mapping[str, float]
    prediction: RobotPrediction
    servos_alone: RobotValidation | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotIdentification:
    """All friction models.

    Attributes:
        fits: model -> what was found.
        task: what it was found from.
        settings: of the identification.
        given: run -> (n, joints of the run) rad, simulated with the servos given.
    """

    fits: Mapping[str, RobotModelFit]
    task: RobotTask
    settings: RobotIdentifySettings
    given: Mapping[str, Array]

    @property
    def train(self) -> tuple[str, ...]:
        """Names of the runs that were fitted."""
        return tuple(run.name for run in self.task.train)

    @property
    def test(self) -> tuple[str, ...]:
        """Names of those that no fit has seen."""
        return tuple(run.name for run in self.task.test)

    def curves(self) -> list[RunCurves]:
        """Return all runs with their simulations."""
        return [
            RunCurves(
                run=run,
                before=self.given[run.name],
                after={model: fit.simulated[run.name] for model, fit in self.fits.items()},
                bands={
                    model: fit.bands[run.name] for model, fit in self.fits.items() if run.name in fit.bands
                },
            )
            for run in self.task.runs
        ]

    def mae(self, model: str, names: Sequence[str], *, before: bool = False) -> float | None:
        """Return the mean error of some runs, rad; None of none."""
        fit = self.fits[model]
        errors = (fit.before if before else fit.after).per_log
        return float(np.mean([errors[name].mae for name in names])) if names else None

    def summary(self) -> dict[str, Any]:
        """Return plain values, SI."""
        return {
            "train": list(self.train),
            "test": list(self.test),
            "excluded": [excluded.summary() for excluded in self.task.excluded],
            "joints": {joint: self.task.types[joint] for joint in self.task.joints},
            "root": self.task.bench.root,
            "tolerances": asdict(self.settings.tolerances),
            "runs": {
                run.name: {
                    "kp": run.kp,
                    "kd": run.kd,
                    "ki": run.ki,
                    "supply_voltage": run.supply_voltage,
                    "recorded_voltage": run.recorded_voltage,
                    "interval": run.interval,
                }
                for run in self.task.runs
            },
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
                        servo: {name: vars(estimate) for name, estimate in estimates.items()}
                        for servo, estimates in fit.estimates.items()
                    },
                    "deviations": {
                        name: vars(estimate) for name, estimate in fit.deviation_estimates.items()
                    },
                    "joint_spread": joint_spread(self.task, fit.deviations),
                    "band_90_coverage": dict(fit.coverage),
                    "servos": {name: servo.name for name, servo in fit.servos.items()},
                }
                for model, fit in self.fits.items()
            },
        }


def joint_spread(task: RobotTask, deviations: RobotDeviations) -> dict[str, dict[str, float]]:
    """Return type -> how much its units differ in strength, friction and so on: standard deviations, shares.

    Types that are on one joint alone have none.
    """
    spread = {}
    for servo in dict.fromkeys(task.types[joint] for joint in task.joints):
        own = [joint for joint in task.joints if task.types[joint] == servo]
        if len(own) > 1:
            spread[servo] = {
                name: float(np.std([getattr(deviations, name).get(joint, 0.0) for joint in own], ddof=1))
                for name in OF_A_UNIT
            }
    return spread
