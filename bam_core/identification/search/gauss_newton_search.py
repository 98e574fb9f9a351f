# SPDX-License-Identifier: Apache-2.0
"""The search by Gauss-Newton descents: approaches over short horizons, refinements, hops along the valley.

Over a quarter of a second after a measured state, the error has next to no local minima; over seconds, where
one stick or slip decides the rest of a run, it has many. So approaches (see `Approach`) go down from points
all over the space with the error over short horizons first, then over longer ones. Refinements (see `refine`)
go on from there with whole runs, hops along the valley, each followed by a refinement, leave small pits
behind. So far a cheap draft of the simulation will do; the last refinements are made on what counts. All of
it is cut into rounds of jobs (see `jobs`); those of a round may be done at the same time. Further rounds of
approaches are made until two of them lead to the same error, or what they may cost is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.descent_jobs import (
    Approach,
    FinalSearch,
    Refinement,
    agree,
    cost,
    error_of,
    hop,
)
from bam_core.identification.search.jobs import Job, JobRunner, random_of
from bam_core.identification.search.outcome import Outcome


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
        evaluations: budget, drafts included; at least `methods.MIN_EVALUATIONS`.
        seed: of every random number drawn.
        starts: parameter vectors known to be good, such as optima of nested models. The outcome is never
            worse than any of them.
        local: search about the starts only, without approaches all over the space.
        wide: the starts may be far from the optimum: as many approaches as without starts. What these find
            has to be clearly better, by `SearchSchedule.clear_gain`. Of optima that logs hardly distinguish,
            the one that a simpler model leads to has extra terms no larger than they must be, and follows
            gains and loads better that no log has.

    Returns:
        The best point found, what was spent in all, and whether descents from two drafts came to the same
        error and hops led no further down.

    Raises:
        IdentificationCancelled: the caller has withdrawn.
    """
    search = _Search(runner, seed, evaluations)
    vectors = [np.asarray(start) for start in starts]
    local = local and bool(vectors)
    return search.run(vectors, local=local, wide=wide)


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
        self._schedule = runner.problem.schedule
        self._seed = seed
        self._left = self._budget = budget

    def run(self, starts: list[Array], *, local: bool, wide: bool) -> Outcome:
        """Return the best point; arguments as of `minimise`."""
        schedule = self._schedule
        reserve = int(schedule.final_share * self._budget)
        ends = self._bottoms("warm", self._warm(starts)) if starts else []
        if not local:
            approached = self._approached(few=bool(starts) and not wide, near=ends, reserve=reserve)
            if not (wide and ends) or approached[0].error < (1.0 - schedule.clear_gain) * ends[0].error:
                ends = sorted([*ends, *approached], key=error_of)
        allowance = self._left
        if ends:
            ends = [self._hops(ends[0], reserve=reserve), *ends[1 : schedule.deepest]]
            allowance = min(self._left, int(schedule.final_share_after_hops * self._budget))
        return self._last((*(end.vector for end in ends), *starts), allowance)

    def _approached(self, *, few: bool, near: list[Outcome], reserve: int) -> list[Outcome]:
        """Return where approaches lead, lowest first; there are more of them until two are alike."""
        schedule = self._schedule
        count = schedule.approaches if few else schedule.cold_approaches
        allowance = min(int(schedule.approach_share * self._budget), max(self._left - reserve, 1))
        count = max(min(count, allowance // (2 * cost(self._space, 1))), 1)
        ends: list[Outcome] = []
        for number in range(schedule.approach_rounds):
            before = self._left
            jobs = [
                Approach(key=f"approach {number}.{i}", allowance=allowance // count, seed=self._seed)
                for i in range(count)
            ]
            reached = sorted(self._do(jobs), key=error_of)
            bottoms = self._bottoms(f"{number}.", [outcome.vector for outcome in reached])
            ends = sorted([*ends, *(bottoms or reached)], key=error_of)
            is_reached_twice = agree(sorted([*near, *ends], key=error_of), schedule.same_error)
            if is_reached_twice or 2 * self._left - before < reserve:
                break
        return ends

    def _last(self, candidates: tuple[Array, ...], allowance: int) -> Outcome:
        """Go on from candidates, the best first, on what counts."""
        self._runner.ledger.forget_lowest()  # drafts are not comparable with what counts
        (last,) = self._do([FinalSearch(candidates=candidates, allowance=allowance, seed=self._seed)])
        return replace(last, evaluations=self._budget - self._left)

    def _bottoms(self, name: str, vectors: list[Array]) -> list[Outcome]:
        """Refine roughly from several points, and thoroughly where that is lowest."""
        rough = self._refinements(f"rough {name}", vectors, self._schedule.rough_steps)
        rough = sorted(rough, key=error_of)[: self._schedule.deepest]
        thorough = self._refinements(
            f"thorough {name}", [outcome.vector for outcome in rough], self._schedule.thorough_steps
        )
        return sorted(map(partial(min, key=error_of), rough, thorough) if thorough else rough, key=error_of)

    def _warm(self, starts: list[Array]) -> list[Array]:
        """Return the given starts, the last ones first, and points about them."""
        schedule, spread = self._schedule, random_of(self._seed, "warm")
        vectors = []
        for start in starts[: -schedule.warm_starts - 1 : -1]:
            about = self._space.point(start) + spread.normal(
                0.0, schedule.warm_spread, (schedule.warm_copies, self._space.dimension)
            )
            vectors += [start, *self._space.vectors(np.clip(about, 0.0, 1.0))]
        return vectors

    def _refinements(self, name: str, vectors: list[Array], steps: int) -> list[Outcome]:
        """Refine from several points; return the points reached, in their order."""
        allowance = min(
            cost(self._space, steps), int(self._schedule.refining_share * self._left) // max(len(vectors), 1)
        )
        if allowance < cost(self._space, 1):
            return []
        jobs = [
            Refinement(key=f"{name} {number}", vector=vector, allowance=allowance)
            for number, vector in enumerate(vectors)
        ]
        return self._do(jobs)

    def _hops(self, bottom: Outcome, reserve: int) -> Outcome:
        """Refine from points up and down the valley while that lowers the error; return the lowest."""
        schedule = self._schedule
        allowance = cost(self._space, schedule.hop_steps)
        stalled = number = 0
        while (
            stalled < schedule.hop_rounds_in_vain and self._left - len(schedule.hops) * allowance >= reserve
        ):
            jobs = []
            for i, step in enumerate(schedule.hops):
                key = f"hop {number}.{i}"
                vector = hop(self._space, bottom, step, random_of(self._seed, key))
                jobs.append(Refinement(key=key, vector=vector, allowance=allowance))
            lowest = min(self._do(jobs), key=error_of)
            stalled = 0 if lowest.error < (1.0 - schedule.progress) * bottom.error else stalled + 1
            bottom = min(bottom, lowest, key=error_of)
            number += 1
        return bottom

    def _do(self, jobs: Sequence[Job]) -> list[Outcome]:
        outcomes = self._runner.do(jobs)
        self._left -= sum(outcome.evaluations for outcome in outcomes)
        self._runner.ledger.agree(self._budget - self._left)
        return outcomes
