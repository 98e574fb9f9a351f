# SPDX-License-Identifier: Apache-2.0
"""Residual accelerations of a fitted model in short windows that start from measured states.

Over a whole run one early stick or slip dominates the error, and missing physics acts through controller,
friction and gravity. So simulations restart from measured states every 0.1 s. Of measured minus simulated
position only the curvature counts, not the straight line that an error of the initial state causes: it is the
missing torque divided by the inertia. Responses to parameters and to torques of other physics are computed
with the same contrasts, so that a linear regression separates them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.misfit.motion import CREEP, EVERY, Motion
from bam_core.identification.search.sensitivity import vectors_at
from bam_core.identification.search.space import SearchSpace
from bam_core.recordings.recording import Recording
from bam_core.servo.firmware import PositionFirmware
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rows import MEASURED

_ORDERS = 3  # of polynomials beyond a straight line: higher ones show noise in a tenth of a second

SHORTEST = 0.1
"""Shortest window, s: in shorter ones encoder counts dominate; longer ones lose resolution in time."""

_SAMPLES = 16  # per window at least: the curvature's noise falls with the square of the length
_STEP = 0.01  # of the search range: of finite differences, long against the roughness by stiction
_ALIKE = 0.3  # of a window, by which both may differ in how long they move
_REST = 1e-4  # rad/s; slower, a simulated arm sticks


def window_length(recordings: Sequence[Recording], firmware: PositionFirmware) -> float:
    """Return how long windows are for recordings of a servo, s: half of one is whole steps of a motion."""
    length = max(SHORTEST, _SAMPLES * float(np.median([recording.dt for recording in recordings])))
    step = 2 * EVERY * firmware.period
    return math.ceil(length / step - 1e-6) * step


def contrasts(points: int, dt: float) -> Array:
    """Return weights (points, _ORDERS) that extract the curvature of positions and ignore a straight line.

    Column 0 gives the second derivative; columns 1 and 2 are orthogonal polynomials of order 3 and 4,
    scaled to the same noise.

    Args:
        points: of a window.
        dt: of the grid, s.
    """
    at = np.arange(points) * dt
    polynomials, _ = np.linalg.qr((2.0 * at[:, None] / at[-1] - 1.0) ** np.arange(2 + _ORDERS))
    bending = polynomials[:, 2:]
    return np.asarray(bending / (bending[:, 0] @ (0.5 * at**2)))


def noise_gain(points: int, dt: float, period: float) -> Array:
    """Return the variance (_ORDERS,) of contrasts, (rad/s²)² per rad² of independent noise of the samples.

    Positions between samples are interpolated: each sample reaches to its neighbours.

    Args:
        points: of a window.
        dt: of the grid, s.
        period: of the samples, s.
    """
    per_sample = max(period / dt, 1.0)
    reach = math.ceil(per_sample) - 1
    hat = 1.0 - np.abs(np.arange(-reach, reach + 1)) / per_sample
    spread = [np.convolve(weights, hat) for weights in contrasts(points, dt).T]
    return np.array([weights @ weights for weights in spread]) / per_sample


@dataclass(frozen=True, kw_only=True)
class WindowData:
    """Accelerations of a model in all windows: for each window a row per contrast, see `contrasts`.

    Attributes:
        residual: (rows,) measured minus simulated acceleration, rad/s².
        sensitivity: (rows, dimension) of simulated accelerations, rad/s² per search range.
        log: (rows,) index of the recording.
        place: (rows,) which window of the recording, from its start.
        agrees: (rows,) simulated and measured arm move for about as long.
        free: one array (windows of the log, steps of motions) per recording: 1 where a torque moves the arm,
            0 where it sticks.
    """

    residual: Array
    sensitivity: Array
    log: NDArray[np.intp]
    place: NDArray[np.intp]
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
        self._weights = contrasts(self.steps, rollout.dt)
        self._logs = {int(lane): index for index, lane in enumerate(rollout.packed.lanes)}
        self._first = self.steps // 2  # where a rollout starts anew for the first time
        self._counts = [
            max(len(rollout.packed.grid(i)) - self._first, 0) // self.steps
            for i in range(rollout.packed.count)
        ]

    @property
    def bends(self) -> NDArray[np.bool_]:
        """(rows,) whether a row is the second derivative."""
        return np.tile(np.arange(_ORDERS) == 0, sum(self._counts))

    @property
    def log(self) -> NDArray[np.intp]:
        """(rows,) index of the recording."""
        return np.repeat(np.arange(len(self._counts)), _ORDERS * np.array(self._counts))

    @property
    def place(self) -> NDArray[np.intp]:
        """(rows,) index of the window within the recording."""
        return np.concatenate([np.repeat(np.arange(count), _ORDERS) for count in self._counts])

    def cut(self, values: Array, index: int, every: int = 1) -> Array:
        """Return values (steps, ...) of a recording, each `every` steps, as (windows, steps, ...)."""
        count, steps, first = self._counts[index], self.steps // every, self._first // every
        return values[first : first + count * steps].reshape(count, steps, *values.shape[1:])

    def cut_motion(self, values: Array, index: int) -> Array:
        """Return values (steps, ...) of a motion as (windows, steps, ...)."""
        return self.cut(values, index, EVERY)

    def see(self, space: SearchSpace, here: Array, moved: Sequence[Motion]) -> WindowData:
        """Simulate at a point, and beside it along every parameter.

        Args:
            space: free parameters.
            here: (dimension,) in shares of their search range.
            moved: what the arm did in every recording.
        """
        ahead = np.clip(here + _STEP * np.eye(space.dimension), 0.0, 1.0)
        behind = np.clip(here - _STEP * np.eye(space.dimension), 0.0, 1.0)
        shares = np.concatenate([here[None], ahead, behind])
        edges = _ORDERS * np.concatenate([[0], np.cumsum(self._counts)])
        seen = np.zeros((len(shares), edges[-1]))
        free: list[Array] = [np.empty(0)] * len(self._counts)
        agrees = np.zeros(edges[-1], dtype=np.bool_)

        def read(row: int, lane: int, trace: Array) -> None:
            index = self._logs[lane]
            position = self.cut(np.ascontiguousarray(trace[0]), index)
            seen[row, edges[index] : edges[index + 1]] = (position @ self._weights).ravel()
            if row == 0:
                slides = np.abs(self.cut(np.ascontiguousarray(trace[1]), index)[:, ::EVERY]) > _REST
                creeps = np.abs(self.cut_motion(moved[index].velocity, index)) > CREEP
                free[index] = (slides | creeps).astype(np.float64)
                difference = slides.mean(axis=1) - creeps.mean(axis=1)
                agrees[edges[index] : edges[index + 1]] = np.repeat(np.abs(difference) < _ALIKE, _ORDERS)

        self.rollout.traced(vectors_at(space, shares), read)
        measured = np.concatenate(
            [
                (self.cut(self.rollout.packed.signals[:, MEASURED, lane], index) @ self._weights).ravel()
                for index, lane in enumerate(self.rollout.packed.lanes)
            ]
        )
        lengths = np.diagonal(ahead - behind)
        difference = seen[1 : 1 + space.dimension] - seen[1 + space.dimension :]
        return WindowData(
            residual=measured - seen[0],
            sensitivity=(difference / lengths[:, None]).T,
            log=self.log,
            place=self.place,
            agrees=agrees,
            free=tuple(free),
        )

    def responses(self, torques: Array, index: int, motion: Motion, free: Array) -> Array:
        """Return the window accelerations (rows, torques), rad/s², caused by torques.

        Controller, back-EMF and gravity react within a window; where the arm sticks, nothing moves.

        Args:
            torques: (steps, torques) N·m along the motion.
            index: of the recording.
            motion: in it.
            free: (windows, steps) as of `WindowData`.
        """
        force = self.cut_motion(torques, index) / motion.inertia
        rates = self.cut_motion(motion.damping, index) / motion.inertia
        pulls = self.cut_motion(motion.stiffness, index) / motion.inertia
        dt = motion.dt
        position = np.zeros((len(force), torques.shape[1]))
        velocity = np.zeros_like(position)
        path = np.empty((force.shape[1], *position.shape))
        for k in range(force.shape[1]):
            path[k] = position
            gained = force[:, k] - rates[:, k, None] * velocity - pulls[:, k, None] * position
            velocity = (velocity + dt * gained) * free[:, k, None]
            position = position + dt * velocity
        accelerations = np.tensordot(contrasts(len(path), dt).T, path, axes=1)
        return np.asarray(accelerations.transpose(1, 0, 2).reshape(_ORDERS * len(force), torques.shape[1]))
