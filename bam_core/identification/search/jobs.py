# SPDX-License-Identifier: Apache-2.0
"""The jobs that a search consists of, done here or by an executor.

A job is a pure function of what it is given: whoever does it gets the same outcome. So results do not depend
on who takes part, a job that is lost is done again, and what a study has on record is not done at all.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Protocol

import numpy as np

from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.search.meter import Ledger
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem, TrainingData
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.search.study import Study
from bam_core.simulation.threads import side_by_side


class Job(Protocol):
    """One piece of a search: a value that can be pickled."""

    @property
    def key(self) -> str:
        """What it is, unique in its search."""
        ...

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        """Do it, and book its evaluations."""
        ...


def random_of(seed: int, key: str) -> np.random.Generator:
    """Return the random numbers of one job: the same whoever does it, and whatever was done before."""
    return np.random.default_rng([seed, zlib.crc32(key.encode())])


class JobRunner:
    """Does the jobs of one search in this process.

    Attributes:
        problem: that is searched.
        ledger: books evaluations and decides whether to go on.
    """

    def __init__(self, problem: Problem, ledger: Ledger, study: Study | None = None) -> None:
        """Take note of what jobs are about.

        Args:
            problem: that is searched.
            ledger: books evaluations and decides whether to go on.
            study: record of this very search, where one is kept.
        """
        self.problem = problem
        self.ledger = ledger
        self._study = study

    def do(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Return the outcomes of jobs, in their order.

        Raises:
            BamError: the study cannot be written, or the executor fails.
            IdentificationCancelled: the caller has withdrawn.
        """
        done = dict(self._study.outcomes) if self._study is not None else {}
        left = [job for job in jobs if job.key not in done]
        for index, outcome in self._outcomes(left):
            done[left[index].key] = outcome
            if self._study is not None:
                self._study.add(left[index].key, outcome, self.problem.space)
        return [done[job.key] for job in jobs]

    def _outcomes(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Outcome]]:
        """Yield the index and outcome of every job as it is done."""
        calls = [partial(job.do, self.problem, self.ledger) for job in jobs]
        return side_by_side(calls, stop=self.ledger.withdraw)


class SentJobRunner(JobRunner):
    """Has an executor do the jobs of one search."""

    def __init__(
        self,
        data: Shared[TrainingData],
        space: SearchSpace,
        executor: Executor,
        ledger: Ledger,
        study: Study | None,
    ) -> None:
        """Take note of what jobs are about.

        Args:
            data: training logs.
            space: where to search.
            executor: does the jobs.
            ledger: books evaluations once their job is done, and decides whether to go on.
            study: record of this very search, where one is kept.
        """
        super().__init__(data.value.problem(space), ledger, study)
        self._data = data
        self._executor = executor

    def _outcomes(self, jobs: Sequence[Job]) -> Iterator[tuple[int, Outcome]]:
        calls = [Call(_do, self._data, (self.problem.space, job)) for job in jobs]
        for index, outcome in run_jobs(self._executor, calls, meanwhile=self.ledger.require_go):
            self.ledger.book(outcome.evaluations)
            yield index, outcome


def _do(data: TrainingData, space: SearchSpace, job: Job) -> Outcome:
    return job.do(data.problem(space), Ledger())
