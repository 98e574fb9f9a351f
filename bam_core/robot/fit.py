# SPDX-License-Identifier: Apache-2.0
"""The most probable unknowns of a robot, given its runs and what was known beforehand.

Simulated positions are nearly linear in the unknowns, so a few Levenberg-Marquardt steps suffice, and the
Jacobian of one serves the next, corrected by what the step between showed. A derivative is the difference of
two simulations, a fifth of a standard deviation apart: contacts and friction make positions rough at less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import DivergedError, RobotBench
from bam_core.robot.unknowns import Unknowns
from bam_core.simulation.rollout import available_processors

ERROR_SCALE = 3e-3
"""rad; errors beyond it count by their size, not by their square: what no model has must not decide."""

INDEPENDENT = 0.2
"""s; samples closer than that tell the same: how long a joint takes to forget an error."""

_STEP = 0.2  # standard deviations
_STEPS = 30
_WORTHWHILE = 5e-3  # relative gain of a step
_TRIED = ((0.0, 1.0), (0.0, 0.5), (1.0, 1.0), (10.0, 1.0))  # damping, share of the step
_SPACING = 0.02  # s between the samples that are compared


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotFit:
    """What was found.

    Attributes:
        unknowns: what the point means.
        point: (unknowns,) coordinates.
        covariance: (unknowns, unknowns) of them, after the fit.
    """

    unknowns: Unknowns
    point: Array
    covariance: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Problem:
    bench: RobotBench
    runs: Sequence[RobotRun]
    joints: Sequence[str]
    unknowns: Unknowns
    pool: ThreadPoolExecutor

    def rows(self, run: RobotRun) -> NDArray[np.intp]:
        """Return which samples of a run are compared."""
        every = max(round(_SPACING / float(np.median(np.diff(run.time)))), 1)
        return np.flatnonzero(run.counts)[::every]

    def worth(self) -> Array:
        """Return of how many independent errors each of `errors` stands for."""
        parts = []
        for run in self.runs:
            rows = self.rows(run)
            span = run.time[rows[-1]] - run.time[rows[0]]
            parts.append(np.full(len(rows) * len(self.joints), max(span / INDEPENDENT, 1.0) / len(rows)))
        return np.concatenate(parts)

    def errors(self, points: Sequence[Array]) -> list[Array | None]:
        """Return the errors of all runs at points, one after the other, rad; None where one diverged."""
        jobs = [[self.pool.submit(self._of_run, run, point) for run in self.runs] for point in points]
        found: list[Array | None] = []
        for job in jobs:
            try:
                found.append(np.concatenate([each.result() for each in job]))
            except DivergedError:
                found.append(None)
        return found

    def _of_run(self, run: RobotRun, point: Array) -> Array:
        simulated = self.bench.simulate(
            run, self.unknowns.servos_at(point), self.unknowns.deviations_at(point)
        )
        columns = [run.column(joint) for joint in self.joints]
        return np.asarray((simulated - run.position)[self.rows(run)][:, columns].ravel())


def fit_robot(
    bench: RobotBench,
    runs: Sequence[RobotRun],
    joints: Sequence[str],
    unknowns: Unknowns,
    *,
    progress: Callable[[str], None] = lambda words: None,
) -> RobotFit:
    """Descend from where the unknowns begin.

    Args:
        bench: the robot, with the steps of the search.
        runs: to follow.
        joints: that count.
        unknowns: what may change.
        progress: told each step, in words.

    Raises:
        BamError: the simulation diverges where it begins.
    """
    point = np.zeros(len(unknowns.names))
    with ThreadPoolExecutor(available_processors(), thread_name_prefix="robot") as pool:
        problem = _Problem(bench=bench, runs=runs, joints=joints, unknowns=unknowns, pool=pool)
        here = problem.errors([point])[0]
        if here is None:
            raise DivergedError(
                "simulation", "diverges with the servos given", advice="check servos and gains"
            )
        worth = problem.worth()
        progress(f"begins with {1e3 * np.abs(here).mean():.2f} mrad")
        jacobian, is_new = _jacobian(problem, point, here), True
        for number in range(_STEPS):
            gain, end, there = _step(problem, worth, jacobian, point, here)
            progress(f"step {number + 1}: {1e3 * np.abs(there).mean():.2f} mrad")
            if gain >= _WORTHWHILE:
                jacobian, is_new = _carried(jacobian, end - point, there - here), False
                point, here = end, there
            elif is_new:
                break
            else:
                jacobian, is_new = _jacobian(problem, point, here), True
        if not is_new:
            jacobian = _jacobian(problem, point, here)
    normal, _ = _normal(jacobian, worth, point, here)
    return RobotFit(
        unknowns=unknowns,
        point=point,
        covariance=np.asarray(np.linalg.inv(normal)),
    )


def information(
    bench: RobotBench, run: RobotRun, joints: Sequence[str], unknowns: Unknowns, pool: ThreadPoolExecutor
) -> Array:
    """Return (unknowns, unknowns) what a run would tell a fit, where the unknowns begin and errors are small.

    Args:
        bench: the robot.
        run: whose goals count.
        joints: that count.
        unknowns: in standard deviations of their priors, which are not part of it.
        pool: does the simulations.

    Raises:
        BamError: the simulation diverges where it begins.
    """
    problem = _Problem(bench=bench, runs=[run], joints=joints, unknowns=unknowns, pool=pool)
    point = np.zeros(len(unknowns.names))
    here = problem.errors([point])[0]
    if here is None:
        raise DivergedError("simulation", "diverges with the servos given", advice="check servos and gains")
    jacobian = _jacobian(problem, point, here)
    return np.asarray((jacobian.T * (problem.worth() / ERROR_SCALE**2)) @ jacobian)


def _jacobian(problem: _Problem, point: Array, here: Array) -> Array:
    """Return (errors, unknowns), rad per coordinate."""
    moved = problem.errors([point + _STEP * direction for direction in np.eye(len(point))])
    return np.stack(
        [np.zeros_like(here) if each is None else (each - here) / _STEP for each in moved], axis=1
    )


def _carried(jacobian: Array, moved: Array, changed: Array) -> Array:
    """Return the Jacobian after a step, corrected by what the step showed: Broyden's update."""
    return np.asarray(jacobian + np.outer(changed - jacobian @ moved, moved) / (moved @ moved))


