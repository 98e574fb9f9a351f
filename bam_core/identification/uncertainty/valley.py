# SPDX-License-Identifier: Apache-2.0
"""Intervals from the profile likelihood: limits of each parameter, with all others fitted again.

The method is that of Venzon and Moolgavkar (1988). A straight interval ends where the linear model at the
optimum predicts a certain rise of the cost. Here one parameter moves away from the optimum. Gauss-Newton
steps fit the others again, with a new Jacobian at each point. The walk ends where the simulated cost has
risen nearly as much. Low costs often lie along a bent valley, which a walk follows and a straight interval
leaves.

The rise belongs to the covariance of the estimates. So it depends on how much logs differ, and not on the
number of samples.
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

# Lengths of steps are relative to the half width of the straight interval.
_FIRST_STEP = 0.9  # longest first step: one step is enough in a straight valley
_STEP_FRACTIONS = (1.0, 0.5, 0.25, 0.0)  # tried lengths, times the longest; 0 only fits the other parameters
_STEP_GROWTH = 1.5  # longest next step, times the last one
_MIN_STEP = 0.05  # shorter steps gain too little for their time
_MAX_STEPS = 6  # of a walk
_END_OF_WALK = 0.7  # share of the allowed rise of the cost at which a walk ends
_CURVATURE_CORRECTIONS = 1  # repetitions of each step, corrected for the bend that the last one measured
_BOTTOM_STEPS = 3  # Gauss-Newton steps to the optimum before walks begin
_DAMPINGS = (0.0, 1e-6, 1e-3)  # tried for each of these, as shares of the information

MOST_LOGS = 48
"""Largest number of logs that walks simulate; more do not improve the intervals."""


@dataclass(frozen=True, kw_only=True)
class Valley:
    """The cost around an optimum, and the limits of the parameters there.

    "Corrected" means: without the discretisation error of the simulation.

    Attributes:
        rollout: simulates the logs with the step of a search.
        start: the linear model at the optimum; its residuals are corrected.
        offset: (samples,) corrected minus simulated positions, rad.
        weights: of the samples.
        prior: information about each parameter from the bounds of the search.
    """

    rollout: Rollout
    start: Sensitivity
    offset: Array
    weights: SampleWeights
    prior: float

    def ends(self, half_widths: Array) -> tuple[Array, Array]:
        """Return the lower and the upper limit of each parameter.

        Args:
            half_widths: (dimension,) of the straight intervals, in shares of the search range.

        Returns:
            Two arrays (dimension,), 0..1 of each search range. Where no step was possible, both are the
            optimum of these simulations.
        """
        rise = 0.5 * half_widths**2 / np.diag(np.linalg.inv(self.information(self.start)))
        bottom = self._bottom()
        highest_cost = self.weights.cost(bottom.residuals) + rise
        walks = [
            _Walk(self, bottom, i, sign * float(half_widths[i]), float(rise[i]))
            for i in range(len(half_widths))
            for sign in (-1.0, 1.0)
        ]
        walked = side_by_side([walk.visited for walk in walks])
        visited = [point_and_cost for _, walk in walked for point_and_cost in walk]
        points = np.array([bottom.normalised, *(point for point, _ in visited)])
        costs = np.array([self.weights.cost(bottom.residuals), *(cost for _, cost in visited)])
        # A walk for one parameter may move another one farther than that one's own walks do.
        allowed = costs[:, None] <= highest_cost
        return np.where(allowed, points, 1.0).min(axis=0), np.where(allowed, points, 0.0).max(axis=0)

    def _bottom(self) -> Sensitivity:
        """Return the linear model at the optimum of these simulations, which is close to the start."""
        here = self.at(self.start.normalised, self.start.residuals)
        for _ in range(_BOTTOM_STEPS):
            information, gradient = self.information(here, cautious=True), self.gradient(here)
            scale = np.diag(np.diag(information))
            points = here.normalised + np.array(
                [
                    _fixed_step(information + d * scale, gradient, here.normalised, None, 0.0)
                    for d in _DAMPINGS
                ]
            )
            ends = self.residuals(points)
            costs = [self.weights.cost(end) for end in ends]
            best = int(np.argmin(costs))
            if costs[best] >= self.weights.cost(here.residuals):
                break
            here = self.at(points[best], ends[best])
        return here

    def at(self, point: Array, residuals: Array) -> Sensitivity:
        """Return the linear model at a point (dimension,) with known corrected residuals (samples,), rad."""
        space = self.start.space
        here = slopes(self.rollout, space, vector_at(space, point), residuals=residuals - self.offset)
        return replace(here, residuals=residuals)

    def residuals(self, points: Array) -> Array:
        """Return the corrected residuals (n, samples), rad, at points (n, dimension)."""
        return residuals_at(self.rollout, vectors_at(self.start.space, points)) + self.offset

    def gradient(self, here: Sensitivity) -> Array:
        """Return the gradient (dimension,) of the cost, with the part of the bounds."""
        first, _ = self.weights.pull(here.residuals)
        of_bounds = self.prior * (here.normalised - self.start.normalised)
        return np.asarray(here.jacobian.T @ (first * self.weights.per_sample) + of_bounds)

    def information(self, here: Sensitivity, *, cautious: bool = False) -> Array:
        """Return the information (dimension, dimension) of logs and bounds.

        Args:
            here: the linear model at a point.
            cautious: see `SampleWeights.curvature`.
        """
        second = self.weights.curvature(here.residuals, cautious=cautious)
        weighted = here.jacobian * (np.sqrt(second) * self.weights.per_sample)[:, None]
        return np.asarray(weighted.T @ weighted + self.prior * np.eye(weighted.shape[1]))


class _Walk:
    """Points along the valley while one parameter moves away from the optimum, up or down.

    Args:
        valley: the cost around the optimum.
        bottom: the linear model at the optimum of the simulations.
        index: of the parameter.
        half_width: of the straight interval, in shares of the search range; negative: down.
        rise: allowed rise of the cost.
    """

    def __init__(
        self, valley: Valley, bottom: Sensitivity, index: int, half_width: float, rise: float
    ) -> None:
        self._valley = valley
        self._bottom = bottom
        self._index = index
        self._half_width = half_width
        self._rise = rise

    def visited(self) -> list[tuple[Array, float]]:
        """Walk; return all simulated points (dimension,), each with its cost."""
        here, longest = self._bottom, _FIRST_STEP
        bottom = cost = self._valley.weights.cost(here.residuals)
        visited: list[tuple[Array, float]] = []
        for _ in range(_MAX_STEPS):
            points, ends = self._step_candidates(here, longest * np.array(_STEP_FRACTIONS))
            costs = np.array([self._valley.weights.cost(end) for end in ends])
            visited += list(zip(points, costs.tolist(), strict=True))
            lengths = (points - here.normalised)[:, self._index] / self._half_width
            # Take the longest step with an allowed cost. If there is none, fit only the other parameters.
            good = (costs <= bottom + self._rise) & (lengths >= _MIN_STEP)
            if good.any():
                is_longest = good & (lengths > lengths[good].max() - 1e-9)
                best = int(np.argmin(np.where(is_longest, costs, np.inf)))
                longest = _STEP_GROWTH * float(lengths[best])
            else:
                best = int(np.argmin(np.where(lengths < _MIN_STEP, costs, np.inf)))
                longest *= _STEP_FRACTIONS[-2]
                if longest < _MIN_STEP or costs[best] >= cost:
                    break
            cost = float(costs[best])
            if cost - bottom > _END_OF_WALK * self._rise and good.any():
                break
            here = self._valley.at(points[best], ends[best])
            if not 0.0 < here.normalised[self._index] < 1.0:
                break
        return visited

    def _step_candidates(self, here: Sensitivity, lengths: Array) -> tuple[Array, Array]:
        """Simulate steps from here; every length gives one without and one with correction for bends.

        Args:
            here: the linear model at the start of the step.
            lengths: (n,) along the parameter, relative to the half width.

        Returns:
            Points (candidates, dimension) and their corrected residuals (candidates, samples), rad.
        """
        valley = self._valley
        information = valley.information(here, cautious=True)
        gradient = valley.gradient(here)
        leans = np.zeros((len(lengths), len(gradient)))
        points, ends = [], []
        for _ in range(1 + _CURVATURE_CORRECTIONS):
            steps = np.array(
                [
                    _fixed_step(
                        information, gradient + lean, here.normalised, self._index, length * self._half_width
                    )
                    for length, lean in zip(lengths, leans, strict=True)
                ]
            )
            points.append(here.normalised + steps)
            ends.append(valley.residuals(points[-1]))
            bends = ends[-1] - here.residuals - steps @ here.jacobian.T
            leans = np.array([valley.weights.lean(here, bend, cautious=True) for bend in bends])
        return np.concatenate(points), np.concatenate(ends)


def _fixed_step(information: Array, gradient: Array, start: Array, index: int | None, length: float) -> Array:
    """Return the Gauss-Newton step (dimension,) whose component along one parameter is given.

    Parameters that would leave 0..1 are clipped, and the others are solved for again.

    Args:
        information: (dimension, dimension).
        gradient: (dimension,) of the cost.
        start: (dimension,) 0..1 of each search range.
        index: of the given parameter; None: all are free.
        length: of the step along it, in shares of its search range.
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
    servo: ServoModel,
    recordings: Sequence[Recording],
    optimum: Sensitivity,
    information: Evidence,
    *,
    most_logs: int = MOST_LOGS,
) -> Valley:
    """Return the cost around an optimum; of more than `most_logs` logs, only representative ones count.

    The optimum of these logs alone is elsewhere. So their residuals at the optimum of all logs are set to
    zero.

    Args:
        servo: gives firmware, integrator and friction laws.
        recordings: that it was fitted to.
        optimum: the linear model there, with corrected residuals (see `Valley`).
        information: of the logs there.
        most_logs: number of logs that count.
    """
    weights = SampleWeights(optimum)
    start = optimum
    if len(recordings) > most_logs:
        chosen = {id(log) for log in representative(recordings, most_logs)}
        kept = np.array([id(log) in chosen for log in recordings])
        start = part(optimum, kept)
        weights = SampleWeights(start)
        start = replace(start, residuals=np.zeros_like(start.residuals))
        recordings = [log for log in recordings if id(log) in chosen]
    rollout = simulation(servo, recordings, optimum.space)
    return Valley(
        rollout=rollout,
        start=start,
        offset=start.residuals - residuals_at(rollout, start.vector),
        weights=weights,
        prior=float(information.bounds[0, 0]) * len(start.counts) / len(optimum.counts),
    )
