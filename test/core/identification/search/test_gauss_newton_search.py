# SPDX-License-Identifier: Apache-2.0
"""The Gauss-Newton search: within budget, repeatable, never worse than where it was told to start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from bam_core.identification.search.evidence import Evidence
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.gauss_newton_search import minimise
from bam_core.identification.search.jobs import JobRunner
from bam_core.identification.search.meter import IdentificationCancelled, Ledger
from bam_core.identification.search.methods import MIN_EVALUATIONS
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE
from test.core.bowl_cases import SPACE, TARGET, Array, Bowl, problem, staying


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 137, 1000])
def test_it_spends_no_more_than_its_budget_and_counts_right(evaluations: int) -> None:
    bowl, reports = Bowl(), []
    ledger = Ledger(lambda n, best: reports.append((n, best)))
    searched = problem(bowl, refine=staying(Bowl()))
    result = minimise(JobRunner(searched, ledger), evaluations=evaluations, seed=0)
    assert result.evaluations == ledger.spent == reports[-1][0] <= evaluations
    assert bowl.evaluations <= result.evaluations
    counts = [count for count, _ in reports]
    assert counts == sorted(counts)
    assert result.error == Bowl()(result.vector[None])[0]


def test_it_runs_no_cma_es(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cmaes", None)  # an import of it fails
    for evaluations in (MIN_EVALUATIONS, 3000):
        minimise(JobRunner(problem(Bowl()), Ledger()), evaluations=evaluations, seed=0)


def test_the_same_seed_gives_the_same_bits_another_seed_does_not() -> None:
    first, second, other = (
        minimise(JobRunner(problem(Bowl()), Ledger()), evaluations=600, seed=seed) for seed in (5, 5, 6)
    )
    assert first.error == second.error
    assert first.vector.tobytes() == second.vector.tobytes()
    assert first.vector.tobytes() != other.vector.tobytes()


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 400])
def test_the_result_is_never_worse_than_a_start(evaluations: int) -> None:
    starts = list(SPACE.vectors(np.random.default_rng(0).normal(0.37, 0.01, (3, SPACE.dimension))))
    runner = JobRunner(problem(Bowl()), Ledger())
    result = minimise(runner, evaluations=evaluations, seed=0, starts=starts)
    assert result.error <= Bowl()(np.array(starts)).min()


@pytest.mark.parametrize(("height", "is_left"), [(0.0, False), (0.02, False), (0.5, True)])
def test_a_wide_search_leaves_what_its_start_leads_to_for_what_is_clearly_better(
    height: float, is_left: bool
) -> None:
    """Refinements stay where they begin; the start is as high above the best of approaches as it is told."""
    bowl = Bowl()
    start = SPACE.vectors(np.full((1, SPACE.dimension), 0.9))[0]
    best = minimise(JobRunner(problem(Bowl()), Ledger()), evaluations=6000, seed=0, wide=True)

    def objective(vectors: Array) -> Array:
        is_start = (vectors == start).all(axis=1)
        return np.where(is_start, (1.0 + height) * (best.error + 1.0), bowl(vectors) + 1.0)

    ledger = Ledger()
    runner = JobRunner(problem(objective), ledger)
    found = minimise(runner, evaluations=6000, seed=0, starts=[start], wide=True)
    assert np.array_equal(found.vector, start) is not is_left
    assert found.evaluations == ledger.spent <= 6000


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("rounds", [1, DEFAULT_SCHEDULE.approach_rounds])
def test_there_are_more_approaches_until_two_lead_to_the_same_error(alike: bool, rounds: int) -> None:
    """Each approach ends at a bottom of its own; all are alike, or no two of them."""
    heights = np.random.default_rng(0).permutation(1000)
    bottoms: list[Array] = []
    numbers = count()

    def objective(vectors: Array) -> Array:
        known = {bottom.tobytes(): i for i, bottom in enumerate(bottoms)}
        reached = [known.get(vector.tobytes()) for vector in vectors]
        return np.array([5000.0 if i is None else 100.0 + (0 if alike else heights[i]) for i in reached])

    def slide(vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        spend(evaluations)
        # Approaches run in threads: each takes a number of its own.
        bottom = SPACE.vectors(np.random.default_rng(next(numbers)).random((1, SPACE.dimension)))[0]
        bottoms.append(bottom)
        return staying(objective)(bottom, 1, lambda _: None)

    schedule = replace(DEFAULT_SCHEDULE, approach_rounds=rounds)
    searched = problem(objective, approach=[slide], schedule=schedule)
    ledger = Ledger()
    found = minimise(JobRunner(searched, ledger), evaluations=8000, seed=0)
    assert found.converged is alike
    assert (found.spread <= schedule.same_error) is alike
    assert (len(bottoms) == schedule.cold_approaches) is (alike or rounds == 1)
    assert found.error == objective(np.array(bottoms)).min()
    assert found.evaluations == ledger.spent <= 8000


def test_a_refinement_counts_and_only_an_improvement_is_kept() -> None:
    spent = []

    def refine(vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        assert evaluations >= evaluations_for(SPACE.dimension, 1)
        spend(1)
        spent.append(evaluations)
        is_first = len(spent) == 1
        return Refined(
            vector=TARGET if is_first else SPACE.vectors(np.zeros((1, SPACE.dimension)))[0],
            error=0.0 if is_first else 1.0,
            valley=np.eye(SPACE.dimension),
        )

    bowl = Bowl()
    searched = problem(bowl, refine=refine, approach=[])
    result = minimise(JobRunner(searched, Ledger()), evaluations=3000, seed=0)
    assert len(spent) > 1
    assert result.evaluations == bowl.evaluations + len(spent)
    assert result.error == pytest.approx(0.0, abs=1e-9)


def test_cancelling_ends_it_at_once() -> None:
    bowl = Bowl()
    ledger = Ledger(cancelled=lambda: bowl.evaluations > 500)
    with pytest.raises(IdentificationCancelled):
        minimise(JobRunner(problem(bowl), ledger), evaluations=60000, seed=0)
    assert bowl.evaluations < 1000


def test_progress_tells_no_error_before_one_is_known() -> None:
    told: list[tuple[int, float]] = []
    ledger = Ledger(lambda spent, lowest: told.append((spent, lowest)))
    ledger.book(10)
    assert told == []
    ledger.book(0, 0.2)
    assert told == [(10, 0.2)]


@pytest.mark.parametrize("factor", [0.0, np.inf, np.nan, 1e300])
def test_there_is_no_step_where_numbers_overflow(factor: float) -> None:
    size = 3
    found = Evidence(
        information=np.full((2, size, size), factor),
        scores=np.full((2, size), factor),
        scatter=1e-12,
        grain=np.eye(size),
        normalised=np.full(size, 0.5),
    )
    step = found.shift(1e-7)
    assert np.all(np.isfinite(step))
    assert np.all(np.abs(step) <= 0.5)
