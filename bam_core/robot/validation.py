# SPDX-License-Identifier: Apache-2.0
"""How far a simulated robot is from its recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import allowed_threads


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
        return fmean(each.mae for each in self.per_log.values())

    def mean_of(self, names: Sequence[str]) -> float:
        """Return the mean error of some runs, rad."""
        return fmean(self.per_log[name].mae for name in names)

    def mean_of_joint(self, joint: str) -> float:
        """Return a joint's error, mean over runs, rad."""
        return fmean(each.per_joint[joint] for each in self.per_log.values())

    def summary(self) -> dict[str, Any]:
        """Return plain values, rad."""
        return {
            "mae": self.mae,
            "per_log": {
                name: {
                    "mae": each.mae,
                    "per_joint": dict(each.per_joint),
                    "goal_distance": each.goal_distance,
                }
                for name, each in self.per_log.items()
            },
        }


def validate_robot(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations = NO_DEVIATIONS,
    *,
    done: Callable[[str], None] = lambda run: None,
) -> RobotValidation:
    """Simulate every run and compare.

    Args:
        bench: the robot.
        runs: to follow.
        joints: that count.
        servos: by joint.
        deviations: of this robot.
        done: called with the name of each run.

    Raises:
        BamError: a run cannot be simulated.
    """

    def errors(run: RobotRun) -> RunErrors:
        simulated = bench.simulate(run, servos, deviations)
        columns = [run.column(joint) for joint in joints]
        off = np.abs(simulated - run.position)[run.counts][:, columns].mean(axis=0)
        goal = np.abs(run.goal_position - run.position)[run.counts][:, columns].mean()
        done(run.name)
        return RunErrors(per_joint=dict(zip(joints, map(float, off), strict=True)), goal_distance=float(goal))

    with ThreadPoolExecutor(allowed_threads()) as pool:
        return RobotValidation(
            per_log=dict(zip([run.name for run in runs], pool.map(errors, runs), strict=True))
        )
