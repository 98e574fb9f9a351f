# SPDX-License-Identifier: Apache-2.0
"""How simulated positions answer to parameters: the linear model on which uncertainties rest.

Stiction makes positions rough in the parameters: where the arm almost stops, a small difference decides
whether it sticks. Short differences see that roughness, long ones the curvature. What an estimate's
uncertainty needs is
the slope over the distance by which the estimate may be off, so differences are as long as that: first every
parameter alone, with a step that moves the arm about as much as the noise does, then along the directions in
which these responses add up or cancel. Only the latter show a valley, along which parameters trade with each
other, from one that is closed by the roughness of the former; and there, a response counts as far as it is
the same on either half of the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.search.space import Axis, SearchSpace
from bam_core.simulation.rollout import WORST_ERROR, Rollout
from bam_core.simulation.samples import Samples, strides

_SMALLEST_STEP = 1e-6  # share of the search range; between rounding and curvature
_FIRST_STEP = 1e-3  # share of the search range
_SHORTEST, _LONGEST = 1e-7, 0.2  # steps, in shares of the search range
_TRIES = 3  # at a step that moves the arm as much as wanted
_NEAR_ENOUGH = 3.0  # response over wanted response, either way
_ROOM = 0.25  # share of a step along a direction that bounds must leave
_ROUNDS = 2  # along valleys: the second knows better where they run
_RCOND = 1e-3  # relative strength of directions that may make up for others
_LEAST_RESPONSE, _MOST_RESPONSE = 1e-4, 2e-3  # rad; finer than any encoder, and where stiction's kinks drown


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """A linear model of the positions of recordings around one parameter vector.

    Parameters are counted in shares of their search range: of the logarithm for those on a logarithmic scale,
    of the value itself for all others, also those that may be zero, on which positions depend linearly.

    Attributes:
        space: the free parameters.
        vector: (PARAMETERS,) where it holds.
        jacobian: (samples, dimension) rad per whole search range; every log's samples in a row.
        residuals: (samples,) simulated minus measured position, rad.
        counts: (logs,) samples per log.
    """

    space: SearchSpace
    vector: Array
    jacobian: Array
    residuals: Array
    counts: NDArray[np.intp]

    @property
    def starts(self) -> NDArray[np.intp]:
        """(logs,) first sample of every log."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    @property
    def normalised(self) -> Array:
        """(dimension,) the parameters as shares of their search range."""
        return normalised(self.space, self.vector)


def normalised(space: SearchSpace, vector: Array) -> Array:
    """Return the free parameters of a vector as shares (dimension,) of their search range, 0..1."""
    point = space.point(vector)
    return np.where(_on_square(space), point**2, point)


def vector_at(space: SearchSpace, share: Array) -> Array:
    """Return the parameter vector (PARAMETERS,) at shares (dimension,) of the search range."""
    return vectors_at(space, share[None])[0]


def vectors_at(space: SearchSpace, many: Array) -> Array:
    """Return the parameter vectors (n, PARAMETERS) at shares (n, dimension) of the search range."""
    inside = np.clip(many, 0.0, 1.0)
    return space.vectors(np.where(_on_square(space), np.sqrt(inside), inside))


def value_at(axis: Axis, share: float) -> float:
    """Return the value, SI, of a parameter at a share of its search range, 0..1."""
    if axis.low > axis.origin:
        low, high = axis.low - axis.origin, axis.high - axis.origin
        return float(low * (high / low) ** share + axis.origin)
    return float(axis.low + (axis.high - axis.low) * share)


def slope_at(axis: Axis, share: float) -> float:
    """Return by how much, SI, a parameter changes per share of its search range."""
    if axis.low > axis.origin:
        low, high = axis.low - axis.origin, axis.high - axis.origin
        return (value_at(axis, share) - axis.origin) * math.log(high / low)
    return axis.high - axis.low


def cost_of_quick_sensitivity(dimension: int) -> int:
    """Return how many simulations of all recordings a quick `sensitivity` with a guess takes at most."""
    return 1 + 2 * dimension


def sensitivity(
    rollout: Rollout,
    space: SearchSpace,
    vector: Array,
    *,
    noise: float | None = None,
    guess: Array | None = None,
    thorough: bool = True,
    spend: Callable[[int], None] | None = None,
) -> Sensitivity:
    """Differentiate the simulated positions of recordings.

    Args:
        rollout: simulates them.
        space: free parameters.
        vector: (PARAMETERS,) where; folded into the space.
        noise: how far steps shall move the arm, root mean square in rad; default the residual at
            `vector`.
        guess: Jacobian (samples, dimension) of a point nearby, which spares the first round.
        thorough: separate slopes from jumps, which takes three to four times as long; steps of a descent do
            without.
        spend: called with the simulations that follow; may raise to end it.
    """
    here = normalised(space, vector)
    samples = rollout.samples(strides(rollout.recordings))

    def residuals(at: Array) -> Array:
        if spend is not None:
            spend(len(at))
        return _off(samples, vectors_at(space, at))

    base = residuals(here[None])[0]
    left_over = float(np.sqrt(np.mean(base**2)))
    wanted = min(max(left_over, _LEAST_RESPONSE), _MOST_RESPONSE) if noise is None else noise
    differences = _Differences(residuals, here, base)
    jacobian = differences.along_axes(wanted) if guess is None else guess
    for _ in range(_ROUNDS if thorough else 1):
        jacobian = differences.along_valleys(jacobian, wanted, jumps=not thorough)
    return Sensitivity(
        space=space,
        vector=vector_at(space, here),
        jacobian=jacobian,
        residuals=base,
        counts=samples.counts,
    )


