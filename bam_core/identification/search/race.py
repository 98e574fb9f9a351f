# SPDX-License-Identifier: Apache-2.0
"""Races between CMA-ES descents, and the polish of a winner.

Errors of a pendulum with stiction have many local minima, so a single descent often ends in a poor one. A
race starts a few descents from points far apart and halves their number time and again; whole generations of
all of them are evaluated in one call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.descent import PROGRESS, Descent
from bam_core.identification.search.meter import Meter, Objective
from bam_core.identification.search.space import SearchSpace

_SCATTER = 0.15  # share of a race spent on the points that its descents start from
_RUNNERS = 4  # descents in a race
_APART = 0.3  # least distance between their starts, per root of the dimension
_GENERATIONS = 40  # what a runner should have at least; fewer runners where the budget is small
_RACE_STEP = 0.2  # initial standard deviation of a race, in coordinates of the space,
_POLISH_STEP = 0.04  # and of a polish, which halves it when it makes no progress,
_FINEST_STEP = 0.002  # down to here


def population_of(space: SearchSpace) -> int:
    """Points per generation of a polish; a race takes twice as many."""
    return 4 + int(3 * math.log(space.dimension))


def race(
    objective: Objective, space: SearchSpace, meter: Meter, random: np.random.Generator
) -> tuple[Array, float]:
    """Race descents from points drawn all over the space.

    Args:
        objective: what they descend.
        space: where.
        meter: what they may spend; all of it, unless they stall.
        random: draws the points and the seeds of the descents.

    Returns:
        The best point found, (PARAMETERS,) SI, and its error.
    """
    allowance = meter.left
    points = random.random((max(int(_SCATTER * allowance), 1), space.dimension))
    errors = meter.evaluate(objective, space.vectors(points))
    population = 2 * population_of(space)
    runners = min(max(allowance // (_GENERATIONS * population), 1), _RUNNERS)
    starts = _far_apart(points[np.argsort(errors, kind="stable")], runners)
    descents = [_descent(start, _RACE_STEP, population, random) for start in starts]
    share = meter.left // (1 + int(math.log2(len(descents))))
    while True:
        last = len(descents) == 1
        _advance(objective, space, descents, meter, 0 if last else max(meter.left - share, 0))
        descents.sort(key=lambda descent: descent.error)
        if last:
            break
        descents = descents[: len(descents) // 2]
    best, error = starts[0], float(np.min(errors))
    if descents[0].error < error:
        best, error = descents[0].point, descents[0].error
    return space.vectors(best[None])[0], error


def polish(
    objective: Objective,
    space: SearchSpace,
    vector: Array,
    error: float,
    meter: Meter,
    random: np.random.Generator,
) -> tuple[Array, float, bool]:
    """Descend from a good point with ever smaller steps, until the allowance is spent.

    Returns:
        Vector, its error, and whether it came to rest before the allowance was spent. Never worse than what
        it was given.
    """
    step = _POLISH_STEP
    population = population_of(space)
    while meter.left >= population and step > _FINEST_STEP:
        descent = _descent(space.point(vector), step, population, random)
        _advance(objective, space, [descent], meter, 0)
        if descent.error > (1.0 - PROGRESS) * error:
            step /= 2.0
        if descent.error < error:
            vector, error = space.vectors(descent.point[None])[0], descent.error
    return vector, error, step <= _FINEST_STEP and meter.left >= population


def _descent(mean: Array, step: float, population: int, random: np.random.Generator) -> Descent:
    return Descent(mean, step=step, population=population, seed=int(random.integers(2**31)))


def _advance(
    objective: Objective, space: SearchSpace, descents: Sequence[Descent], meter: Meter, until: int
) -> None:
    """Advance descents generation by generation until they stall or `until` evaluations are left."""
    while running := [descent for descent in descents if not descent.finished]:
        if meter.left - sum(descent.population for descent in running) < until:
            return
        generations = [descent.ask() for descent in running]
        errors = meter.evaluate(objective, space.vectors(np.concatenate(generations)))
        edges = np.cumsum([descent.population for descent in running])[:-1]
        for descent, part in zip(running, np.split(errors, edges), strict=True):
            descent.tell(part)


def _far_apart(points: Array, count: int) -> Array:
    """Take up to `count` points, in order, each at some distance from those already taken."""
    distance = _APART * math.sqrt(points.shape[1])
    taken = [points[0]]
    for point in points[1:]:
        if len(taken) == count:
            break
        if min(np.linalg.norm(point - other) for other in taken) >= distance:
            taken.append(point)
    return np.array(taken)
