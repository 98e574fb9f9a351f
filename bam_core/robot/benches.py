# SPDX-License-Identifier: Apache-2.0
"""The benches of a search: the whole robot, and what does nearly the same in much less time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from bam_core.arrays import Array
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.one_joint import OneJointBench
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.validation import simulate_runs
from bam_core.servo.model import ServoModel
from bam_core.simulation.threads import allowed_threads


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchBenches:
    """What a search simulates by.

    Attributes:
        search: the robot, with the steps of the search.
        quick: does nearly the same in much less time; None: nothing does.
    """

    search: RobotBench
    quick: RobotBench | OneJointBench | None

    @property
    def one_joint(self) -> OneJointBench | None:
        """The quick one, if it simulates one joint at a time."""
        return self.quick if isinstance(self.quick, OneJointBench) else None

    def one_at_a_time(
        self,
        runs: Sequence[RobotRun],
        servos: Mapping[str, ServoModel],
        deviations: RobotDeviations,
    ) -> dict[str, Array]:
        """Return name of a run -> (n, joints of the run) rad, each joint while the others move as measured.

        Raises:
            BamError: a run cannot be simulated.
        """
        known = [] if self.one_joint is None else [run for run in runs if run.name in self.one_joint.rollouts]
        names = {run.name for run in known}
        others = [run for run in runs if run.name not in names]
        simulated = simulate_runs(replace(self.search, others="measured"), others, servos, deviations)
        if self.one_joint is not None:
            with ThreadPoolExecutor(allowed_threads()) as pool:
                positions = self.one_joint.positions(pool, known, [(servos, deviations)])
            for run in known:
                columns = [run.column(joint) for joint in self.one_joint.joints]
                simulated[run.name] = run.position.copy()
                simulated[run.name][:, columns] = positions[run.name][0]
        return simulated
