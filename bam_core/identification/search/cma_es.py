# SPDX-License-Identifier: Apache-2.0
"""CMA-ES with restarts, the method of BAM's authors: `bam identify --search cma-es`.

BAM section V-B minimises the mean absolute position error of simulations in closed loop by CMA-ES. The
authors' program leaves that to Optuna, which restarts it by the rule BIPOP (Hansen 2009, "Benchmarking a
BI-population CMA-ES on the BBOB-2009 function testbed"). Populations double from restart to restart, and
runs with small populations take as many trials again. Each run is a job, so that a database can keep it and
another process may do it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.descent import Descent
from bam_core.identification.search.jobs import JobRunner, random_of
from bam_core.identification.search.meter import Ledger, Meter
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem
from bam_core.identification.search.space import SearchSpace

_STEP = 1.0 / 6.0
"""Initial standard deviation, in coordinates of the space: Optuna's default, which BAM's program uses."""

_WARM_STEP = 0.1
"""The same of a run that begins at the optimum of a simpler model."""

_LOCAL_STEP = 0.04
"""The same of a search about its start alone; it halves with each further run."""

_COMPARED = 4
"""Ends of runs that are simulated with the finest steps at the end."""

_SAME = 5e-3
"""Relative difference of the errors of two runs that came to the same optimum."""


def minimise_by_cma_es(
    runner: JobRunner, *, evaluations: int, seed: int, starts: Sequence[Array] = (), local: bool = False
) -> Outcome:
    """Search for the smallest mean absolute error of a problem by runs of CMA-ES, until the budget is spent.

    Args:
        runner: does the jobs; knows the problem.
        evaluations: budget; `methods.MIN_EVALUATIONS` at least.
        seed: of every random number drawn.
        starts: parameter vectors known to be good, such as optima of nested models. The first run begins at
            the last of them. The outcome is never worse than any of them.
        local: search about the last start only.

    Returns:
        The best point found, what was spent in all, and whether the two best runs came to the same error.

    Raises:
        IdentificationCancelled: the caller has withdrawn.
    """
    space = runner.problem.space
    restarts = Restarts(4 + int(3 * math.log(space.dimension)))
    budget = evaluations - len(starts) - _COMPARED  # the last job compares all ends
    ends: list[Outcome] = []
    while (left := budget - sum(end.evaluations for end in ends)) >= restarts.population:
        number = len(ends)
        mean, step = _begin(
            space, number, ends, starts, local=local, random=random_of(seed, f"begin {number}")
        )
        run = CmaEsRun(
            key=f"cma-es {number}",
            mean=mean,
            step=step,
            population=restarts.population,
            allowance=left,
            seed=seed,
        )
        ends += runner.do([run])
        runner.ledger.agree(sum(end.evaluations for end in ends))
        restarts.count(ends[-1].evaluations, random_of(seed, f"population {number}").random())
    lowest = sorted(ends, key=_error)[:_COMPARED]
    runner.ledger.forget_lowest()  # the last job simulates with finer steps
    (best,) = runner.do([FinalEvaluation(candidates=(*(end.vector for end in lowest), *starts))])
    spent = sum(end.evaluations for end in ends) + best.evaluations
    runner.ledger.agree(spent)
    spread = math.inf
    if len(lowest) > 1 and lowest[0].error > 0.0:
        spread = lowest[1].error / lowest[0].error - 1.0
    return replace(best, evaluations=spent, converged=spread <= _SAME, spread=spread)


def _begin(
    space: SearchSpace,
    number: int,
    ends: Sequence[Outcome],
    starts: Sequence[Array],
    *,
    local: bool,
    random: np.random.Generator,
) -> tuple[Array, float]:
    """Return the mean, (dimension,) in coordinates of the space, and the step that a run begins with."""
    if starts and local:
        best = min(ends, key=_error).vector if ends else starts[-1]
        return space.point(best), _LOCAL_STEP / 2**number
    if number > 0:
        return random.random(space.dimension), _STEP
    if starts:
        return space.point(starts[-1]), _WARM_STEP
    return np.full(space.dimension, 0.5), _STEP


class Restarts:
    """Populations of the runs by BIPOP (Hansen 2009, section 2).

    Attributes:
        population: points per generation of the next run.
    """

    def __init__(self, population: int) -> None:
        self.population = self._first = population
        self._doubled = 0
        self._spent = {"small": 0, "large": 0}
        self._kind = "small"  # the first run has the usual population, and counts among the small ones

    def count(self, evaluations: int, uniform: float) -> None:
        """Book a run, and set the population of the next one; `uniform` is a random number, 0..1."""
        self._spent[self._kind] += evaluations
        if self._spent["small"] < self._spent["large"]:
            self._kind = "small"
            self.population = int(self._first * (2**self._doubled) ** (uniform**2))
        else:
            self._kind = "large"
            self._doubled += 1
            self.population = self._first * 2**self._doubled


@dataclass(frozen=True, kw_only=True)
class CmaEsRun:
    """One run of CMA-ES, until generations gain nothing more or its allowance is spent.

    Attributes:
        mean: where it begins, (dimension,) in coordinates of the space.
        step: initial standard deviation.
        population: points per generation.
        allowance: evaluations at most.
        seed: of the search; random numbers also depend on the key.
    """

    key: str
    mean: Array
    step: float
    population: int
    allowance: int
    seed: int

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the best point; its error is the mean absolute one with the search's own step."""
        meter = Meter(self.allowance, ledger)
        seed = int(random_of(self.seed, f"{self.key} run").integers(2**31))
        descent = Descent(self.mean, step=self.step, population=self.population, seed=seed)
        while meter.left >= self.population and not descent.finished:
            descent.tell(meter.evaluate(problem.error, problem.space.vectors(descent.ask())))
        return Outcome(
            vector=problem.space.vectors(descent.point[None])[0],
            error=descent.error,
            evaluations=meter.spent,
        )


@dataclass(frozen=True, kw_only=True)
class FinalEvaluation:
    """The last job: the best of some candidates by the error that counts."""

    candidates: tuple[Array, ...]
    key: str = "settle"

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Return the best candidate."""
        meter = Meter(len(self.candidates), ledger)
        errors = meter.evaluate(problem.objective, np.array(self.candidates))
        lowest = int(np.argmin(errors))
        return Outcome(vector=self.candidates[lowest], error=float(errors[lowest]), evaluations=meter.spent)


def _error(outcome: Outcome) -> float:
    return outcome.error
