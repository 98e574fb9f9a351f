# SPDX-License-Identifier: Apache-2.0
"""The search for the best parameters: races, refinements of what they found, then hops along the valley.

Races between CMA-ES descents (see `race`) find regions. The best points lie somewhere in a long valley with
small pits: refinements (see `refine`) go down it, hops along it, each followed by a refinement, leave the
pits behind. So far a cheap draft of the simulation will do; the last refinements are made on what counts. All
of it is cut into jobs (see `board`), so that several workers can share a search.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bam_core.identification.search.board import Job, JobBoard, Outcome
from bam_core.identification.search.descent import PROGRESS
from bam_core.identification.search.meter import Ledger, Meter, Objective, Report
from bam_core.identification.search.race import polish, population_of, race
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.settle import evaluations_for
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.search.storage import open_study

Array = NDArray[np.float64]

_RACES = 3  # where there are starts,
_RACES_WITHOUT_STARTS = 8  # and where there are none
_GENERATIONS_OF_A_RACE = 15  # what it should have at least; fewer races where the budget is small,
_GENERATIONS_ALONE = 40  # and where nothing refines
_RACING = 0.25  # share of the budget for all races,
_RACING_ALONE = 0.7  # and where nothing refines
_WARM_STARTS = 2  # of the given starts that are refined, the last ones,
_WARM_COPIES = 2  # each also from this many points about it
_WARM_SPREAD = 0.08  # standard deviation of these, in coordinates of the space
_REFINING = 0.5  # most of what is left after races that is for the first refinements
_ROUGH = 3  # steps of a refinement that shows how deep a valley goes
_DEEPEST = 4  # points that are refined further,
_THOROUGH = 8  # by so many steps
_HOPS = (0.05, 0.15, 0.4, 0.15)  # standard deviations of a round of hops where the valley is longest
_HOP = 4  # steps of refinement after a hop
_ROUNDS_IN_VAIN = 3  # of hops, after which there are no more
_SETTLING = 0.17  # share of the budget for what counts,
_SETTLING_AT_MOST = 0.25  # the same where hops have left more
_ENDS = 3  # drafts that are refined on what counts,
_LAST = 10  # by so many steps; then the lowest by as many again, and what is left is for hops about it

MIN_EVALUATIONS = 50
"""The smallest budget: a generation or two, enough to see that everything works."""


class Refine(Protocol):
    """From a vector to a likely better one nearby; see `refine.Refiner.refine`."""

    def __call__(self, vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        """Descend from `vector` within `evaluations`, each told to `spend` before it is made."""
        ...


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
    local: bool = False,
    refine: Refine | None = None,
    refine_draft: Refine | None = None,
    board: JobBoard | None = None,
    report: Report | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult:
    """Search the space for the smallest objective.

    The same arguments give the same result, bit by bit, as long as the objectives do, and whoever does the
    jobs.

    Args:
        objective: what counts.
        space: where to search.
        evaluations: budget, drafts included; at least MIN_EVALUATIONS.
        seed: of every random number drawn.
        draft: a cheaper objective with nearly the same minima, for races.
        starts: parameter vectors known to be good, such as optima of nested models. The result is never worse
            than any of them.
        local: search about the starts only, without races all over the space.
        refine: a descent of another kind, for the best points.
        refine_draft: the same on the draft, for many points and along their valley; default `refine`.
        board: where the jobs are posted; default one of this call alone.
        report: called after every generation.
        cancelled: asked before every generation.

    Raises:
        IdentificationCancelled: `cancelled` said so.
    """
    search = _Search(
        objective=objective,
        draft=draft or objective,
        space=space,
        seed=seed,
        refine=refine,
        refine_draft=refine_draft or refine,
        board=board or JobBoard(open_study("search")),
        ledger=Ledger(report, cancelled),
    )
    return search.run(evaluations, [np.asarray(start) for start in starts], local=local)


class _Search:
    """One run of `minimise`, as rounds of jobs."""

    def __init__(
        self,
        *,
        objective: Objective,
        draft: Objective,
        space: SearchSpace,
        seed: int,
        refine: Refine | None,
        refine_draft: Refine | None,
        board: JobBoard,
        ledger: Ledger,
    ) -> None:
        self._objective = objective
        self._draft = draft
        self._space = space
        self._seed = seed
        self._refine = refine
        self._refine_draft = refine_draft
        self._board = board
        self._ledger = ledger
        self._left = self._budget = 0
        self._least = self._cost(1)  # evaluations that a refinement needs

    def run(self, budget: int, starts: list[Array], *, local: bool) -> SearchResult:
        self._left = self._budget = budget
        share = _RACING_ALONE if self._refine is None else _RACING
        races = _RACES if starts else _RACES_WITHOUT_STARTS
        found = [] if local and starts else self._races(races, int(share * budget))
        candidates = [*starts, *found]
        converged, bottoms = False, []
        if self._refine_draft is not None:
            rough = self._refinements("rough", self._warm(starts) + found, _ROUGH)
            deep = [each.vector for each in rough[:_DEEPEST]]
            bottoms = sorted(self._refinements("thorough", deep, _THOROUGH) + rough, key=_error)[:_DEEPEST]
            if bottoms:
                lowest, converged = self._hops(bottoms[0], reserve=int(_SETTLING * budget))
                candidates = [lowest.vector, *(each.vector for each in bottoms), *candidates]
        allowance = min(self._left, int(_SETTLING_AT_MOST * budget)) if bottoms else self._left
        (last,) = self._do([Job(key="settle", work=lambda: self._settled(candidates, allowance))])
        return SearchResult(
            vector=last.vector,
            error=last.error,
            evaluations=budget - self._left,
            converged=last.settled if self._refine is None else converged,
        )

    def _races(self, most: int, allowance: int) -> list[Array]:
        """Return what races found, `most` or fewer, the best first."""
        least = _GENERATIONS_ALONE if self._refine is None else _GENERATIONS_OF_A_RACE
        count = max(min(most, allowance // (least * population_of(self._space))), 1)

        def work(key: str) -> Outcome:
            meter = Meter(allowance // count, self._ledger)
            vector, error = race(self._draft, self._space, meter, self._random(key))
            return Outcome(vector=vector, error=error, evaluations=meter.spent)

        outcomes = self._do([_job(f"race {number}", work) for number in range(count)])
        return [outcome.vector for outcome in sorted(outcomes, key=_error)]

    def _warm(self, starts: list[Array]) -> list[Array]:
        """Return the given starts, the last ones first, and points about them."""
        spread = self._random("warm")
        vectors = []
        for start in starts[: -_WARM_STARTS - 1 : -1]:
            about = self._space.point(start) + spread.normal(
                0.0, _WARM_SPREAD, (_WARM_COPIES, self._space.dimension)
            )
            vectors += [start, *self._space.vectors(np.clip(about, 0.0, 1.0))]
        return vectors

    def _refinements(self, name: str, vectors: list[Array], steps: int) -> list[Outcome]:
        """Refine from several points; return the points reached, the lowest first."""
        allowance = min(self._cost(steps), int(_REFINING * self._left) // max(len(vectors), 1))
        if allowance < self._least:
            return []
        outcomes = self._do(
            [
                Job(key=f"{name} {number}", work=partial(self._refined, vector, allowance))
                for number, vector in enumerate(vectors)
            ]
        )
        return sorted(outcomes, key=_error)

    def _hops(self, bottom: Outcome, reserve: int) -> tuple[Outcome, bool]:
        """Refine from points up and down the valley; return the lowest, and whether more hops are in vain."""
        allowance = self._cost(_HOP)
        stalled = number = 0
        while stalled < _ROUNDS_IN_VAIN and self._left - len(_HOPS) * allowance >= reserve:

            def work(key: str, step: float, base: Outcome) -> Outcome:
                assert base.valley is not None
                hop = base.valley @ self._random(key).normal(0.0, step, self._space.dimension)
                vector = self._space.vectors((self._space.point(base.vector) + hop)[None])[0]
                return self._refined(vector, allowance)

            outcomes = self._do(
                [
                    _job(f"hop {number}.{i}", partial(work, step=step, base=bottom))
                    for i, step in enumerate(_HOPS)
                ]
            )
            lowest = min(outcomes, key=_error)
            stalled = 0 if lowest.error < (1.0 - PROGRESS) * bottom.error else stalled + 1
            bottom = min(bottom, lowest, key=_error)
            number += 1
        return bottom, stalled == _ROUNDS_IN_VAIN

    def _refined(self, vector: Array, allowance: int) -> Outcome:
        assert self._refine_draft is not None
        meter = Meter(allowance, self._ledger)
        reached = self._refine_draft(vector, allowance, meter.spend)
        return Outcome(
            vector=reached.vector, error=reached.error, evaluations=meter.spent, valley=reached.valley
        )

    def _settled(self, candidates: list[Array], allowance: int) -> Outcome:
        """Judge candidates by the real objective, and improve on the best of them."""
        meter = Meter(allowance, self._ledger)
        self._ledger.forget_lowest()  # drafts are not comparable with what counts
        reached = self._descents(candidates, meter)
        candidates = [*reached, *candidates]
        errors = meter.evaluate(self._objective, np.array(candidates))
        lowest = int(np.argmin(errors))
        vector, error, settled = candidates[lowest], float(errors[lowest]), False
        if not reached:
            vector, error, settled = polish(
                self._objective, self._space, vector, error, meter, self._random("settle")
            )
        return Outcome(vector=vector, error=error, evaluations=meter.spent, settled=settled)

    def _descents(self, candidates: list[Array], meter: Meter) -> list[Array]:
        """Refine the best drafts on what counts, and hop about the lowest; leave enough to judge them all."""
        if self._refine is None:
            return []
        random = self._random("settle")
        reached: list[Refined] = []
        while meter.left >= self._least + len(candidates) + len(reached) + 1:
            number, ends = len(reached), min(_ENDS, len(candidates))
            if number < ends:
                vector, steps = candidates[number], _LAST
            elif number == ends:
                vector, steps = min(reached, key=_error).vector, _LAST
            else:
                base = min(reached, key=_error)
                hop = base.valley @ random.normal(0.0, _HOPS[number % len(_HOPS)], self._space.dimension)
                vector = self._space.vectors((self._space.point(base.vector) + hop)[None])[0]
                steps = _HOP
            allowance = min(self._cost(steps), meter.left - len(candidates) - number - 1)
            reached.append(self._refine(vector, allowance, meter.spend))
        return [each.vector for each in reached]

    def _do(self, jobs: list[Job]) -> list[Outcome]:
        outcomes = self._board.do(jobs, meanwhile=self._ledger.require_go)
        self._left -= sum(outcome.evaluations for outcome in outcomes)
        self._ledger.agree(self._budget - self._left)
        return outcomes

    def _cost(self, steps: int) -> int:
        return evaluations_for(self._space.dimension, steps)

    def _random(self, key: str) -> np.random.Generator:
        """Return the random numbers of one job: the same whoever does it, and whatever was done before."""
        return np.random.default_rng([self._seed, zlib.crc32(key.encode())])


def _job(key: str, work: Callable[[str], Outcome]) -> Job:
    return Job(key=key, work=partial(work, key))


def _error(outcome: Outcome | Refined) -> float:
    return outcome.error
