# SPDX-License-Identifier: Apache-2.0
"""One search, as it is sent to an executor: its arguments, and the method that runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bam_core.arrays import Array
from bam_core.identification.search.cma_es import minimise_by_cma_es
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.gauss_newton_search import descend_from, minimise
from bam_core.identification.search.jobs import JobRunner
from bam_core.identification.search.meter import Ledger
from bam_core.identification.search.methods import CMA_ES, DEFAULT_METHOD
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import TrainingData
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.threads import one_blas_thread

# A search may end for lack of trials with some left. Fewer than the larger of these two count as none.
_MIN_TRIALS_SHARE = 0.1  # of the budget
_MIN_STEPS = 10  # Gauss-Newton steps


@dataclass(frozen=True, kw_only=True)
class SearchTask:
    """Arguments of one search; can be pickled.

    Attributes:
        space: free parameters.
        evaluations: budget, simulations of all training logs.
        seed: of all random numbers.
        starts: (PARAMETERS,) SI each.
        local: whether to search only about the starts.
        wide: whether the starts may be far from the optimum; see `gauss_newton_search.minimise`.
        steps: largest number of Gauss-Newton steps of a single descent, for any method; None: a full search.
        method: of search, one of METHODS.
    """

    space: SearchSpace
    evaluations: int
    seed: int
    starts: tuple[Array, ...]
    local: bool
    wide: bool = False
    steps: int | None = None
    method: str = DEFAULT_METHOD

    def is_spent(self, outcome: Outcome) -> bool:
        """Return whether the outcome leaves too few evaluations to continue the search."""
        needed = max(_MIN_TRIALS_SHARE * self.evaluations, evaluations_for(self.space.dimension, _MIN_STEPS))
        return self.evaluations - outcome.evaluations < needed

    def run(self, runner: JobRunner) -> Outcome:
        """Run the search and return its outcome."""
        with one_blas_thread():
            if self.steps is not None:
                (start,) = self.starts
                outcome = descend_from(runner, start, self.evaluations)
                return replace(outcome, converged=not self.is_spent(outcome))
            if self.method == CMA_ES:
                return minimise_by_cma_es(
                    runner,
                    evaluations=self.evaluations,
                    seed=self.seed,
                    starts=self.starts,
                    local=self.local,
                )
            return minimise(
                runner,
                evaluations=self.evaluations,
                seed=self.seed,
                starts=self.starts,
                local=self.local,
                wide=self.wide,
            )


def run_task(data: TrainingData, search: SearchTask) -> Outcome:
    """Run a search in the process of an executor."""
    return search.run(JobRunner(data.problem(search.space), Ledger()))
