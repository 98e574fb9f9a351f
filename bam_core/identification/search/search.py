# SPDX-License-Identifier: Apache-2.0
"""The search for the best parameters: approaches over short horizons, refinements, hops along the valley.

Over a quarter of a second after a measured state, the error has next to no local minima; over seconds, where
one stick or slip decides the rest of a run, it has many. So approaches (see `Approach`) go down from points
all over the space with the error over short horizons first, then over longer ones. Refinements (see `refine`)
go on from there with whole runs, hops along the valley, each followed by a refinement, leave small pits
behind. So far a cheap draft of the simulation will do; the last refinements are made on what counts. All of
it is cut into rounds of jobs (see `jobs`); those of a round may be done at the same time. Further rounds of
approaches are made until two of them lead to the same error, or what they may cost is spent.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

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

_CLEARLY = 0.05  # relative difference of errors; seeds differ by up to 3 %
_SAME = 5e-3  # of errors at the ends of descents that lead to one optimum, few as their steps are
_APPROACHES = 4  # in a round, where there are starts,
_APPROACHES_WITHOUT_STARTS = 8  # and where there are none
_APPROACHING = 0.25  # share of the budget for the approaches of a round
_SCATTERED = 0.12  # share of an approach for the points of which the best is its start,
_SHORT = 0.6  # and of what is left, for the error over the shorter horizon
_ROUNDS = 8  # of approaches at most
_RACES = 8  # instead, where nothing refines,
_RACING = 0.7  # with this share of the budget
_GENERATIONS = 40  # that a race should have at least; fewer races where the budget is small
_WARM_STARTS = 2  # of the given starts that are refined, the last ones,
_WARM_COPIES = 2  # each also from this many points about it
_WARM_SPREAD = 0.08  # standard deviation of these, in coordinates of the space
_REFINING = 0.5  # most of what is left after approaches that is for the first refinements
_ROUGH = 3  # steps of a refinement that shows how deep a valley goes
_DEEPEST = 4  # points that are refined further,
_THOROUGH = 8  # by so many steps
_HOPS = (0.05, 0.15, 0.4, 0.15)  # standard deviations of a round of hops where the valley is longest
_HOP = 4  # steps of refinement after a hop
_ROUNDS_IN_VAIN = 3  # of hops, after which there are no more
_FINISHING = 0.17  # share of the budget for what counts,
_FINISHING_AT_MOST = 0.25  # the same where hops have left more
_ENDS = 3  # drafts that are refined on what counts,
_LAST = 10  # by so many steps; then the lowest by as many again, then hops about it
_HOPS_IN_VAIN = 8  # after which there are no more: later ones gained 0.2 % in what took as long as all before
_SETTLING = 15  # and as many steps at most with the finest steps of the simulation,
_SETTLING_SHARE = 0.4  # or this share of what is for the last part, where that is less

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
        local: search about the starts only, without approaches all over the space.
        wide: the starts may be far from the optimum: as many approaches as without starts. What these find
            has to be clearly better, by _CLEARLY. Of optima that logs hardly tell apart, the one that a
            simpler model leads to has extra terms no larger than they must be, and follows gains and loads
            better that no log has.

    Returns:
        The best point found, what was spent in all, and whether descents from two drafts came to the same
        error and hops led no further down.

    Raises:
        IdentificationCancelled: the caller has withdrawn.
    """
    search = _Search(runner, seed, evaluations)
    vectors = [np.asarray(start) for start in starts]
    local = local and bool(vectors)
    if runner.problem.refine is None:
        return search.by_races(vectors, local=local)
    return search.down_valleys(vectors, local=local, wide=wide)


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

    def __init__(self, runner: JobRunner, seed: int, budget: int) -> None:
        self._runner = runner
        self._space = runner.problem.space
        self._seed = seed
        self._left = self._budget = budget

    def by_races(self, starts: list[Array], *, local: bool) -> Outcome:
        """Search where nothing refines: races, and what is left for a polish."""
        allowance = int(_RACING * self._budget)
        count = max(min(_RACES, allowance // (_GENERATIONS * population_of(self._space))), 1)
        found = [] if local else self._from_scratch(Race, 0, count, allowance // count)
        return self._last((*starts, *(each.vector for each in found)), self._left)

    def down_valleys(self, starts: list[Array], *, local: bool, wide: bool) -> Outcome:
        """Search where descents refine."""
        reserve = int(_FINISHING * self._budget)
        ends = self._bottoms("warm", self._warm(starts)) if starts else []
        if not local:
            far = self._approached(few=bool(starts) and not wide, near=ends, reserve=reserve)
            if not (wide and ends) or far[0].error < (1.0 - _CLEARLY) * ends[0].error:
                ends = sorted([*ends, *far], key=_error)
        allowance = self._left
        if ends:
            ends = [self._hops(ends[0], reserve=reserve), *ends[1:_DEEPEST]]
            allowance = min(self._left, int(_FINISHING_AT_MOST * self._budget))
        return self._last((*(end.vector for end in ends), *starts), allowance)

    def _approached(self, *, few: bool, near: list[Outcome], reserve: int) -> list[Outcome]:
        """Return where approaches lead, lowest first; there are more of them until two are alike."""
        problem = self._runner.problem
        count = _APPROACHES if few else _APPROACHES_WITHOUT_STARTS
        allowance = min(int(_APPROACHING * self._budget), max(self._left - reserve, 1))
        count = max(min(count, allowance // (2 * _cost(self._space, 1))), 1)
        ends: list[Outcome] = []
        for number in range(_ROUNDS):
            before = self._left
            found = self._from_scratch(
                Approach if problem.approach else Race, number, count, allowance // count
            )
            bottoms = self._bottoms(f"{number}.", [each.vector for each in found])
            ends = sorted([*ends, *(bottoms or found)], key=_error)
            if _agree(sorted([*near, *ends], key=_error)) or 2 * self._left - before < reserve:
                break
        return ends

    def _from_scratch(
        self, job: type[Race] | type[Approach], number: int, count: int, allowance: int
    ) -> list[Outcome]:
        """Return where races or approaches lead, the best first."""
        jobs = [
            job(key=f"{job.__name__.lower()} {number}.{i}", allowance=allowance, seed=self._seed)
            for i in range(count)
        ]
        return sorted(self._do(jobs), key=_error)

    def _last(self, candidates: tuple[Array, ...], allowance: int) -> Outcome:
        """Go on from candidates, the best first, on what counts."""
        self._runner.ledger.forget_lowest()  # drafts are not comparable with what counts
        (last,) = self._do([FinalSearch(candidates=candidates, allowance=allowance, seed=self._seed)])
        return replace(last, evaluations=self._budget - self._left)

    def _bottoms(self, name: str, vectors: list[Array]) -> list[Outcome]:
        """Refine roughly from several points, and thoroughly where that is lowest."""
        rough = self._refinements(f"rough {name}", vectors, _ROUGH)
        rough = sorted(rough, key=_error)[:_DEEPEST]
        thorough = self._refinements(f"thorough {name}", [each.vector for each in rough], _THOROUGH)
        return sorted(map(partial(min, key=_error), rough, thorough) if thorough else rough, key=_error)

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
        """Refine from several points; return the points reached, in their order."""
        allowance = min(_cost(self._space, steps), int(_REFINING * self._left) // max(len(vectors), 1))
        if allowance < _cost(self._space, 1):
            return []
        jobs = [
            Refinement(key=f"{name} {number}", vector=vector, allowance=allowance)
            for number, vector in enumerate(vectors)
        ]
        return self._do(jobs)

    def _hops(self, bottom: Outcome, reserve: int) -> Outcome:
        """Refine from points up and down the valley until that is in vain; return the lowest."""
        allowance = _cost(self._space, _HOP)
        stalled = number = 0
        while stalled < _ROUNDS_IN_VAIN and self._left - len(_HOPS) * allowance >= reserve:
            jobs = []
            for i, step in enumerate(_HOPS):
                key = f"hop {number}.{i}"
                vector = _hop(self._space, bottom, step, _random(self._seed, key))
                jobs.append(Refinement(key=key, vector=vector, allowance=allowance))
            lowest = min(self._do(jobs), key=_error)
            stalled = 0 if lowest.error < (1.0 - PROGRESS) * bottom.error else stalled + 1
            bottom = min(bottom, lowest, key=_error)
            number += 1
        return bottom

    def _do(self, jobs: Sequence[Job]) -> list[Outcome]:
        outcomes = self._runner.do(jobs)
        self._left -= sum(outcome.evaluations for outcome in outcomes)
        self._runner.ledger.agree(self._budget - self._left)
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
class Approach:
    """One way from the best of some points all over the space, over longer and longer horizons."""

    key: str
    allowance: int
    seed: int

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return where it leads; its error is that over the longest horizon of the approach."""
        assert problem.short is not None
        space, meter = problem.space, Meter(self.allowance, ledger)
        count = max(int(_SCATTERED * self.allowance), 1)
        vectors = space.vectors(_random(self.seed, self.key).random((count, space.dimension)))
        errors = meter.evaluate(problem.short, vectors)
        lowest = int(np.argmin(errors))
        vector, error = vectors[lowest], float(errors[lowest])
        for slide in problem.approach:
            is_last = slide is problem.approach[-1]
            allowance = meter.left if is_last else int(_SHORT * meter.left)
            if allowance >= _cost(space, 1):
                reached = slide(vector, allowance, meter.spend)
                vector, error = reached.vector, reached.error
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
        meter.tell(reached.error)
        return Outcome(
            vector=reached.vector, error=reached.error, evaluations=meter.spent, valley=reached.valley
        )


@dataclass(frozen=True, kw_only=True)
class FinalSearch:
    """The last job: evaluate candidates with the real objective, and refine the best of them."""

    candidates: tuple[Array, ...]
    allowance: int
    seed: int
    key: str = "settle"

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the best point of all."""
        meter = Meter(self.allowance, ledger)
        random = _random(self.seed, self.key)
        settling = min(_cost(problem.space, _SETTLING), int(_SETTLING_SHARE * self.allowance))
        if problem.settle is None or settling < _cost(problem.space, 1):
            settling = 0
        ends = self._descents(problem, meter, random, reserve=settling)
        candidates = [*(end.vector for end in ends), *self.candidates]
        if ends and settling and problem.settle is not None:
            allowance = meter.left - len(candidates) - 1
            candidates.append(problem.settle(min(ends, key=_error).vector, allowance, meter.spend).vector)
        errors = meter.evaluate(problem.objective, np.array(candidates))
        lowest = int(np.argmin(errors))
        vector, error = candidates[lowest], float(errors[lowest])
        first = sorted(ends[:_ENDS], key=_error)
        converged = _agree(first) and min(ends, key=_error).error >= (1.0 - PROGRESS) * first[0].error
        if not ends:
            vector, error, converged = polish(problem.objective, problem.space, vector, error, meter, random)
        return Outcome(vector=vector, error=error, evaluations=meter.spent, converged=converged)

    def _descents(
        self, problem: Problem, meter: Meter, random: np.random.Generator, *, reserve: int
    ) -> list[Refined]:
        """Refine the best drafts on what counts, and hop about the lowest; leave enough to judge them all."""
        if problem.refine is None:
            return []
        reached: list[Refined] = []
        least, waiting = _cost(problem.space, 1), len(self.candidates) + reserve
        lowest, in_vain = math.inf, 0
        while meter.left >= least + waiting + len(reached) + 1 and in_vain < _HOPS_IN_VAIN:
            number, ends = len(reached), min(_ENDS, len(self.candidates))
            if number < ends:
                vector, steps = self.candidates[number], _LAST
            elif number == ends:
                vector, steps = min(reached, key=_error).vector, _LAST
            else:
                vector = _hop(problem.space, min(reached, key=_error), _HOPS[number % len(_HOPS)], random)
                steps = _HOP
            allowance = min(_cost(problem.space, steps), meter.left - waiting - number - 1)
            reached.append(problem.refine(vector, allowance, meter.spend))
            meter.tell(reached[-1].error)
            in_vain = in_vain + 1 if number > ends and reached[-1].error > (1.0 - PROGRESS) * lowest else 0
            lowest = min(lowest, reached[-1].error)
        return reached


def _hop(space: SearchSpace, base: Outcome | Refined, step: float, random: np.random.Generator) -> Array:
    """Return a point some way up or down the valley."""
    assert base.valley is not None
    hop = base.valley @ random.normal(0.0, step, space.dimension)
    return space.vectors((space.point(base.vector) + hop)[None])[0]


def _agree(ends: Sequence[Outcome | Refined]) -> bool:
    """Tell whether the lowest of some ends is reached from elsewhere as well."""
    return len(ends) > 1 and ends[1].error <= (1.0 + _SAME) * ends[0].error


def _cost(space: SearchSpace, steps: int) -> int:
    return evaluations_for(space.dimension, steps)


def _random(seed: int, key: str) -> np.random.Generator:
    """Return the random numbers of one job: the same whoever does it, and whatever was done before."""
    return np.random.default_rng([seed, zlib.crc32(key.encode())])


def _error(outcome: Outcome | Refined) -> float:
    return outcome.error
