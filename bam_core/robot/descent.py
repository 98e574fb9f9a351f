# SPDX-License-Identifier: Apache-2.0
"""Levenberg-Marquardt steps to the most probable unknowns of a robot.

The Jacobian of one step serves the next, corrected by what the step between showed. A derivative is the
difference of two simulations, a fifth of a standard deviation apart: contacts and friction make
positions rough at less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import lsq_linear

from bam_core.arrays import Array
from bam_core.robot.noise import Noise
from bam_core.robot.objective import Objective
from bam_core.robot.run_errors import RunErrors

_STEP = 0.2  # standard deviations
_STEPS = 30  # in one descent
_LEAST_GAIN = 1.0
"""A step that lowers the cost by less ends a descent: one standard deviation of one unknown."""
_WELL = 0.3  # of the cost; after a step that gains less, derivatives are found anew

_DAMPINGS = (0.0, 0.003, 0.03, 0.3, 3.0, 30.0, 300.0)
_CHORDS = 3
"""Steps that are tried with each damping, one after the other from the same derivatives: a single one leaves
a curved valley, the next one leads back into it, further along. They cost few simulations beside derivatives.
"""
_VERIFIED = 2  # of the steps that quick simulations find best


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """How far to descend, and by which derivatives.

    Attributes:
        name: in words of progress.
        directions: (directions, unknowns) steps of the differences that derivatives are found by. What none
            of them changes stays as it is.
        noise: of errors, given those that are left.
        share: of the cost; a step that gains less ends it.
        is_two_sided: whether differences are to both sides.
    """

    name: str
    directions: Array
    noise: Callable[[Array], Noise]
    share: float = 0.0
    is_two_sided: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Place:
    """Where a descent is.

    Attributes:
        point: (unknowns,) coordinates.
        errors: there, rad.
        jacobian: (errors, unknowns), rad per coordinate: of there, or carried there by `_carried`.
    """

    point: Array
    errors: Array
    jacobian: Array


def descend(
    run_errors: RunErrors,
    descent: Descent,
    place: Place,
    progress: Callable[[str], None],
    *,
    reached: Callable[[Array], None] = lambda point: None,
) -> Place:
    """Return where no step is worthwhile, with its derivatives.

    Args:
        run_errors: whose cost falls.
        descent: how.
        place: where it begins.
        progress: called with a line of text every step.
        reached: called with the (unknowns,) coordinates of every step that lowers the cost.
    """
    place = _renewed(run_errors, descent, place)
    objective, is_new = run_errors.objective(descent.noise(place.errors)), True
    for number in range(_STEPS):
        gain, end, there = _step(run_errors, objective, place)
        progress(f"{descent.name} descent, step {number + 1}: {1e3 * np.abs(there).mean():.2f} mrad")
        share = gain / objective.cost(place.errors, place.point)
        worthwhile = gain >= _LEAST_GAIN and share >= descent.share
        if is_new and not worthwhile:
            break
        if gain > 0.0:
            jacobian = _carried(place.jacobian, end - place.point, there - place.errors)
            place, is_new = Place(point=end, errors=there, jacobian=jacobian), False
            reached(end)
        if not worthwhile or share < _WELL:
            place = _renewed(run_errors, descent, place)
            objective, is_new = run_errors.objective(descent.noise(place.errors)), True
    return place if is_new else _renewed(run_errors, descent, place)


def seen_by(run_errors: RunErrors, place: Place, begin: Place) -> Place:
    """Return a place with the errors that a bench has there; where it has none, where all began."""
    (errors,) = run_errors.at([place.point])
    return begin if errors is None else replace(place, errors=errors)


def _renewed(run_errors: RunErrors, descent: Descent, place: Place) -> Place:
    """Return a place with the derivatives that are found there."""
    return replace(place, jacobian=derivatives(run_errors, descent, place))


def derivatives(run_errors: RunErrors, descent: Descent, place: Place) -> Array:
    """Return (errors, unknowns), rad per coordinate."""
    ends, near = place.point + descent.directions, run_errors.about(place.point, place.errors)
    if not descent.is_two_sided:
        begins = [place.errors] * len(ends)
        return _jacobian(near(list(ends)), begins, descent.directions, len(place.errors))
    least = run_errors.unknowns.least
    ends, others = np.maximum(ends, least), np.maximum(place.point - descent.directions, least)
    moved = near([*ends, *others])
    return _jacobian(moved[: len(ends)], moved[len(ends) :], ends - others, len(place.errors))


def one_sided(free: NDArray[np.bool_]) -> Array:
    """Return directions along coordinates, those (unknowns,) that are free."""
    return np.asarray(_STEP * np.eye(len(free))[free])


def _jacobian(ends: Sequence[Array | None], begins: Sequence[Array | None], steps: Array, size: int) -> Array:
    """Return the least Jacobian that has these differences.

    One for which a simulation diverged has no information: it is zero.
    """
    differences = [
        None if end is None or begin is None else end - begin for end, begin in zip(ends, begins, strict=True)
    ]
    changes = np.stack([np.zeros(size) if difference is None else difference for difference in differences])
    return np.asarray((np.linalg.pinv(steps) @ changes).T)


def _carried(jacobian: Array, moved: Array, changed: Array) -> Array:
    """Return the Jacobian after a step, corrected by what the step showed: Broyden's update."""
    return np.asarray(jacobian + np.outer(changed - jacobian @ moved, moved) / (moved @ moved))


