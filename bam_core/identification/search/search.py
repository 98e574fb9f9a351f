# SPDX-License-Identifier: Apache-2.0
"""The search for the best parameters: races, refinements of what they found, then hops along the valley.

Races between CMA-ES descents (see `race`) find regions. The best points lie somewhere in a long valley with
small pits: refinements (see `refine`) go down it, hops along it, each followed by a refinement, leave the
pits behind. So far a cheap draft of the simulation will do; the last refinements are made on what counts. All
of it is cut into rounds of jobs (see `jobs`); those of a round may be done at the same time.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.descent import PROGRESS
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.jobs import Job, JobRunner
from bam_core.identification.search.meter import Ledger, Meter
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem
from bam_core.identification.search.race import polish, population_of, race
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.space import SearchSpace

_RACES = 3  # where there are starts,
_RACES_WITHOUT_STARTS = 8  # and where there are none
_CLEARLY = 0.05  # relative difference of errors; seeds differ by up to 3 %
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
_FINISHING = 0.17  # share of the budget for what counts,
_FINISHING_AT_MOST = 0.25  # the same where hops have left more
_ENDS = 3  # drafts that are refined on what counts,
_LAST = 10  # by so many steps; then the lowest by as many again, and what is left is for hops about it

MIN_EVALUATIONS = 50
"""The smallest budget: a generation or two, enough to see that everything works."""


def minimise(
    runner: JobRunner,
    *,
    evaluations: int,
    seed: int,
    starts: Sequence[Array] = (),
    local: bool = False,
    wide: bool = False,
) -> Outcome:
    """Search for the smallest objective of a problem.

    The same arguments give the same outcome, bit by bit, as long as the objectives do, and whoever does the
    jobs.

    Args:
        runner: does the jobs; knows the problem.
        evaluations: budget, drafts included; at least MIN_EVALUATIONS.
        seed: of every random number drawn.
        starts: parameter vectors known to be good, such as optima of nested models. The outcome is never
            worse than any of them.
        local: search about the starts only, without races all over the space.
        wide: the starts may be far from the optimum: with two thirds of the budget, search again without
            them. What that finds has to be clearly better, by _CLEARLY. Of optima that logs hardly tell
            apart, the one that a simpler model leads to has extra terms no larger than they must be, and
            follows gains and loads better that no log has.

    Returns:
        The best point found, what was spent in all, and whether the search ended because nothing led further
        down.

    Raises:
        IdentificationCancelled: the caller has withdrawn.
    """
    vectors = [np.asarray(start) for start in starts]
    share = evaluations // 3
    if not (wide and vectors) or share < MIN_EVALUATIONS:
        return _Search(runner, seed, evaluations).run(vectors, local=local)
    near = _Search(runner, seed, share).run(vectors, local=local)
    rest = evaluations - near.evaluations
    far = _Search(runner, seed, rest, prefix="wide ", before=near.evaluations).run([], local=False)
    better = far if far.error < (1.0 - _CLEARLY) * near.error else near
    return replace(better, evaluations=near.evaluations + far.evaluations)


def descend_from(runner: JobRunner, start: Array, evaluations: int) -> Outcome:
    """Go down the valley from one point, with no search about it.

    Args:
        runner: does the job; knows the problem.
        start: (PARAMETERS,) SI.
        evaluations: budget, enough for a step (see `gauss_newton.evaluations_for`).

    Returns:
        Where the descent ended; its error is that of `refine.Refined`.
    """
    job = Refinement(key="descent", vector=start, allowance=evaluations, draft=False)
    (outcome,) = runner.do([job])
    return outcome


class _Search:
    """One run of `minimise`, as rounds of jobs."""

    def __init__(
        self, runner: JobRunner, seed: int, budget: int, *, prefix: str = "", before: int = 0
    ) -> None:
        """Take note of the budget; names of jobs begin with `prefix`, `before` evaluations were spent."""
        self._prefix, self._before = prefix, before
        self._runner = runner
        self._space = runner.problem.space
        self._refines = runner.problem.refine is not None
        self._refines_drafts = runner.problem.refine_draft is not None
        self._seed = seed
        self._left = self._budget = budget
        self._least = _cost(self._space, 1)  # evaluations that a refinement needs

    def run(self, starts: list[Array], *, local: bool) -> Outcome:
        budget = self._budget
        share = _RACING if self._refines else _RACING_ALONE
        races = _RACES if starts else _RACES_WITHOUT_STARTS
        found = [] if local and starts else self._races(races, int(share * budget))
        candidates = [*starts, *found]
        converged, bottoms = False, []
        if self._refines_drafts:
            rough = self._refinements("rough", self._warm(starts) + found, _ROUGH)
            deep = [each.vector for each in rough[:_DEEPEST]]
            bottoms = sorted(self._refinements("thorough", deep, _THOROUGH) + rough, key=_error)[:_DEEPEST]
            if bottoms:
                lowest, converged = self._hops(bottoms[0], reserve=int(_FINISHING * budget))
                candidates = [lowest.vector, *(each.vector for each in bottoms), *candidates]
        allowance = min(self._left, int(_FINISHING_AT_MOST * budget)) if bottoms else self._left
        self._runner.ledger.forget_lowest()  # drafts are not comparable with what counts
        (last,) = self._do([self._final(tuple(candidates), allowance)])
        return Outcome(
            vector=last.vector,
            error=last.error,
            evaluations=budget - self._left,
            converged=converged if self._refines else last.converged,
        )

    def _races(self, most: int, allowance: int) -> list[Array]:
        """Return what races found, `most` or fewer, the best first."""
        least = _GENERATIONS_OF_A_RACE if self._refines else _GENERATIONS_ALONE
        count = max(min(most, allowance // (least * population_of(self._space))), 1)
        outcomes = self._do(
            [
                Race(key=f"{self._prefix}race {i}", allowance=allowance // count, seed=self._seed)
                for i in range(count)
            ]
        )
        return [outcome.vector for outcome in sorted(outcomes, key=_error)]

    def _warm(self, starts: list[Array]) -> list[Array]:
        """Return the given starts, the last ones first, and points about them."""
        spread = _random(self._seed, "warm")
        vectors = []
        for start in starts[: -_WARM_STARTS - 1 : -1]:
            about = self._space.point(start) + spread.normal(
                0.0, _WARM_SPREAD, (_WARM_COPIES, self._space.dimension)
            )
            vectors += [start, *self._space.vectors(np.clip(about, 0.0, 1.0))]
        return vectors

    def _refinements(self, name: str, vectors: list[Array], steps: int) -> list[Outcome]:
        """Refine from several points; return the points reached, the lowest first."""
        allowance = min(_cost(self._space, steps), int(_REFINING * self._left) // max(len(vectors), 1))
        if allowance < self._least:
            return []
        jobs = [
            Refinement(key=f"{self._prefix}{name} {number}", vector=vector, allowance=allowance)
            for number, vector in enumerate(vectors)
        ]
        return sorted(self._do(jobs), key=_error)

    def _hops(self, bottom: Outcome, reserve: int) -> tuple[Outcome, bool]:
        """Refine from points up and down the valley; return the lowest, and whether more hops are in vain."""
        allowance = _cost(self._space, _HOP)
        stalled = number = 0
        while stalled < _ROUNDS_IN_VAIN and self._left - len(_HOPS) * allowance >= reserve:
            jobs = []
            for i, step in enumerate(_HOPS):
                key = f"{self._prefix}hop {number}.{i}"
                vector = _hop(self._space, bottom, step, _random(self._seed, key))
                jobs.append(Refinement(key=key, vector=vector, allowance=allowance))
            lowest = min(self._do(jobs), key=_error)
            stalled = 0 if lowest.error < (1.0 - PROGRESS) * bottom.error else stalled + 1
            bottom = min(bottom, lowest, key=_error)
            number += 1
        return bottom, stalled == _ROUNDS_IN_VAIN

    def _final(self, candidates: tuple[Array, ...], allowance: int) -> FinalSearch:
        key = f"{self._prefix}{FinalSearch.key}"
        return FinalSearch(candidates=candidates, allowance=allowance, seed=self._seed, key=key)

    def _do(self, jobs: Sequence[Job]) -> list[Outcome]:
        outcomes = self._runner.do(jobs)
        self._left -= sum(outcome.evaluations for outcome in outcomes)
        self._runner.ledger.agree(self._before + self._budget - self._left)
        return outcomes


@dataclass(frozen=True, kw_only=True)
class Race:
    """One race all over the space, on the draft."""

    key: str
    allowance: int
    seed: int

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the best point of the race."""
        meter = Meter(self.allowance, ledger)
        vector, error = race(problem.draft, problem.space, meter, _random(self.seed, self.key))
        return Outcome(vector=vector, error=error, evaluations=meter.spent)


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """One refinement, of a draft or of what counts."""

    key: str
    vector: Array
    allowance: int
    draft: bool = True

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the point that the descent reached."""
        refine = problem.refine_draft if self.draft else problem.refine
        assert refine is not None
        meter = Meter(self.allowance, ledger)
        reached = refine(self.vector, self.allowance, meter.spend)
        return Outcome(
            vector=reached.vector, error=reached.error, evaluations=meter.spent, valley=reached.valley
        )


@dataclass(frozen=True, kw_only=True)
class FinalSearch:
    """The last job: evaluate candidates with the real objective, and refine the best of them."""

    candidates: tuple[Array, ...]
    allowance: int
    seed: int
    key: str = "settle"  # as in the studies of version 0.1

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the best point of all."""
        meter = Meter(self.allowance, ledger)
        random = _random(self.seed, self.key)
        reached = self._descents(problem, meter, random)
        candidates = [*reached, *self.candidates]
        errors = meter.evaluate(problem.objective, np.array(candidates))
        lowest = int(np.argmin(errors))
        vector, error, converged = candidates[lowest], float(errors[lowest]), False
        if not reached:
            vector, error, converged = polish(problem.objective, problem.space, vector, error, meter, random)
        return Outcome(vector=vector, error=error, evaluations=meter.spent, converged=converged)

    def _descents(self, problem: Problem, meter: Meter, random: np.random.Generator) -> list[Array]:
        """Refine the best drafts on what counts, and hop about the lowest; leave enough to judge them all."""
        if problem.refine is None:
            return []
        reached: list[Refined] = []
        least, waiting = _cost(problem.space, 1), len(self.candidates)
        while meter.left >= least + waiting + len(reached) + 1:
            number, ends = len(reached), min(_ENDS, waiting)
            if number < ends:
                vector, steps = self.candidates[number], _LAST
            elif number == ends:
                vector, steps = min(reached, key=_error).vector, _LAST
            else:
                vector = _hop(problem.space, min(reached, key=_error), _HOPS[number % len(_HOPS)], random)
                steps = _HOP
            allowance = min(_cost(problem.space, steps), meter.left - waiting - number - 1)
            reached.append(problem.refine(vector, allowance, meter.spend))
        return [each.vector for each in reached]


def _hop(space: SearchSpace, base: Outcome | Refined, step: float, random: np.random.Generator) -> Array:
    """Return a point some way up or down the valley."""
    assert base.valley is not None
    hop = base.valley @ random.normal(0.0, step, space.dimension)
    return space.vectors((space.point(base.vector) + hop)[None])[0]


def _cost(space: SearchSpace, steps: int) -> int:
    return evaluations_for(space.dimension, steps)


def _random(seed: int, key: str) -> np.random.Generator:
    """Return the random numbers of one job: the same whoever does it, and whatever was done before."""
    return np.random.default_rng([seed, zlib.crc32(key.encode())])


def _error(outcome: Outcome | Refined) -> float:
    return outcome.error
