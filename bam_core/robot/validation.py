# SPDX-License-Identifier: Apache-2.0
"""How far a simulated robot is from its recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel
from bam_core.simulation.threads import allowed_threads


@dataclass(frozen=True, kw_only=True)
class RunErrors:
    """Mean absolute errors of one run, rad.

    Attributes:
        per_joint: joint -> over the samples that count.
        goal_distance: mean of how far the joints are from their goals: what no servo at all would have.
    """

    per_joint: Mapping[str, float]
    goal_distance: float

    @property
    def mae(self) -> float:
        """Mean over joints and samples."""
        return fmean(self.per_joint.values())


@dataclass(frozen=True, kw_only=True)
class RobotValidation:
    """Errors of all runs.

    Attributes:
        per_log: name of a run -> its errors.
    """

    per_log: Mapping[str, RunErrors]

    @property
    def mae(self) -> float:
        """Mean over runs, rad."""
        return fmean(errors.mae for errors in self.per_log.values())

    def mean_of(self, names: Sequence[str]) -> float:
        """Return the mean error of some runs, rad."""
        return fmean(self.per_log[name].mae for name in names)

    def mean_of_joint(self, joint: str) -> float:
        """Return a joint's error, mean over runs, rad."""
        return fmean(errors.per_joint[joint] for errors in self.per_log.values())

    def summary(self) -> dict[str, Any]:
        """Return plain values, rad."""
        return {
            "mae": self.mae,
            "per_log": {
                name: {
                    "mae": errors.mae,
                    "per_joint": dict(errors.per_joint),
                    "goal_distance": errors.goal_distance,
                }
                for name, errors in self.per_log.items()
            },
        }


def simulate_runs(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
    *,
    done: Callable[[str], None] = lambda run: None,
) -> dict[str, Array]:
    """Return name of a run -> (n, joints of the run) rad; see `RobotBench.simulate`.

    Raises:
        BamError: a run cannot be simulated.
    """

    def path(run: RobotRun) -> Array:
        simulated = bench.simulate(run, servos, deviations)
        done(run.name)
        return simulated

    with ThreadPoolExecutor(allowed_threads()) as pool:
        return dict(zip([run.name for run in runs], pool.map(path, runs), strict=True))


def errors_of(
    runs: Sequence[RobotRun], joints: Sequence[str], simulated: Mapping[str, Array]
) -> RobotValidation:
    """Return the errors of simulations that `simulate_runs` made, for the joints that count."""

    def errors(run: RobotRun) -> RunErrors:
        columns = [run.column(joint) for joint in joints]
        compared = run.compared(joints)
        off = np.abs(simulated[run.name] - run.position)[:, columns].mean(axis=0, where=compared)
        goal = np.abs(run.goal_position - run.position)[:, columns].mean(where=compared)
        return RunErrors(per_joint=dict(zip(joints, map(float, off), strict=True)), goal_distance=float(goal))

    return RobotValidation(per_log={run.name: errors(run) for run in runs})