def _step(run_errors: RunErrors, objective: Objective, place: Place) -> tuple[float, Array, Array]:
    """Return the gain of the best of several steps, where it leads, and the errors there."""
    near = run_errors.about(place.point, place.errors)
    normal = objective.normal(place.jacobian, place.errors)
    tried = [(damping, place.point, place.errors) for damping in _DAMPINGS]
    ends: list[tuple[Array, Array]] = []
    for _ in range(_CHORDS):
        points = [
            _end(run_errors, normal, objective.slope(place.jacobian, p, e), p, damping)
            for damping, p, e in tried
        ]
        tried = [
            (damping, end, errors)
            for (damping, _, _), end, errors in zip(tried, points, near(points), strict=True)
            if errors is not None
        ]
        ends += [(end, errors) for _, end, errors in tried]
    if run_errors.quick is not None:
        ends = _verified(run_errors, objective, ends)
    cost = objective.cost(place.errors, place.point)
    best = (0.0, place.point, place.errors)
    for end, errors in ends:
        if (gain := cost - objective.cost(errors, end)) > best[0]:
            best = (gain, end, errors)
    return best


def _verified(
    run_errors: RunErrors, objective: Objective, ends: list[tuple[Array, Array]]
) -> list[tuple[Array, Array]]:
    """Return the lowest of the ends that quick simulations lead to, with their true errors."""
    lowest = sorted(ends, key=lambda end: objective.cost(end[1], end[0]))[:_VERIFIED]
    points = [end for end, _ in lowest]
    return [
        (end, errors) for end, errors in zip(points, run_errors.at(points), strict=True) if errors is not None
    ]


def _end(run_errors: RunErrors, normal: Array, slope: Array, point: Array, damping: float) -> Array:
    """Return where a step leads."""
    damped = normal + damping * np.diag(np.diag(normal))
    return point + _lowest_point(damped, slope, run_errors.unknowns.least - point)


def _lowest_point(normal: Array, slope: Array, least: Array) -> Array:
    """Return the step d of at least `least` with the lowest 1/2 d^T normal d + slope^T d."""
    root = cholesky(normal)  # normal = root^T root: a problem of least squares
    target = solve_triangular(root, -slope, trans="T")
    return np.asarray(lsq_linear(root, target, bounds=(least, np.inf), method="bvls").x)
