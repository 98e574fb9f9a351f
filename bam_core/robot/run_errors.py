# SPDX-License-Identifier: Apache-2.0
"""Errors of a robot's runs as a function of its unknowns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.engine_rollout import DivergedError
from bam_core.robot.noise import Noise, measured_noise
from bam_core.robot.objective import Objective
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.robot.unknowns import Unknowns

_SPACING = 0.02  # s; errors are means over as long: shorter ones are noise of encoder and bus


@dataclass(frozen=True, kw_only=True, eq=False)
class RunErrors:
    """What simulations of runs are off by.

    Attributes:
        bench: the robot.
        runs: that are simulated.
        joints: that count.
        unknowns: of which the errors are a function.
        pool: does the simulations.
        quick: what nearly the same simulations are off by, in much less time; None: there are none.
    """

    bench: RobotBench
    runs: Sequence[RobotRun]
    joints: Sequence[str]
    unknowns: Unknowns
    pool: ThreadPoolExecutor
    quick: RunErrors | None = None

    def rows(self, run: RobotRun) -> NDArray[np.intp]:
        """Return (means, samples) which samples of a run are compared, those of each mean in a row."""
        every = max(round(_SPACING / float(np.median(np.diff(run.time)))), 1)
        counted = np.flatnonzero(run.counts)
        every = min(every, len(counted))
        return counted[: len(counted) // every * every].reshape(-1, every)

    def objective(self, noise: Noise) -> Objective:
        """Return how much each of `at` counts."""
        worth, scale = [], []
        for run in self.runs:
            rows = self.rows(run)
            length = (run.time[rows[-1, -1]] - run.time[rows[0, 0]]) / len(rows)
            measured = run.compared(self.joints)[rows].mean(axis=1)  # shares of each mean
            worth.append((np.minimum(length / noise.independent, 1.0) * measured).ravel())
            scale.append(np.tile(noise.scale, len(rows)))
        return Objective(worth=np.concatenate(worth), scale=np.concatenate(scale))

    def noise(self, errors: Array) -> Noise:
        """Return the noise of such errors as `at` returns."""
        counts = [len(self.rows(run)) for run in self.runs]
        parts = np.split(errors.reshape(-1, len(self.joints)), np.cumsum(counts)[:-1])
        spacing = [self.rows(run).shape[1] * float(np.median(np.diff(run.time))) for run in self.runs]
        return measured_noise(parts, spacing)

    def begin(self) -> Array:
        """Return the errors of all runs where the unknowns begin, rad; raises BamError."""
        try:
            return self._result(self._submit(np.zeros(len(self.unknowns.names))))
        except DivergedError:
            raise DivergedError(
                "simulation", "diverges with the servos given", advice="check servos and gains"
            ) from None

    def at(self, points: Sequence[Array]) -> list[Array | None]:
        """Return the errors of all runs at points, one after the other, rad; None where they cannot be had.

        A simulation may diverge there, or the engine refuse a servo that is too quick for its steps.
        """
        result: list[Array | None] = []
        for job in [self._submit(point) for point in points]:
            try:
                result.append(self._result(job))
            except BamError:
                result.append(None)
        return result

    def about(self, point: Array, errors: Array) -> Callable[[Sequence[Array]], list[Array | None]]:
        """Return what does as `at` near a point, by quick simulations if there are such.

        How errors change is taken from those, and errors at the point itself are right.

        Args:
            point: (unknowns,) coordinates.
            errors: there, rad.
        """
        if self.quick is None:
            return self.at
        quick = self.quick
        (there,) = quick.at([point])
        if there is None:
            return self.at
        right = errors - there
        return lambda points: [None if off is None else off + right for off in quick.at(points)]

    def _submit(self, point: Array) -> list[Future[Array]]:
        return [self.pool.submit(self._of_run, run, point) for run in self.runs]

    def _result(self, job: Sequence[Future[Array]]) -> Array:
        return np.concatenate([future.result() for future in job])

    def _of_run(self, run: RobotRun, point: Array) -> Array:
        simulated = self.bench.simulate(
            run, self.unknowns.servos_at(point), self.unknowns.deviations_at(point)
        )
        columns = [run.column(joint) for joint in self.joints]
        # Where nothing was measured, nothing is off, and it counts for nothing.
        off = np.where(run.compared(self.joints), (simulated - run.position)[:, columns], 0.0)
        return np.asarray(off[self.rows(run)].mean(axis=1).ravel())
