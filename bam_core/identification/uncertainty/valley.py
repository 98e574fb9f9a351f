# SPDX-License-Identifier: Apache-2.0
"""Follows the bent valley of the error: how far each parameter can go while all others make up for it.

A profile likelihood (Venzon and Moolgavkar 1988). A straight interval ends where the linear model at one
point expects a certain rise of the error. Here one parameter is moved, and the others are fitted again by
Gauss-Newton steps with slopes at each new place, until the error itself has risen nearly as much. The rise is
the one that belongs to the covariance of the estimates, so it follows from how much logs differ, and not from
a count of samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.search.evidence import Evidence, SampleWeights
from bam_core.identification.search.problem import representative
from bam_core.identification.search.sensitivity import (
    Sensitivity,
    residuals_at,
    slopes,
    vector_at,
    vectors_at,
)
from bam_core.identification.uncertainty.calibration import part, simulation
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.threads import side_by_side

_LENGTHS = (1.0, 0.5, 0.25, 0.0)  # of a step, times the longest that is tried; the last only makes up
_FIRST = 0.9  # of the straight way, where a valley that is straight takes one step to
_NEARLY = 0.7  # of the rise allowed: the way ends there
_LONGER = 1.5  # is tried after a step, times its length
_BENDS = 1  # of each step: where the first leads, the valley bends otherwise
_STEPS = 6  # of a walk at most
_SHORTEST = 0.05  # of the straight way to the end: shorter steps gain nothing worth their time
_SETTLING = 3  # steps to the bottom before walks begin,
_DAMPING = (0.0, 1e-6, 1e-3)  # with these dampings

MOST_LOGS = 48
"""Logs that are simulated on walks; more show the bends of the valley no better."""


@dataclass(frozen=True, kw_only=True)
class Valley:
    """The surroundings of an optimum.

    Attributes:
        rollout: simulates the logs, as fast as a search does.
        start: the linear model at the optimum; its residuals are those of right simulations.
        offset: (samples,) rad, right minus simulated positions.
        weights: of the samples.
        prior: information that the bounds of the search add about every parameter.
    """

    rollout: Rollout
    start: Sensitivity
    offset: Array
    weights: SampleWeights
    prior: float

    def ends(self, reach: Array) -> tuple[Array, Array]:
        """Return how low and how high each parameter can go.

        Args:
            reach: (dimension,) half widths of the straight intervals, in shares of the search range.

        Returns:
            Two arrays (dimension,), shares of the search range; the start itself where no step could go.
        """
        rise = 0.5 * reach**2 / np.diag(np.linalg.inv(self.information(self.start)))
        bottom = self._bottom()
        most = self.weights.cost(bottom.residuals) + rise
        walks = [
            _Walk(self, bottom, i, sign * float(reach[i]), float(rise[i]))
            for i in range(len(reach))
            for sign in (-1.0, 1.0)
        ]
        found = side_by_side([walk.places for walk in walks])
        places = [place for _, some in found for place in some]
        points = np.array([bottom.normalised, *(point for point, _ in places)])
        costs = np.array([self.weights.cost(bottom.residuals), *(cost for _, cost in places)])
        # A place on the way of one parameter may be farther for another than where its own way ends.
        allowed = costs[:, None] <= most
        return np.where(allowed, points, 1.0).min(axis=0), np.where(allowed, points, 0.0).max(axis=0)

    def _bottom(self) -> Sensitivity:
        """Return slopes at the optimum of these simulations, which is next to the start."""
        here = self.at(self.start.normalised, self.start.residuals)
        for _ in range(_SETTLING):
            information, gradient = self.information(here, cautious=True), self.gradient(here)
            scale = np.diag(np.diag(information))
            points = here.normalised + np.array(
                [_fixed_step(information + d * scale, gradient, here.normalised, None, 0.0) for d in _DAMPING]
            )
            ends = self.residuals(points)
            costs = [self.weights.cost(end) for end in ends]
            best = int(np.argmin(costs))
            if costs[best] >= self.weights.cost(here.residuals):
                break
            here = self.at(points[best], ends[best])
        return here

    def at(self, point: Array, residuals: Array) -> Sensitivity:
        """Return slopes at a point (dimension,) whose residuals (samples,) are known."""
        space = self.start.space
        here = slopes(self.rollout, space, vector_at(space, point), residuals=residuals - self.offset)
        return replace(here, residuals=residuals)

    def residuals(self, points: Array) -> Array:
        """Return the residuals (n, samples), rad, at points (n, dimension)."""
        return residuals_at(self.rollout, vectors_at(self.start.space, points)) + self.offset

    def gradient(self, here: Sensitivity) -> Array:
        """Return the gradient (dimension,) of the error, the bounds' part of it included."""
        first, _ = self.weights.pull(here.residuals)
        by_bounds = self.prior * (here.normalised - self.start.normalised)
        return np.asarray(here.jacobian.T @ (first * self.weights.per_sample) + by_bounds)

    def information(self, here: Sensitivity, *, cautious: bool = False) -> Array:
        """Return the information matrix of the logs and the bounds; see `SampleWeights.curvature`."""
        second = self.weights.curvature(here.residuals, cautious=cautious)
        weighted = here.jacobian * (np.sqrt(second) * self.weights.per_sample)[:, None]
        return np.asarray(weighted.T @ weighted + self.prior * np.eye(weighted.shape[1]))


