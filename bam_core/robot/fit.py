# SPDX-License-Identifier: Apache-2.0
"""The most probable unknowns of a robot, given its runs and what was known beforehand.

Levenberg-Marquardt steps lead there. The Jacobian of one serves the next, corrected by what the step between
showed. A derivative is the difference of two simulations, a fifth of a standard deviation apart: contacts and
friction make positions rough at less.

How much an error counts is not known beforehand. A first descent assumes it, and changes only what is little
known; its simulations start anew from measured states, so that no joint is led astray by where it once stuck.
A second one changes everything, simulates whole runs, and measures noise in the errors that are left with
each new Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.robot.noise import Noise, assumed_noise, measured_noise
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import DivergedError, RobotBench
from bam_core.robot.unknowns import Unknowns
from bam_core.simulation.rollout import allowed_threads

_TAIL = 3.0
"""Standard deviations; errors beyond count by their size, not by their square: what no model has must not
decide."""

_STEP, _OTHER_STEP = 0.2, 0.3  # standard deviations
_STEPS = 30
_LEAST_GAIN = 1.0
"""A step that lowers the cost by less ends a descent: one standard deviation of one unknown."""
_ROUGH = 0.02  # of the cost; a step that gains less ends the first descent
_WELL = 0.3  # of the cost; after a step that gains less, derivatives are found anew

_DAMPINGS = (0.0, 0.003, 0.03, 0.3, 3.0, 30.0, 300.0)
_CHORDS = 3
"""Steps that are tried with each damping, one after the other from the same derivatives: a single one leaves
a curved valley, the next one leads back into it, further along. They cost few simulations beside derivatives.
"""
_HORIZON = 1.0  # s between two measured states in the first descent
_SPACING = 0.02  # s; errors are means over as long: shorter ones are noise of encoder and bus


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotFit:
    """What was found.

    Attributes:
        unknowns: what the point means.
        point: (unknowns,) coordinates.
        covariance: (unknowns, unknowns) of them, after the fit.
        noise: of the errors that are left.
    """

    unknowns: Unknowns
    point: Array
    covariance: Array
    noise: Noise


@dataclass(frozen=True, kw_only=True, eq=False)
class _Problem:
    bench: RobotBench
    runs: Sequence[RobotRun]
    joints: Sequence[str]
    unknowns: Unknowns
    pool: ThreadPoolExecutor

    def rows(self, run: RobotRun) -> NDArray[np.intp]:
        """Return (means, samples) which samples of a run are compared, those of each mean in a row."""
        every = max(round(_SPACING / float(np.median(np.diff(run.time)))), 1)
        counted = np.flatnonzero(run.counts)
        every = min(every, len(counted))
        return counted[: len(counted) // every * every].reshape(-1, every)

    def weighing(self, noise: Noise) -> _Weighing:
        """Return how much each of `errors` counts."""
        worth, scale = [], []
        for run in self.runs:
            rows = self.rows(run)
            length = (run.time[rows[-1, -1]] - run.time[rows[0, 0]]) / len(rows)
            worth.append(np.tile(np.minimum(length / noise.independent, 1.0), len(rows)))
            scale.append(np.tile(noise.scale, len(rows)))
        return _Weighing(worth=np.concatenate(worth), scale=np.concatenate(scale))

    def noise(self, errors: Array) -> Noise:
        """Return the noise of such errors as `errors` returns."""
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

    def errors(self, points: Sequence[Array]) -> list[Array | None]:
        """Return the errors of all runs at points, one after the other, rad; None where they cannot be had.

        A simulation may diverge there, or the engine refuse a servo that is too quick for its steps.
        """
        found: list[Array | None] = []
        for job in [self._submit(point) for point in points]:
            try:
                found.append(self._result(job))
            except BamError:
                found.append(None)
        return found

    def _submit(self, point: Array) -> list[Future[Array]]:
        return [self.pool.submit(self._of_run, run, point) for run in self.runs]

    def _result(self, job: Sequence[Future[Array]]) -> Array:
        return np.concatenate([each.result() for each in job])

    def _of_run(self, run: RobotRun, point: Array) -> Array:
        simulated = self.bench.simulate(
            run, self.unknowns.servos_at(point), self.unknowns.deviations_at(point)
        )
        columns = [run.column(joint) for joint in self.joints]
        off = (simulated - run.position)[:, columns]
        return np.asarray(off[self.rows(run)].mean(axis=1).ravel())


@dataclass(frozen=True, kw_only=True, eq=False)
class _Weighing:
    """How much errors count.

    Attributes:
        worth: of how many independent errors each stands for.
        scale: rad, the standard deviation of each.
    """

    worth: Array
    scale: Array

    def normal(self, jacobian: Array, point: Array, here: Array) -> tuple[Array, Array]:
        """Return half the second and half the first derivative of the cost."""
        weights = self.worth / self.scale**2 / np.sqrt(1.0 + (here / (_TAIL * self.scale)) ** 2)
        weighted = jacobian.T * weights
        return weighted @ jacobian + np.eye(len(point)), weighted @ here + point

    def covariance(self, jacobian: Array, other: Array, here: Array) -> Array:
        """Return the covariance of the unknowns, given two Jacobians of differences over unlike steps.

        Friction makes a simulation rough, so a difference has an error, and the square of this error would
        seem to be information: a thousand samples then tell apart what nothing tells apart, such as a type's
        resistance and the strengths of all of its units. The product of two differences whose errors are
        independent has no such part.
        """
        weights = self.worth / self.scale**2 / np.sqrt(1.0 + (here / (_TAIL * self.scale)) ** 2)
        product = (jacobian.T * weights) @ other
        told, directions = np.linalg.eigh(0.5 * (product + product.T))
        return np.asarray((directions / (1.0 + np.maximum(told, 0.0))) @ directions.T)

    def cost(self, errors: Array, point: Array) -> float:
        """Return what is minimised: pseudo-Huber errors and the prior, twice the negative logarithm."""
        sizes = np.sqrt(1.0 + (errors / (_TAIL * self.scale)) ** 2) - 1.0
        return float(2.0 * _TAIL**2 * np.sum(self.worth * sizes) + point @ point)


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
    with ThreadPoolExecutor(allowed_threads(), thread_name_prefix="robot") as pool:
        problem = _Problem(bench=bench, runs=runs, joints=joints, unknowns=unknowns, pool=pool)
        here = problem.begin()
        progress(f"begins with {1e3 * np.abs(here).mean():.2f} mrad")
        short = replace(problem, bench=bench.restarted(_HORIZON))
        begin = _Place(point=point, errors=here, jacobian=np.zeros((len(here), len(point))))
        assumed = assumed_noise(len(joints))
        everything = np.ones(len(point), dtype=bool)
        first = _Descent(name="first", share=_ROUGH, free=unknowns.is_wide, noise=lambda errors: assumed)
        place = _descend(short, first, _seen_by(short, begin, begin), progress)
        second = _Descent(name="second", share=0.0, free=everything, noise=problem.noise)
        place = _descend(problem, second, _seen_by(problem, place, begin), progress)
        noise = problem.noise(place.errors)
        other = _other_jacobian(problem, place)
    return RobotFit(
        unknowns=unknowns,
        point=place.point,
        covariance=problem.weighing(noise).covariance(place.jacobian, other, place.errors),
        noise=noise,
    )


def information(
    bench: RobotBench, run: RobotRun, joints: Sequence[str], unknowns: Unknowns, pool: ThreadPoolExecutor
) -> Array:
    """Return (unknowns, unknowns) what a run would tell a fit, where the unknowns begin and errors are small.

    Errors count as a fit assumes that they do before it has seen any.

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
    jacobian = _jacobian(problem, point, problem.begin(), np.ones(len(point), dtype=bool))
    weighing = problem.weighing(assumed_noise(len(joints)))
    return np.asarray((jacobian.T * (weighing.worth / weighing.scale**2)) @ jacobian)


