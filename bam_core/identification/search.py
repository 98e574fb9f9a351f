# SPDX-License-Identifier: Apache-2.0
"""The search for the best parameters: races between CMA-ES descents, then hops around the winner.

Errors of a pendulum with stiction have many local minima, so a single descent often ends in a poor one. A
race starts a few descents from points far apart and halves their number time and again; whole generations of
all of them are evaluated in one call. The winner lies somewhere in a long valley with small pits: hops along
the valley, each followed by a refinement (see `refine`), leave them behind.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BamError
from bam_core.identification.descent import PROGRESS, Descent
from bam_core.identification.refine import Refined
from bam_core.identification.space import SearchSpace

Array = NDArray[np.float64]
Objective = Callable[[Array], Array]
"""(n, PARAMETERS) vectors to (n,) finite errors."""
Report = Callable[[int, float], None]
"""Evaluations spent, best error so far."""

_POLISH = 0.65  # share of the budget kept for refinements, hops and the polish,
_POLISH_ALONE = 0.3  # and for the polish where nothing refines
_WARM = 0.15  # share for descents from given starts
_RACES = 2  # races that the rest pays for
_SCATTER = 0.1  # share of a race spent on the points that its descents start from
_RUNNERS = 4  # descents in a race
_APART = 0.3  # least distance between their starts, per root of the dimension
_GENERATIONS = 40  # what a runner should have at least; fewer runners where the budget is small
_COLD_STEP = 0.2  # initial standard deviations, in coordinates of the space: of a race,
_WARM_STEP = 0.07  # of a descent from a given start,
_POLISH_STEP = 0.04  # and of the polish, which halves it when it makes no progress,
_FINEST_STEP = 0.002  # down to here
_AT_ONCE = 256  # evaluations between two looks at whether it was cancelled
_REFINED = 3  # best points that are refined before the hops
_REFINEMENT = 40  # rounds that a refinement may take, each an evaluation per dimension and one more
_HOP_REFINEMENT = 15  # the same after a hop
_HOPS = (0.05, 0.15, 0.4)  # standard deviations of hops where the valley is longest, in turn
_HOPS_IN_VAIN = 12  # after which there are no more


MIN_EVALUATIONS = 50
"""The smallest budget: a generation or two, enough to see that everything works."""


class Refine(Protocol):
    """From a vector to a likely better one nearby; see `refine.Refiner.refine`."""

    def __call__(
        self, vector: Array, evaluations: int, spend: Callable[[int], None], *, robust: bool = False
    ) -> Refined:
        """Descend from `vector` within `evaluations`, each told to `spend` before it is made."""
        ...


class IdentificationCancelled(BamError):  # noqa: N818 - not an error but what the caller asked for
    """The caller withdrew the identification; nothing was written."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The best point found.

    Attributes:
        vector: (PARAMETERS,) SI.
        error: its objective.
        evaluations: spent, at most the budget.
        converged: the search ended because nothing led further down, not because the budget was spent.
    """

    vector: Array
    error: float
    evaluations: int
    converged: bool


def minimise(
    objective: Objective,
    space: SearchSpace,
    *,
    evaluations: int,
    seed: int,
    draft: Objective | None = None,
    starts: Sequence[Array] = (),
    refine: Refine | None = None,
    report: Report | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult:
    """Search the space for the smallest objective.

    The same arguments give the same result, bit by bit, as long as the objectives do.

    Args:
        objective: what counts.
        space: where to search.
        evaluations: budget, drafts included; at least MIN_EVALUATIONS.
        seed: of every random number drawn.
        draft: a cheaper objective with nearly the same minima, for everything but the polish.
        starts: parameter vectors known to be good, such as optima of nested models. The result is never worse
            than any of them.
        refine: a descent of another kind, from the best points and along their valley.
        report: called after every generation.
        cancelled: asked before every generation.

    Raises:
        IdentificationCancelled: `cancelled` said so.
    """
    search = _Search(space, evaluations, seed, report, cancelled)
    return search.run(objective, draft or objective, refine, [np.asarray(start) for start in starts])


class _Search:
    """One run of `minimise`: the budget, and the points worth a polish."""

    def __init__(
        self,
        space: SearchSpace,
        evaluations: int,
        seed: int,
        report: Report | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._space = space
        self._left = self._budget = evaluations
        self._random = np.random.default_rng(seed)
        self._report = report
        self._cancelled = cancelled
        self._lowest = math.inf
        self._finalists: list[Array] = []
        self._converged = False
        self._population = 4 + int(3 * math.log(space.dimension))
        self._round = space.dimension + 1  # evaluations that a round of a refinement takes

    def run(
        self, objective: Objective, draft: Objective, refine: Refine | None, starts: list[Array]
    ) -> SearchResult:
        if starts:
            self._warm_up(draft, starts, int(_WARM * self._budget))
        reserve = int((_POLISH_ALONE if refine is None else _POLISH) * self._budget)
        share = (self._left - reserve) // _RACES
        while (room := self._left - reserve) >= max(share // 2, 1):
            self._race(draft, min(share, room))
        self._lowest = math.inf  # drafts are not comparable with what counts
        return self._polish(objective, refine, starts)

    def _warm_up(self, draft: Objective, starts: list[Array], allowance: int) -> None:
        """Descend from the best of the given starts."""
        errors = self._evaluate(draft, np.array(starts))
        descent = self._descent(self._space.point(starts[int(np.argmin(errors))]), _WARM_STEP)
        self._advance(draft, [descent], self._left - allowance)
        self._finalists.append(self._space.vectors(descent.point[None])[0])

    def _race(self, draft: Objective, allowance: int) -> None:
        """Start descents far apart and keep the better half, again and again."""
        finish = self._left - allowance
        dimension = self._space.dimension
        points = self._random.random((max(int(_SCATTER * allowance), 1), dimension))
        errors = self._evaluate(draft, self._space.vectors(points))
        population = 2 * self._population
        runners = min(max(allowance // (_GENERATIONS * population), 1), _RUNNERS)
        starts = _far_apart(points[np.argsort(errors, kind="stable")], runners)
        descents = [self._descent(start, _COLD_STEP, population) for start in starts]
        self._finalists.append(self._space.vectors(starts[:1])[0])
        rounds = 1 + int(math.log2(len(descents)))
        share = (self._left - finish) // rounds
        while True:
            last = len(descents) == 1
            self._advance(draft, descents, finish if last else max(self._left - share, finish))
            descents.sort(key=lambda descent: descent.error)
            if last:
                break
            descents = descents[: len(descents) // 2]
        if math.isfinite(descents[0].error):
            self._finalists.append(self._space.vectors(descents[0].point[None])[0])

    def _polish(self, objective: Objective, refine: Refine | None, starts: list[Array]) -> SearchResult:
        """Judge finalists and starts by the real objective, and improve on the best of them."""
        vectors = np.array([*starts, *reversed(self._finalists)])
        errors = self._evaluate(objective, vectors)
        order = np.argsort(errors, kind="stable")
        incumbent = (vectors[order[0]], float(errors[order[0]]))
        last = 0
        if refine is not None:
            last = min(_REFINEMENT * self._round, self._left // 5)
            # The valley of the third may go down deepest.
            bottom = self._descend(refine, vectors[order[:_REFINED]], last)
            incumbent = self._better(objective, self._hop(refine, bottom, 3 * last), incumbent)
        incumbent, settled = self._settle(objective, incumbent, last)
        if refine is None:
            self._converged = settled
        elif self._left > self._round + 1:
            end = refine(incumbent[0], self._left - 1, self._spend, robust=True)
            incumbent = self._better(objective, end, incumbent)
        return SearchResult(
            vector=incumbent[0],
            error=incumbent[1],
            evaluations=self._budget - self._left,
            converged=self._converged,
        )

    def _descend(self, refine: Refine, vectors: Array, allowance: int) -> Refined | None:
        """Refine from several points; return the lowest point reached, if the budget allows for any."""
        reached = [
            refine(vector, allowance, self._spend)
            for vector in vectors
            if self._left > allowance > self._round
        ]
        return min(reached, key=lambda point: point.error, default=None)

    def _hop(self, refine: Refine, bottom: Refined | None, until: int) -> Refined | None:
        """Refine from points up and down the valley, again and again."""
        allowance = _HOP_REFINEMENT * self._round
        stalled = 0
        steps = itertools.cycle(_HOPS)
        while bottom is not None and self._left - allowance >= until and stalled < _HOPS_IN_VAIN:
            hop = bottom.valley @ self._random.normal(0.0, next(steps), self._space.dimension)
            vector = self._space.vectors((self._space.point(bottom.vector) + hop)[None])[0]
            reached = refine(vector, allowance, self._spend)
            stalled = stalled + 1 if reached.error > (1.0 - PROGRESS) * bottom.error else 0
            bottom = min(bottom, reached, key=lambda point: point.error)
        self._converged = stalled == _HOPS_IN_VAIN
        return bottom

    def _settle(
        self, objective: Objective, incumbent: tuple[Array, float], until: int
    ) -> tuple[tuple[Array, float], bool]:
        """Descend from the best point by CMA-ES with ever smaller steps; tell whether it came to rest."""
        step = _POLISH_STEP
        while self._left > until and step > _FINEST_STEP:
            descent = self._descent(self._space.point(incumbent[0]), step)
            self._advance(objective, [descent], until)
            if descent.error > (1.0 - PROGRESS) * incumbent[1]:
                step /= 2.0
            if descent.error < incumbent[1]:
                incumbent = self._space.vectors(descent.point[None])[0], descent.error
        return incumbent, step <= _FINEST_STEP and self._left >= until + self._population

    def _better(
        self, objective: Objective, refined: Refined | None, incumbent: tuple[Array, float]
    ) -> tuple[Array, float]:
        """Return the better one of the best so far and what refining led to."""
        if refined is None or self._left < 1:
            return incumbent
        error = float(self._evaluate(objective, refined.vector[None])[0])
        return (refined.vector, error) if error < incumbent[1] else incumbent

    def _descent(self, mean: Array, step: float, population: int | None = None) -> Descent:
        seed = int(self._random.integers(2**31))
        return Descent(mean, step=step, population=population or self._population, seed=seed)

    def _advance(self, objective: Objective, descents: list[Descent], until: int) -> None:
        """Advance descents generation by generation until they stall or `until` evaluations are left."""
        while running := [descent for descent in descents if not descent.finished]:
            if self._left - sum(descent.population for descent in running) < until:
                return
            generations = [descent.ask() for descent in running]
            errors = self._evaluate(objective, self._space.vectors(np.concatenate(generations)))
            edges = np.cumsum([descent.population for descent in running])[:-1]
            for descent, part in zip(running, np.split(errors, edges), strict=True):
                descent.tell(part)

    def _spend(self, evaluations: int) -> None:
        """Book evaluations that were made elsewhere."""
        self._require_go()
        self._left -= evaluations
        if self._report is not None:
            self._report(min(self._budget - self._left, self._budget), self._lowest)

    def _require_go(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise IdentificationCancelled("identification: cancelled; nothing was written")

    def _evaluate(self, objective: Objective, vectors: Array) -> Array:
        """Evaluate as many of these vectors as the budget allows."""
        parts = [np.empty(0)]
        vectors = vectors[: max(self._left, 0)]
        for part in np.split(vectors, range(_AT_ONCE, len(vectors), _AT_ONCE)) if len(vectors) else ():
            self._require_go()
            parts.append(objective(part))
            self._left -= len(part)
            self._lowest = min(self._lowest, float(np.min(parts[-1])))
            if self._report is not None:
                self._report(self._budget - self._left, self._lowest)
        return np.concatenate(parts)


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
