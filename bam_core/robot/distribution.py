# SPDX-License-Identifier: Apache-2.0
"""The normal distribution of a robot's unknowns, given its runs: posterior linearisation.

Friction makes simulations rough: positions jump by tenths of a milliradian where an unknown changes by next
to nothing, and differences of one unknown at a time drown in that. So each round draws pairs of points on
both sides of the middle from the present distribution, by orthogonal combinations of all its axes; each
derivative is then a mean over all pairs, and over the distribution (García-Fernández, Svensson, Morelande and
Särkkä, IEEE Trans. Signal Process. 63, 2015). Pairs close to the middle show the roughness, whose square
would look like information.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.descent import Place
from bam_core.robot.objective import Objective
from bam_core.robot.run_errors import RunErrors

ROUNDS = 9
"""Of posterior linearisation."""
_QUICK = 4  # first rounds, in which the spread is of the last one alone and may grow much
_AVERAGED = 4  # rounds after those, at most, whose information is averaged
BEGIN = 0.3
"""Of the standard deviations that a descent gives, with which rounds begin: nearby, errors bend less."""
_GROWTH_QUICK, _GROWTH = 3.0, 1.5  # of a standard deviation in one round
_LEAST = 1e-2  # likewise
_CLOSE, _CLOSE_PAIRS = 0.2, 10  # standard deviations: in so small steps errors do not bend, and are rough
_LONGEST = 2.0  # variances of an axis; where its information is not known, a step would lead far
_SHARES = (2.0, 1.0, 0.5, 0.25)  # of a step, that are tried


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution:
    """What is known of the unknowns.

    Attributes:
        point: (unknowns,) coordinates of the middle.
        errors: there, rad.
        covariance: (unknowns, unknowns) of the coordinates.
    """

    point: Array
    errors: Array
    covariance: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Pairs:
    """Simulations on both sides of a middle.

    Attributes:
        steps: (pairs, unknowns) coordinates, from one side to the other.
        odd: (pairs, errors) rad, how errors differ between the sides.
        even: (pairs, errors) rad, their mean.
    """

    steps: Array
    odd: Array
    even: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class _Round:
    """Estimates of one round.

    Attributes:
        information: (unknowns, unknowns) of the runs about the coordinates.
        roughness: (unknowns, unknowns) spurious information from roughness; subtracted from `information`.
        step: (unknowns,) to the lowest cost.
    """

    information: Array
    roughness: Array
    step: Array


def find_distribution(
    run_errors: RunErrors,
    place: Place,
    covariance: Array,
    progress: Callable[[str], None],
    *,
    skipped: int = 0,
    reached: Callable[[Array], None] = lambda point: None,
) -> Distribution:
    """Go on from where a descent ended.

    Args:
        run_errors: of the runs that are followed.
        place: where the descent ended.
        covariance: (unknowns, unknowns) from which the first points are drawn.
        progress: called with a line of text every round.
        skipped: first rounds that are left out, where the covariance is as good as after them.
        reached: called with the (unknowns,) coordinates of the middle after every round.
    """
    random = np.random.default_rng(0)
    spread = np.asarray(np.linalg.cholesky(covariance))
    rounds: list[_Round] = []
    for number in range(skipped, ROUNDS):
        objective = run_errors.objective(run_errors.noise(place.errors))
        one = _round(run_errors, objective, place, spread, random)
        place = _moved(run_errors, objective, place, one.step)
        reached(place.point)
        progress(f"round {number + 1} of {ROUNDS}: {1e3 * np.abs(place.errors).mean():.2f} mrad")
        is_quick = number < _QUICK
        rounds = [one] if is_quick else [*rounds, one][-min(number - _QUICK + 1, _AVERAGED) :]
        information = np.mean([estimate.information for estimate in rounds], axis=0)
        left = _variance(spread, spread.T @ information @ spread)  # of the axes of the present spread
        roughness = spread.T @ np.mean([estimate.roughness for estimate in rounds], axis=0) @ spread
        total = spread @ (left + left @ (roughness / len(rounds)) @ left) @ spread.T
        values, axes = np.linalg.eigh(left)
        largest = _GROWTH_QUICK if is_quick else _GROWTH
        spread = np.asarray(spread @ (axes * np.clip(np.sqrt(values), _LEAST, largest)))
    return Distribution(point=place.point, errors=place.errors, covariance=0.5 * (total + total.T))


def _round(
    run_errors: RunErrors, objective: Objective, place: Place, spread: Array, random: np.random.Generator
) -> _Round:
    """Return estimates from pairs at the present spread."""
    size = len(place.point)
    weights = objective.weights(place.errors)
    close = _pairs(run_errors, place, _CLOSE * spread, min(_CLOSE_PAIRS, size), random)
    rough = float(np.var(close.even, axis=0, ddof=1) @ weights) / size if len(close.even) > 1 else 0.0
    pairs = _pairs(run_errors, place, spread, size, random)
    slopes = (np.linalg.pinv(np.linalg.solve(spread, pairs.steps.T).T) @ pairs.odd).T  # rad per axis
    information = (slopes.T * weights) @ slopes - rough * np.eye(size)
    if 2 * len(pairs.odd) < size:  # others diverged: the next ones are to be nearer
        information = np.eye(size) / BEGIN**2
    values, axes = np.linalg.eigh(_variance(spread, information))
    slope = slopes.T @ (weights * place.errors) + spread.T @ place.point
    back = np.linalg.inv(spread)
    return _Round(
        information=back.T @ information @ back,
        roughness=rough * back.T @ back,
        step=-spread @ ((axes * np.minimum(values, _LONGEST)) @ (axes.T @ slope)),
    )


def _pairs(
    run_errors: RunErrors, place: Place, spread: Array, count: int, random: np.random.Generator
) -> _Pairs:
    """Simulate pairs that have, if there is one for each unknown, the covariance `spread spread^T`."""
    size = len(place.point)
    combinations, _ = np.linalg.qr(random.standard_normal((size, size)))
    reach = np.sqrt(size) * (spread @ combinations[:, :count]).T
    least = run_errors.unknowns.least
    ends, others = np.maximum(place.point + reach, least), np.maximum(place.point - reach, least)
    errors = run_errors.about(place.point, place.errors)([*ends, *others])
    both = [
        (behind_step - before_step, here - there, 0.5 * (here + there))
        for behind_step, before_step, here, there in zip(
            ends, others, errors[:count], errors[count:], strict=True
        )
        if here is not None and there is not None
    ]
    none = np.zeros((0, size)), np.zeros((0, len(place.errors))), np.zeros((0, len(place.errors)))
    steps, odd, even = map(np.stack, zip(*both, strict=True)) if both else none
    return _Pairs(steps=steps, odd=odd, even=even)


def _moved(run_errors: RunErrors, objective: Objective, place: Place, step: Array) -> Place:
    """Return where the best of several shares of a step leads, or the place itself."""
    ends = [np.maximum(place.point + share * step, run_errors.unknowns.least) for share in _SHARES]
    if run_errors.quick is not None:  # the share that it finds best decides
        near = run_errors.about(place.point, place.errors)(ends)
        costs = [
            np.inf if errors is None else objective.cost(errors, end)
            for end, errors in zip(ends, near, strict=True)
        ]
        ends = [ends[int(np.argmin(costs))]]
    best, least = place, objective.cost(place.errors, place.point)
    for end, errors in zip(ends, run_errors.at(ends), strict=True):
        if errors is not None and (cost := objective.cost(errors, end)) < least:
            best, least = replace(place, point=end, errors=errors), cost
    return best


def _variance(spread: Array, information: Array) -> Array:
    """Return the variance along the axes of a spread, by the priors and the information of runs, if any."""
    values, axes = np.linalg.eigh(0.5 * (information + information.T))
    variance = np.linalg.inv(spread.T @ spread + (axes * np.maximum(values, 0.0)) @ axes.T)
    return np.asarray(0.5 * (variance + variance.T))