class _Walk:
    """The way along the valley on which one parameter moves to one side.

    `way` is the straight way to the end, in shares of the search range, with its sign.
    """

    def __init__(self, valley: Valley, bottom: Sensitivity, index: int, way: float, rise: float) -> None:
        self._valley = valley
        self._bottom = bottom
        self._index = index
        self._way = way
        self._rise = rise

    def places(self) -> list[tuple[Array, float]]:
        """Return all points (dimension,) that were simulated, and the error at each."""
        here, longest = self._bottom, _FIRST
        bottom = cost = self._valley.weights.cost(here.residuals)
        found: list[tuple[Array, float]] = []
        for _ in range(_STEPS):
            points, ends = self._tries(here, longest * np.array(_LENGTHS))
            costs = np.array([self._valley.weights.cost(end) for end in ends])
            found += list(zip(points, costs.tolist(), strict=True))
            gone = (points - here.normalised)[:, self._index] / self._way
            # The longest step that keeps to the valley, or the one that makes up best for those before.
            good = (costs <= bottom + self._rise) & (gone >= _SHORTEST)
            if good.any():
                as_far = good & (gone > gone[good].max() - 1e-9)
                best = int(np.argmin(np.where(as_far, costs, np.inf)))
                longest = _LONGER * float(gone[best])
            else:
                best = int(np.argmin(np.where(gone < _SHORTEST, costs, np.inf)))
                longest *= _LENGTHS[-2]
                if longest < _SHORTEST or costs[best] >= cost:
                    break
            cost = float(costs[best])
            if cost - bottom > _NEARLY * self._rise and good.any():
                break
            here = self._valley.at(points[best], ends[best])
            if not 0.0 < here.normalised[self._index] < 1.0:
                break
        return found

    def _tries(self, here: Sensitivity, shares: Array) -> tuple[Array, Array]:
        """Return points (tries, dimension) of steps of these shares of the way, and residuals."""
        valley = self._valley
        information = valley.information(here, cautious=True)
        gradient = valley.gradient(here)
        leans = np.zeros((len(shares), len(gradient)))
        points, ends = [], []
        for _ in range(1 + _BENDS):
            steps = np.array(
                [
                    _fixed_step(information, gradient + lean, here.normalised, self._index, share * self._way)
                    for share, lean in zip(shares, leans, strict=True)
                ]
            )
            points.append(here.normalised + steps)
            ends.append(valley.residuals(points[-1]))
            bends = ends[-1] - here.residuals - steps @ here.jacobian.T
            leans = np.array([valley.weights.lean(here, bend, cautious=True) for bend in bends])
        return np.concatenate(points), np.concatenate(ends)


def _fixed_step(information: Array, gradient: Array, start: Array, index: int | None, length: float) -> Array:
    """Return the step (dimension,) of a given length along one parameter that others follow best.

    Those that would leave 0..1 stop there, and the rest is solved again.
    """
    step = np.zeros(len(start))
    free: NDArray[np.bool_] = np.ones(len(start), dtype=bool)
    if index is not None:
        free[index] = False
        step[index] = np.clip(length, -start[index], 1.0 - start[index])
    while free.any():
        held = information[np.ix_(free, ~free)] @ step[~free]
        step[free] = -np.linalg.solve(information[np.ix_(free, free)], gradient[free] + held)
        inside = np.clip(step, -start, 1.0 - start)
        out = free & (inside != step)
        step = inside
        if not out.any():
            break
        free &= ~out
    return step


def valley_around(
    servo: ServoModel, recordings: Sequence[Recording], right: Sensitivity, found: Evidence
) -> Valley:
    """Return the surroundings of an optimum; where there are many logs, as some of them see it.

    What some logs see has its own optimum elsewhere, so there errors at the optimum of all count as zero.

    Args:
        servo: its firmware, integrator and laws count.
        recordings: that it was fitted to.
        right: the linear model at the optimum, with residuals of right simulations.
        found: what the logs say there.
    """
    weights = SampleWeights(right)
    start = right
    if len(recordings) > MOST_LOGS:
        some = {id(log) for log in representative(recordings, MOST_LOGS)}
        kept = np.array([id(log) in some for log in recordings])
        start = part(right, kept)
        weights = SampleWeights(start)
        start = replace(start, residuals=np.zeros_like(start.residuals))
        recordings = [log for log in recordings if id(log) in some]
    rollout = simulation(servo, recordings, right.space)
    return Valley(
        rollout=rollout,
        start=start,
        offset=start.residuals - residuals_at(rollout, start.vector),
        weights=weights,
        prior=float(found.bounds[0, 0]) * len(start.counts) / len(right.counts),
    )
