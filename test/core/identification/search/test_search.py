# SPDX-License-Identifier: Apache-2.0
"""The search: within budget, repeatable, never worse than where it was told to start."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from bam_core.identification.search.descent import Descent
from bam_core.identification.search.evidence import Evidence
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.jobs import JobRunner
from bam_core.identification.search.meter import IdentificationCancelled, Ledger, Objective
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem, Refine
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.search import MIN_EVALUATIONS, minimise
from bam_core.identification.search.space import search_space
from bam_core.servo.friction import FRICTION_MODELS
from test.core.identification_cases import mx106, record

Array = NDArray[np.float64]

SPACE = search_space(FRICTION_MODELS["m4"], [record(mx106("m1"), "sin_sin", 8.0)])
TARGET = SPACE.vectors(np.full((1, SPACE.dimension), 0.37))[0]


class Bowl:
    """Distance to a target in the space's own coordinates, with ripples; counts evaluations."""

    def __init__(self) -> None:
        self.evaluations = 0

    def __call__(self, vectors: Array) -> Array:
        self.evaluations += len(vectors)
        points = np.array([SPACE.point(vector) for vector in vectors]) - SPACE.point(TARGET)
        return np.asarray(np.abs(points).mean(axis=1) + 0.02 * (1.0 - np.cos(30.0 * points)).mean(axis=1))


def search(
    objective: Objective,
    *,
    evaluations: int,
    seed: int = 0,
    draft: Objective | None = None,
    starts: Sequence[Array] = (),
    refine: Refine | None = None,
    ledger: Ledger | None = None,
    wide: bool = False,
) -> Outcome:
    problem = Problem(
        space=SPACE, objective=objective, draft=draft or objective, refine=refine, refine_draft=refine
    )
    runner = JobRunner(problem, ledger or Ledger())
    return minimise(runner, evaluations=evaluations, seed=seed, starts=starts, wide=wide)


def test_it_finds_the_bottom_of_a_rippled_bowl() -> None:
    result = search(Bowl(), evaluations=6000, seed=1)
    assert result.error < 1e-2
    np.testing.assert_allclose(SPACE.point(result.vector), 0.37, atol=0.02)


def test_it_says_whether_it_came_to_rest_or_the_budget_ended_it() -> None:
    assert not search(Bowl(), evaluations=300, seed=1).converged
    bowl = Bowl()
    assert search(lambda vectors: bowl(vectors) + 1.0, evaluations=10000, seed=1).converged


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 137, 1000])
def test_it_spends_no_more_than_its_budget_and_counts_right(evaluations: int) -> None:
    bowl, reports = Bowl(), []
    ledger = Ledger(lambda n, best: reports.append((n, best)))
    result = search(bowl, evaluations=evaluations, ledger=ledger)
    assert result.evaluations == bowl.evaluations == reports[-1][0] <= evaluations
    counts = [count for count, _ in reports]
    assert counts == sorted(counts)
    assert result.error == Bowl()(result.vector[None])[0]


def test_the_same_seed_gives_the_same_bits_another_seed_does_not() -> None:
    first, second, other = (search(Bowl(), evaluations=600, seed=seed) for seed in (5, 5, 6))
    assert first.error == second.error
    assert first.vector.tobytes() == second.vector.tobytes()
    assert first.vector.tobytes() != other.vector.tobytes()


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 400])
def test_the_result_is_never_worse_than_a_start(evaluations: int) -> None:
    starts = list(SPACE.vectors(np.random.default_rng(0).normal(0.37, 0.01, (3, SPACE.dimension))))
    result = search(Bowl(), evaluations=evaluations, seed=0, starts=starts)
    assert result.error <= Bowl()(np.array(starts)).min()


@pytest.mark.parametrize(("height", "is_left"), [(0.0, False), (0.02, False), (0.5, True)])
def test_a_wide_search_leaves_what_its_start_leads_to_for_what_is_clearly_better(
    height: float, is_left: bool
) -> None:
    """Refinements stay where they begin; the start is as high above the bottom of the bowl as it is told."""
    bowl = Bowl()
    start = SPACE.vectors(np.full((1, SPACE.dimension), 0.9))[0]
    best = search(Bowl(), evaluations=4000, seed=0)

    def objective(vectors: Array) -> Array:
        is_start = (vectors == start).all(axis=1)
        return np.where(is_start, (1.0 + height) * (best.error + 1.0), bowl(vectors) + 1.0)

    ledger = Ledger()
    found = search(
        objective,
        evaluations=6000,
        seed=0,
        starts=[start],
        wide=True,
        ledger=ledger,
        refine=staying(objective),
    )
    assert np.array_equal(found.vector, start) is not is_left
    assert found.evaluations == ledger.spent <= 6000


def staying(objective: Objective) -> Refine:
    """Return a refinement that stays where it begins."""

    def refine(vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        spend(1)
        return Refined(vector=vector, error=float(objective(vector[None])[0]), valley=np.eye(SPACE.dimension))

    return refine


@pytest.mark.parametrize("alike", [True, False])
def test_there_are_more_approaches_until_two_lead_to_the_same_error(alike: bool) -> None:
    """Each approach ends at a bottom of its own; all are alike, or no two of them."""
    heights = np.random.default_rng(0).permutation(1000)
    bottoms: list[Array] = []

    def objective(vectors: Array) -> Array:
        known = {bottom.tobytes(): i for i, bottom in enumerate(bottoms)}
        reached = [known.get(vector.tobytes()) for vector in vectors]
        return np.array([5000.0 if i is None else 100.0 + (0 if alike else heights[i]) for i in reached])

    def slide(vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        spend(evaluations)
        bottoms.append(SPACE.vectors(np.random.default_rng(len(bottoms)).random((1, SPACE.dimension)))[0])
        return staying(objective)(bottoms[-1], 1, lambda _: None)

    refine = staying(objective)
    problem = Problem(
        space=SPACE,
        objective=objective,
        draft=objective,
        refine=refine,
        refine_draft=refine,
        short=objective,
        approach=[slide],
    )
    ledger = Ledger()
    found = minimise(JobRunner(problem, ledger), evaluations=8000, seed=0)
    assert found.converged is alike
    assert (len(bottoms) == 8) is alike
    assert found.error == objective(np.array(bottoms)).min()
    assert found.evaluations == ledger.spent <= 8000


def test_drafts_pay_for_the_search_and_the_objective_decides() -> None:
    draft, objective = Bowl(), Bowl()
    result = search(objective, evaluations=2000, seed=0, draft=lambda v: draft(v) + 1.0)
    assert result.evaluations == draft.evaluations + objective.evaluations
    assert objective.evaluations < 0.5 * draft.evaluations
    assert result.error < 0.5


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
    result = search(bowl, evaluations=3000, seed=0, refine=refine)
    assert len(spent) > 1
    assert result.evaluations == bowl.evaluations + len(spent)
    assert result.error == pytest.approx(0.0, abs=1e-9)


def test_cancelling_ends_it_at_once() -> None:
    bowl = Bowl()
    with pytest.raises(IdentificationCancelled):
        search(bowl, evaluations=6000, ledger=Ledger(cancelled=lambda: bowl.evaluations > 500))
    assert bowl.evaluations < 1000


def test_a_descent_stops_where_there_is_nothing_to_gain() -> None:
    descent = Descent(np.full(4, 0.5), step=0.1, population=8, seed=0)
    generations = 0
    while not descent.finished:
        descent.ask()
        descent.tell(np.ones(8))
        generations += 1
    assert generations < 30
    assert descent.error == 1.0


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