def slopes(
    rollout: Rollout,
    space: SearchSpace,
    vector: Array,
    *,
    residuals: Array | None = None,
    spend: Callable[[int], None] | None = None,
) -> Sensitivity:
    """Differentiate the simulated positions of recordings at one point itself, in ``dimension`` simulations.

    Between the places where an arm begins or ceases to stick, positions are smooth, and these derivatives are
    exact to six digits. They know nothing of what lies beyond such a place, as `sensitivity` does.

    Args:
        rollout: simulates them.
        space: free parameters.
        vector: (PARAMETERS,) where; folded into the space.
        residuals: (samples,) there, where they are known; they cost one more simulation.
        spend: called with the simulations that follow; may raise to end it.
    """
    here = normalised(space, vector)
    steps = np.where(here < 0.5, _SMALLEST_STEP, -_SMALLEST_STEP)
    at = here + np.diag(steps)
    if residuals is None:
        at = np.concatenate([at, here[None]])
    if spend is not None:
        spend(len(at))
    ends = residuals_at(rollout, vectors_at(space, at))
    base = ends[-1] if residuals is None else residuals
    return Sensitivity(
        space=space,
        vector=vector_at(space, here),
        jacobian=np.asarray(((ends[: len(here)] - base) / steps[:, None]).T),
        residuals=base,
        counts=rollout.samples(strides(rollout.recordings)).counts,
    )


def weaker(slope: Sensitivity, longer: Sensitivity) -> Sensitivity:
    """Return the linear model in which a direction is as well known as in both of two models.

    In a bent valley, differences over a long straight way see its walls, and slopes at a point see what is
    rough; either alone would take for known what is not. Of the principal directions of the slopes, each gets
    the smaller of the two responses.

    Args:
        slope: by `slopes`.
        longer: by `sensitivity`, at the same point.
    """
    directions = np.linalg.svd(triangle(slope.jacobian))[2].T
    ways = slope.jacobian @ directions, longer.jacobian @ directions
    is_less = np.linalg.norm(ways[0], axis=0) < np.linalg.norm(ways[1], axis=0)
    return replace(longer, jacobian=np.ascontiguousarray(np.where(is_less, *ways) @ directions.T))


def residuals_at(rollout: Rollout, vectors: Array) -> Array:
    """Return simulated minus measured positions in rad, every log's samples in a row.

    Args:
        rollout: simulates the recordings.
        vectors: (PARAMETERS,), or many of them, (n, PARAMETERS).

    Returns:
        (samples,), or (n, samples).
    """
    residuals = _off(rollout.samples(strides(rollout.recordings)), np.atleast_2d(vectors))
    return residuals if vectors.ndim > 1 else residuals[0]


def _off(samples: Samples, vectors: Array) -> Array:
    # A diverged simulation is far off, not without a value, nor so far that squares overflow.
    off = samples.positions(vectors) - samples.measured
    return np.nan_to_num(off, nan=WORST_ERROR).clip(-WORST_ERROR, WORST_ERROR)