@dataclass(frozen=True, kw_only=True)
class _Descent:
    """How far to descend.

    Attributes:
        name: in words of progress.
        share: of the cost; a step that gains less ends it.
        free: (unknowns,) which of them change.
        noise: of errors, given those that are left.
    """

    name: str
    share: float
    free: NDArray[np.bool_]
    noise: Callable[[Array], Noise]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Place:
    """Where a descent is.

    Attributes:
        point: (unknowns,) coordinates.
        errors: there, rad.
        jacobian: (errors, unknowns), rad per coordinate: of there, or carried there by `_carried`.
    """

    point: Array
    errors: Array
    jacobian: Array


def _descend(problem: _Problem, descent: _Descent, place: _Place, progress: Callable[[str], None]) -> _Place:
    """Return where no step is worthwhile, with its derivatives."""
    weighing = problem.weighing(descent.noise(place.errors))
    place, is_new = _with_jacobian(problem, place, descent.free), True
    for number in range(_STEPS):
        gain, end, there = _step(problem, weighing, place)
        progress(f"{descent.name} descent, step {number + 1}: {1e3 * np.abs(there).mean():.2f} mrad")
        share = gain / weighing.cost(place.errors, place.point)
        worthwhile = gain >= _LEAST_GAIN and share >= descent.share
        if is_new and not worthwhile:
            break
        if gain > 0.0:
            jacobian = _carried(place.jacobian, end - place.point, there - place.errors)
            place, is_new = _Place(point=end, errors=there, jacobian=jacobian), False
        if not worthwhile or share < _WELL:
            place, is_new = _with_jacobian(problem, place, descent.free), True
            weighing = problem.weighing(descent.noise(place.errors))
    return place if is_new else _with_jacobian(problem, place, descent.free)


