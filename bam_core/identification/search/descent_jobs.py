# SPDX-License-Identifier: Apache-2.0
"""The jobs of a Gauss-Newton search: approaches, descents, and the last part on what counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.jobs import random_of
from bam_core.identification.search.meter import Ledger, Meter
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.space import SearchSpace


@dataclass(frozen=True, kw_only=True)
class Approach:
    """One way from the best of some points all over the space, over longer and longer horizons."""

    key: str
    allowance: int
    seed: int

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return where it leads; its error is that over the longest horizon of the approach."""
        space, schedule, meter = problem.space, problem.schedule, Meter(self.allowance, ledger)
        count = max(int(schedule.scatter_share * self.allowance), 1)
        vectors = space.vectors(random_of(self.seed, self.key).random((count, space.dimension)))
        errors = meter.evaluate(problem.short, vectors)
        lowest = int(np.argmin(errors))
        vector, error = vectors[lowest], float(errors[lowest])
        for slide in problem.approach:
            is_last = slide is problem.approach[-1]
            allowance = meter.left if is_last else int(schedule.short_share * meter.left)
            if allowance >= cost(space, 1):
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
        meter = Meter(self.allowance, ledger)
        reached = refine(self.vector, self.allowance, meter.spend)
        meter.book_error(reached.error)
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
        schedule, meter = problem.schedule, Meter(self.allowance, ledger)
        fine = min(cost(problem.space, schedule.fine_steps), int(schedule.fine_share * self.allowance))
        if problem.refine_finely is None or fine < cost(problem.space, 1):
            fine = 0
        ends = self._descents(problem, meter, reserve=fine)
        candidates = [*(end.vector for end in ends), *self.candidates]
        if ends and fine and problem.refine_finely is not None:
            allowance = meter.left - len(candidates) - 1
            lowest_end = min(ends, key=error_of).vector
            candidates.append(problem.refine_finely(lowest_end, allowance, meter.spend).vector)
        errors = meter.evaluate(problem.objective, np.array(candidates))
        lowest = int(np.argmin(errors))
        first = sorted(ends[: schedule.final_ends], key=error_of)
        lowest_error = min(map(error_of, ends), default=math.inf)
        no_progress = bool(ends) and not _is_lower(lowest_error, first[0].error, schedule.progress)
        is_known = len(first) > 1 and lowest_error > 0.0
        return Outcome(
            vector=candidates[lowest],
            error=float(errors[lowest]),
            evaluations=meter.spent,
            converged=agree(first, schedule.same_error) and no_progress,
            spread=max(end.error for end in first[:2]) / lowest_error - 1.0 if is_known else math.inf,
        )

    def _descents(self, problem: Problem, meter: Meter, *, reserve: int) -> list[Refined]:
        """Refine the best drafts by the full error, hop between basins; keep trials to evaluate them all."""
        schedule, random = problem.schedule, random_of(self.seed, self.key)
        reached: list[Refined] = []
        least, waiting = cost(problem.space, 1), len(self.candidates) + reserve
        lowest, in_vain = math.inf, 0
        while meter.left >= least + waiting + len(reached) + 1 and in_vain < schedule.final_hops_in_vain:
            number, ends = len(reached), min(schedule.final_ends, len(self.candidates))
            if number < ends:
                vector, steps = self.candidates[number], schedule.final_steps
            elif number == ends:
                vector, steps = min(reached, key=error_of).vector, schedule.final_steps
            else:
                length = schedule.hops[number % len(schedule.hops)]
                vector = hop(problem.space, min(reached, key=error_of), length, random)
                steps = schedule.hop_steps
            allowance = min(cost(problem.space, steps), meter.left - waiting - number - 1)
            reached.append(problem.refine(vector, allowance, meter.spend))
            error = reached[-1].error
            meter.book_error(error)
            is_in_vain = number > ends and not _is_lower(error, lowest, schedule.progress)
            in_vain = in_vain + 1 if is_in_vain else 0
            lowest = min(lowest, error)
        return reached


def hop(space: SearchSpace, base: Outcome | Refined, length: float, random: np.random.Generator) -> Array:
    """Return a point (PARAMETERS,) some way up or down the valley of another."""
    assert base.valley is not None
    step = base.valley @ random.normal(0.0, length, space.dimension)
    return space.vectors((space.point(base.vector) + step)[None])[0]


def agree(ends: Sequence[Outcome | Refined], same_error: float) -> bool:
    """Return whether the lowest of some ends, sorted, is reached from elsewhere as well."""
    return len(ends) > 1 and ends[1].error <= (1.0 + same_error) * ends[0].error


def cost(space: SearchSpace, steps: int) -> int:
    """Return how many evaluations a descent of so many steps takes at most."""
    return evaluations_for(space.dimension, steps)


def error_of(outcome: Outcome | Refined) -> float:
    """Return the error, to sort by it."""
    return outcome.error


def _is_lower(error: float, reference: float, progress: float) -> bool:
    """Return whether an error is lower than another by what counts as progress."""
    return error < (1.0 - progress) * reference