class _Differences:
    """Differences of a function of shares around one point, inside 0..1."""

    def __init__(self, residuals: Callable[[Array], Array], here: Array, base: Array) -> None:
        self._residuals = residuals
        self._here = here
        self._base = base

    def along_axes(self, wanted: float) -> Array:
        """Return the Jacobian from one difference per parameter, each of about the wanted response."""
        steps = np.where(self._here < 0.5, _FIRST_STEP, -_FIRST_STEP)
        for tries in range(_TRIES + 1):
            moved = self._residuals(self._here + np.diag(steps)) - self._base
            off = wanted / np.maximum(np.sqrt(np.mean(moved**2, axis=1)), 1e-9 * wanted)
            if tries == _TRIES or np.all((off < _NEAR_ENOUGH) & (off > 1.0 / _NEAR_ENOUGH)):
                break
            room = np.where(steps > 0.0, 1.0 - self._here, self._here)
            longest = np.minimum(_LONGEST, room)
            length = np.clip(np.abs(steps) * np.clip(off, 1e-2, 1e2), _SHORTEST, longest)
            steps = np.copysign(length, steps)
        return np.asarray((moved / steps[:, None]).T)

    def along_valleys(self, jacobian: Array, wanted: float, *, jumps: bool) -> Array:
        """Return the Jacobian from differences along the principal directions of another one.

        They are as long as it takes for the wanted response. Where bounds leave
        no room for one to either side, the parameter in the way is taken out of them. It goes inwards alone,
        accompanied by the step of the others that compensates for it best. With `jumps`, these count as
        slopes.
        """
        stopped: list[int] = []
        factor = triangle(jacobian) / math.sqrt(len(jacobian))
        while True:
            free = [i for i in range(jacobian.shape[1]) if i not in stopped]
            steps = np.zeros((len(free), jacobian.shape[1]))
            steps[:, free] = _principal(factor[:, free], wanted)
            forth, _ = self._room(steps)
            back, _ = self._room(-steps)
            narrow = int(np.argmin(np.maximum(forth, back)))
            if max(forth[narrow], back[narrow]) >= _ROOM or len(free) == 1:
                break
            stopped.append(self._room(steps[narrow : narrow + 1])[1][0])
        inwards = np.array([self._inwards(i, free, factor, wanted) for i in stopped]).reshape(
            -1, len(steps.T)
        )
        ahead = np.concatenate([steps * forth[:, None], inwards])
        behind = np.concatenate([-steps * back[:, None], np.zeros_like(inwards)])
        lengths = np.linalg.norm(ahead - behind, axis=1, keepdims=True)
        slopes = (
            self._moved(ahead, behind) / lengths if jumps else 2.0 * self._agreed(ahead, behind) / lengths
        )
        return np.asarray(np.linalg.solve((ahead - behind) / lengths, slopes).T)

    def _moved(self, ahead: Array, behind: Array) -> Array:
        """Return by how much (directions, samples) positions move on the way."""
        ends = self._residuals(np.clip(self._here + np.concatenate([ahead, behind]), 0.0, 1.0))
        return np.asarray(ends[: len(ahead)] - ends[len(ahead) :])

    def _agreed(self, ahead: Array, behind: Array) -> Array:
        """Return by how much (directions, samples) positions move on either half of a way, where both agree.

        Where an arm sticks on one half and not on the other, the smaller of both answers is taken, and none
        where they contradict each other: a jump is no slope.
        """
        middle = 0.5 * (ahead + behind)
        differing = np.linalg.norm(middle, axis=1) > 0.0
        ends = np.concatenate([ahead, behind, middle[differing]])
        moved = self._residuals(np.clip(self._here + ends, 0.0, 1.0))
        forth, back, known = np.split(moved, [len(ahead), 2 * len(ahead)])
        centre = np.tile(self._base, (len(ahead), 1))
        centre[differing] = known
        first, second = centre - back, forth - centre
        smaller = np.where(np.abs(first) < np.abs(second), first, second)
        return np.asarray(np.where(first * second > 0.0, smaller, 0.0))

    def _inwards(self, index: int, free: list[int], factor: Array, wanted: float) -> Array:
        """Return a step of one parameter away from its bound, with the compensating step of the free ones.

        The norm of `factor` times a step is its response, rad root mean square.
        """
        step = np.zeros(factor.shape[1])
        step[index] = 1.0 if self._here[index] < 0.5 else -1.0
        step[free] = -np.linalg.lstsq(factor[:, free], factor[:, index] * step[index], rcond=_RCOND)[0]
        response = float(np.linalg.norm(factor @ step))
        longest = _LONGEST / float(np.max(np.abs(step)))
        step *= min(wanted / max(response, 1e-12), longest)
        room, _ = self._room(step[None])
        if room[0] < _ROOM:  # no company then
            step[free] = 0.0
            response = float(np.linalg.norm(factor[:, index]))
            step[index] = np.copysign(min(wanted / max(response, 1e-12), _LONGEST), step[index])
            room, _ = self._room(step[None])
        return np.asarray(step * room[0])

    def _room(self, steps: Array) -> tuple[Array, NDArray[np.intp]]:
        """Return which share of each step (n, dimension) the bounds leave, 0..1, and which parameter's."""
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(steps > 0.0, 1.0 - self._here, self._here) / np.abs(steps)
        room = np.where(steps == 0.0, np.inf, room)
        return np.minimum(room.min(axis=1), 1.0), np.argmin(room, axis=1)


def triangle(jacobian: Array) -> Array:
    """Return the (n, n) matrix whose products with any step are as long as those of a Jacobian (samples, n).

    A few thousand samples make every further decomposition slow; this one is quick.
    """
    return np.asarray(np.linalg.qr(jacobian, mode="r"))


def _principal(factor: Array, wanted: float) -> Array:
    """Return principal directions (n, n), each as long as makes the wanted response; see `_inwards`."""
    _, response, directions = np.linalg.svd(factor, full_matrices=False)
    lengths = np.clip(wanted / np.maximum(response, 1e-12), _SHORTEST, _LONGEST)
    return np.asarray(directions * lengths[:, None])


def _on_square(space: SearchSpace) -> NDArray[np.bool_]:
    return np.array([axis.low == 0.0 for axis in space.axes])
