# SPDX-License-Identifier: Apache-2.0
"""What a fitted model misses within a tenth of a second: residual accelerations from measured states.

Over a whole run, one early stick or slip decides the error; and what physics is missing acts through
controller, friction and gravity before it is seen. So simulations start anew from measured states, again and
again, and of how far off they are, only the curvature counts: what is left when a straight line is taken off,
which an error of the state at the start leaves behind. It is the torque that the model lacks, over the
inertia. Parameters and torques of other physics are seen through the same eyes, so that all of it is linear
regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.misfit.motion import CREEP, Motion
from bam_core.identification.search.sensitivity import vectors_at
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rows import MEASURED

SHORTEST = 0.1
"""s; a window. Shorter ones drown in the encoder's counts, longer ones blur where on the way something was."""

_SAMPLES = 16  # per window at least: the curvature's noise falls with the square of the length
_STEP = 0.01  # of the search range: differences by parameters, where stiction's kinks are few
_EVERY = 2  # steps of the simulation per step of an answer to a torque
_ALIKE = 0.3  # of a window, by which both may differ in how long they move
_REST = 1e-4  # rad/s; slower, a simulated arm sticks


def window_length(periods: Sequence[float]) -> float:
    """Return how long windows are, s, for recordings with these sampling periods, s."""
    return max(SHORTEST, _SAMPLES * float(np.median(list(periods))))


def curvature(points: int, dt: float) -> Array:
    """Return the weights (points,) that tell the second derivative of positions on a grid and no line."""
    at = np.arange(points) * dt
    at = (at - at.mean()) / (0.5 * points * dt)
    weights = at**2 - np.mean(at**2)
    return np.asarray(weights / (weights @ (0.5 * (np.arange(points) * dt) ** 2)))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What windows show of a model.

    Attributes:
        residual: (windows,) measured minus simulated acceleration, rad/s².
        sensitivity: (windows, dimension) of simulated accelerations, rad/s² per search range.
        log: (windows,) index of the recording.
        place: (windows,) which window of the recording, from its start.
        agrees: (windows,) simulated and measured arm move for about as long.
        free: one array (windows of the log, steps) per recording: 1 where the arm is free to answer to a
            torque, 0 where it sticks.
    """

    residual: Array
    sensitivity: Array
    log: Array
    place: Array
    agrees: NDArray[np.bool_]
    free: tuple[Array, ...]


class Windows:
    """Windows of recordings, one after the other.

    Args:
        rollout: that starts anew every `length` s.
        length: s.
    """

    def __init__(self, rollout: Rollout, length: float) -> None:
        self.rollout = rollout
        self.steps = round(length / rollout.dt)
        self._weights = curvature(self.steps, rollout.dt)
        self._logs = {int(lane): index for index, lane in enumerate(rollout.packed.lanes)}
        self._counts = [len(rollout.packed.grid(i)) // self.steps for i in range(rollout.packed.count)]

    @property
    def log(self) -> Array:
        """(windows,) index of the recording."""
        return np.repeat(np.arange(len(self._counts)), self._counts)

    @property
    def place(self) -> Array:
        """(windows,) index within the recording."""
        return np.concatenate([np.arange(count) for count in self._counts])

    def cut(self, values: Array, index: int) -> Array:
        """Return values (steps, ...) of a recording as (windows, steps, ...)."""
        count = self._counts[index]
        return values[: count * self.steps].reshape(count, self.steps, *values.shape[1:])

    def see(self, space: SearchSpace, here: Array, moved: Sequence[Motion]) -> Seen:
        """Simulate at a point, and beside it along every parameter.

        Args:
            space: free parameters.
            here: (dimension,) in shares of their search range.
            moved: what the arm did in every recording.
        """
        ahead = np.clip(here + _STEP * np.eye(space.dimension), 0.0, 1.0)
        behind = np.clip(here - _STEP * np.eye(space.dimension), 0.0, 1.0)
        shares = np.concatenate([here[None], ahead, behind])
        seen = np.zeros((len(shares), sum(self._counts)))
        edges = np.concatenate([[0], np.cumsum(self._counts)])
        free: list[Array] = [np.empty(0)] * len(self._counts)
        agrees = np.zeros(sum(self._counts), dtype=np.bool_)

        def read(row: int, lane: int, trace: Array) -> None:
            index = self._logs[lane]
            position = self.cut(np.ascontiguousarray(trace[0]), index)
            seen[row, edges[index] : edges[index + 1]] = position @ self._weights
            if row == 0:
                slides = np.abs(self.cut(np.ascontiguousarray(trace[1]), index)) > _REST
                creeps = np.abs(self.cut(moved[index].velocity, index)) > CREEP
                free[index] = (slides | creeps).astype(np.float64)
                apart = slides.mean(axis=1) - creeps.mean(axis=1)
                agrees[edges[index] : edges[index + 1]] = np.abs(apart) < _ALIKE

        self.rollout.traced(vectors_at(space, shares), read)
        measured = np.concatenate(
            [
                self.cut(self.rollout.packed.signals[:, MEASURED, lane], index) @ self._weights
                for index, lane in enumerate(self.rollout.packed.lanes)
            ]
        )
        lengths = np.diagonal(ahead - behind)
        apart = seen[1 : 1 + space.dimension] - seen[1 + space.dimension :]
        return Seen(
            residual=measured - seen[0],
            sensitivity=(apart / lengths[:, None]).T,
            log=self.log,
            place=self.place,
            agrees=agrees,
            free=tuple(free),
        )

    def answers(self, torques: Array, index: int, motion: Motion, free: Array) -> Array:
        """Return the accelerations (windows, torques), rad/s², that torques would show as.

        Controller, back-EMF and gravity answer within a window; where the arm sticks, nothing moves.

        Args:
            torques: (steps, torques) N·m along the motion.
            index: of the recording.
            motion: in it.
            free: (windows, steps) as of `Seen`.
        """
        force = self.cut(torques, index)[:, ::_EVERY] / motion.inertia
        rates = self.cut(motion.damping, index)[:, ::_EVERY] / motion.inertia
        pulls = self.cut(motion.stiffness, index)[:, ::_EVERY] / motion.inertia
        loose = free[:, ::_EVERY]
        dt = _EVERY * self.rollout.dt
        weights = curvature(force.shape[1], dt)
        position = np.zeros((len(force), torques.shape[1]))
        velocity = np.zeros_like(position)
        told = np.zeros_like(position)
        for k, weight in enumerate(weights):
            told += weight * position
            gained = force[:, k] - rates[:, k, None] * velocity - pulls[:, k, None] * position
            velocity = (velocity + dt * gained) * loose[:, k, None]
            position = position + dt * velocity
        return told