def _step(
    problem: _Problem, worth: Array, jacobian: Array, point: Array, here: Array
) -> tuple[float, Array, Array]:
    """Return the relative gain of the best of several steps, where it leads, and the errors there."""
    normal, slope = _normal(jacobian, worth, point, here)
    steps = [
        -share * np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slope)
        for damping, share in _TRIED
    ]
    cost = _cost(worth, here, point)
    best = (0.0, point, here)
    ends = [point + each for each in steps]
    for end, errors in zip(ends, problem.errors(ends), strict=True):
        if errors is not None and (gain := 1.0 - _cost(worth, errors, end) / cost) > best[0]:
            best = (gain, end, errors)
    return best


def _normal(jacobian: Array, worth: Array, point: Array, here: Array) -> tuple[Array, Array]:
    """Return half the second and half the first derivative of the cost."""
    weights = worth / ERROR_SCALE**2 / np.sqrt(1.0 + (here / ERROR_SCALE) ** 2)
    weighted = jacobian.T * weights
    return weighted @ jacobian + np.eye(len(point)), weighted @ here + point


def _cost(worth: Array, errors: Array, point: Array) -> float:
    """Return what is minimised: pseudo-Huber errors and the prior, twice the negative logarithm."""
    return float(2.0 * np.sum(worth * (np.sqrt(1.0 + (errors / ERROR_SCALE) ** 2) - 1.0)) + point @ point)