def _seen_by(problem: _Problem, place: _Place, begin: _Place) -> _Place:
    """Return a place with the errors that a problem has there; where it has none, where all began."""
    (errors,) = problem.errors([place.point])
    return begin if errors is None else replace(place, errors=errors)


def _with_jacobian(problem: _Problem, place: _Place, free: NDArray[np.bool_]) -> _Place:
    return replace(place, jacobian=_jacobian(problem, place.point, place.errors, free))


def _jacobian(problem: _Problem, point: Array, here: Array, free: NDArray[np.bool_]) -> Array:
    """Return (errors, unknowns), rad per coordinate, zero for those that are not free.

    From differences to one side: good enough to descend.
    """
    jacobian = np.zeros((len(here), len(point)))
    steps = _STEP * np.eye(len(point))[free]
    moved = problem.errors([point + each for each in steps])
    jacobian[:, free] = _columns([None if each is None else (each - here) / _STEP for each in moved], here)
    return jacobian


def _other_jacobian(problem: _Problem, place: _Place) -> Array:
    """Return the same from differences to both sides, as far as unknowns may go, over other steps."""
    steps = _OTHER_STEP * np.eye(len(place.point))
    ends = place.point + steps
    begins = np.maximum(place.point - steps, problem.unknowns.least)
    moved = problem.errors([*ends, *begins])
    return _columns(
        [
            None if forth is None or back is None else (forth - back) / (end - begin).sum()
            for forth, back, end, begin in zip(
                moved[: len(steps)], moved[len(steps) :], ends, begins, strict=True
            )
        ],
        place.errors,
    )


def _columns(found: Sequence[Array | None], errors: Array) -> Array:
    """Return a Jacobian; an unknown for which the simulation diverged tells nothing."""
    return np.stack([np.zeros_like(errors) if each is None else each for each in found], axis=1)


def _carried(jacobian: Array, moved: Array, changed: Array) -> Array:
    """Return the Jacobian after a step, corrected by what the step showed: Broyden's update."""
    return np.asarray(jacobian + np.outer(changed - jacobian @ moved, moved) / (moved @ moved))


def _step(problem: _Problem, weighing: _Weighing, place: _Place) -> tuple[float, Array, Array]:
    """Return the gain of the best of several steps, where it leads, and the errors there."""
    cost = weighing.cost(place.errors, place.point)
    best = (0.0, place.point, place.errors)
    tried = [(damping, place.point, place.errors) for damping in _DAMPINGS]
    for _ in range(_CHORDS):
        ends = [
            _end(problem, weighing, replace(place, point=p, errors=e), damping) for damping, p, e in tried
        ]
        found = problem.errors(ends)
        tried = [
            (damping, end, errors)
            for (damping, _, _), end, errors in zip(tried, ends, found, strict=True)
            if errors is not None
        ]
        for _, end, errors in tried:
            if (gain := cost - weighing.cost(errors, end)) > best[0]:
                best = (gain, end, errors)
    return best


def _end(problem: _Problem, weighing: _Weighing, place: _Place, damping: float) -> Array:
    """Return where a step leads."""
    normal, slope = weighing.normal(place.jacobian, place.point, place.errors)
    damped = normal + damping * np.diag(np.diag(normal))
    return place.point + _lowest_point(damped, slope, problem.unknowns.least - place.point)


def _lowest_point(normal: Array, slope: Array, least: Array) -> Array:
    """Return the step d of at least `least` with the lowest 1/2 d^T normal d + slope^T d."""
    root = cholesky(normal)  # normal = root^T root: a problem of least squares
    target = solve_triangular(root, -slope, trans="T")
    return np.asarray(lsq_linear(root, target, bounds=(least, np.inf), method="bvls").x)
