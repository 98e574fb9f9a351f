# SPDX-License-Identifier: Apache-2.0
"""CMA-ES with restarts: within budget, repeatable, never worse than its starts, on what counts."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.search.cma_es import CmaEsRun, Restarts, minimise_by_cma_es
from bam_core.identification.search.descent import Descent
from bam_core.identification.search.jobs import Job, JobRunner
from bam_core.identification.search.meter import IdentificationCancelled, Ledger
from bam_core.identification.search.methods import MIN_EVALUATIONS
from bam_core.identification.search.outcome import Outcome
from test.core.bowl_cases import SPACE, TARGET, Bowl, problem, staying


class Noting(JobRunner):
    """Does jobs, and notes them."""

    def __init__(self, bowl: Bowl, ledger: Ledger | None = None) -> None:
        super().__init__(problem(bowl, refine=staying(None)), ledger or Ledger())  # type: ignore[arg-type]
        self.jobs: list[Job] = []

    def do(self, jobs: list[Job]) -> list[Outcome]:  # type: ignore[override]
        self.jobs += jobs
        return super().do(jobs)

    @property
    def runs(self) -> list[CmaEsRun]:
        return [job for job in self.jobs if isinstance(job, CmaEsRun)]


def test_it_finds_the_bottom_of_a_rippled_bowl() -> None:
    result = minimise_by_cma_es(Noting(Bowl()), evaluations=6000, seed=1)
    assert result.error < 1e-2
    np.testing.assert_allclose(SPACE.point(result.vector), SPACE.point(TARGET), atol=0.02)


def test_it_has_converged_where_two_runs_come_to_the_same_error() -> None:
    early = minimise_by_cma_es(Noting(Bowl()), evaluations=300, seed=1)
    assert not early.converged
    assert early.spread > 0.005
    bowl = Bowl()
    runner = JobRunner(problem(lambda vectors: bowl(vectors) + 1.0), Ledger())
    assert minimise_by_cma_es(runner, evaluations=10000, seed=1).converged


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 137, 3000])
@pytest.mark.parametrize("starts", [0, 5])
def test_it_spends_no_more_than_its_budget_and_counts_right(evaluations: int, starts: int) -> None:
    bowl, reports = Bowl(), []
    runner = Noting(bowl, Ledger(lambda n, best: reports.append((n, best))))
    points = SPACE.vectors(np.random.default_rng(0).random((starts, SPACE.dimension)))
    result = minimise_by_cma_es(runner, evaluations=evaluations, seed=0, starts=list(points))
    assert result.evaluations == bowl.evaluations == reports[-1][0] <= evaluations
    assert result.error == Bowl()(result.vector[None])[0]


def test_the_same_seed_gives_the_same_bits_another_seed_does_not() -> None:
    first, second, other = (
        minimise_by_cma_es(Noting(Bowl()), evaluations=600, seed=seed) for seed in (5, 5, 6)
    )
    assert first.vector.tobytes() == second.vector.tobytes()
    assert first.vector.tobytes() != other.vector.tobytes()


@pytest.mark.parametrize("evaluations", [MIN_EVALUATIONS, 400])
def test_the_result_is_never_worse_than_a_start(evaluations: int) -> None:
    starts = list(SPACE.vectors(np.random.default_rng(0).normal(0.37, 0.01, (3, SPACE.dimension))))
    result = minimise_by_cma_es(Noting(Bowl()), evaluations=evaluations, seed=0, starts=starts)
    assert result.error <= Bowl()(np.array(starts)).min()


def test_runs_begin_at_the_last_start_and_then_anywhere() -> None:
    start = SPACE.vectors(np.full((1, SPACE.dimension), 0.6))[0]
    runner = Noting(Bowl())
    minimise_by_cma_es(runner, evaluations=6000, seed=0, starts=[TARGET, start])
    assert len(runner.runs) > 1
    np.testing.assert_allclose(runner.runs[0].mean, 0.6)
    means = np.array([run.mean for run in runner.runs[1:]])
    assert np.ptp(means) > 0.5


def test_a_local_search_stays_about_its_start() -> None:
    start = SPACE.vectors(np.full((1, SPACE.dimension), 0.6))[0]
    runner = Noting(Bowl())
    minimise_by_cma_es(runner, evaluations=2000, seed=0, starts=[start], local=True)
    steps = [run.step for run in runner.runs]
    assert steps == [steps[0] / 2**i for i in range(len(steps))]
    assert all(np.abs(run.mean - 0.6).max() < 0.3 for run in runner.runs)


def test_populations_double_and_small_ones_take_as_many_trials() -> None:
    restarts = Restarts(10)
    large, spent = [], {"small": 0, "large": 0}
    for uniform in np.random.default_rng(0).random(200):
        kind = "large" if restarts.population == 10 * 2 ** (len(large) + 1) and spent["small"] else "small"
        if kind == "large":
            large.append(restarts.population)
        spent[kind] += 100
        restarts.count(100, uniform)
        assert 10 <= restarts.population <= 10 * 2 ** (len(large) + 1)
    assert large[:5] == [20, 40, 80, 160, 320]
    assert abs(spent["small"] - spent["large"]) <= 100


def test_runs_search_with_coarse_steps_and_the_objective_decides() -> None:
    coarse, objective = Bowl(), Bowl()
    searched = problem(objective, error=lambda vectors: coarse(vectors) + 1.0)
    result = minimise_by_cma_es(JobRunner(searched, Ledger()), evaluations=2000, seed=0)
    assert result.evaluations == coarse.evaluations + objective.evaluations
    assert 0 < objective.evaluations < 10
    assert result.error < 0.5


def test_cancelling_ends_it_at_once() -> None:
    bowl = Bowl()
    with pytest.raises(IdentificationCancelled):
        minimise_by_cma_es(
            Noting(bowl, Ledger(cancelled=lambda: bowl.evaluations > 500)), evaluations=6000, seed=0
        )
    assert bowl.evaluations < 1000


def test_a_run_stops_where_there_is_nothing_to_gain() -> None:
    descent = Descent(np.full(4, 0.5), step=0.1, population=8, seed=0)
    generations = 0
    while not descent.finished:
        descent.ask()
        descent.tell(np.ones(8))
        generations += 1
    assert generations < 30
    assert descent.error == 1.0
