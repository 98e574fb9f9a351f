# SPDX-License-Identifier: Apache-2.0
"""Jobs of a round are done side by side: each once, in its own thread, and all end when one fails."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from bam_core.identification.search.jobs import JobRunner
from bam_core.identification.search.meter import IdentificationCancelled, Ledger, Meter
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import Problem
from bam_core.simulation.threads import allowed_threads, simulation_threads


@dataclass
class Booking:
    """A job that books evaluations one by one, and meets the others of its round first."""

    key: str
    together: threading.Barrier
    evaluations: int = 1000
    fails: bool = False
    threads: int = 0

    def do(self, problem: Problem, ledger: Ledger) -> Outcome:
        self.threads = allowed_threads()
        self.together.wait(60.0)  # however long a thread waits for a processor
        if self.fails:
            raise ZeroDivisionError(self.key)
        meter = Meter(self.evaluations, ledger)
        while meter.left:
            meter.spend(1)
        return Outcome(vector=np.zeros(1), error=float(self.key), evaluations=meter.spent)


def runner(ledger: Ledger) -> JobRunner:
    problem: Any = None  # jobs of this file do not look at it
    return JobRunner(problem, ledger)


def test_jobs_are_done_side_by_side_booked_in_full_and_returned_in_their_order() -> None:
    ledger, together = Ledger(), threading.Barrier(2)
    jobs = [Booking(str(i), together) for i in range(4)]
    with simulation_threads(2):
        outcomes = runner(ledger).do(jobs)
    assert [outcome.error for outcome in outcomes] == [0.0, 1.0, 2.0, 3.0]
    assert ledger.spent == 4000
    assert [job.threads for job in jobs] == [1] * 4  # the other processor is the other job's


def test_a_job_that_fails_ends_the_others() -> None:
    ledger, together = Ledger(), threading.Barrier(2)
    jobs = [Booking("0", together, fails=True), Booking("1", together, evaluations=10**9)]
    with simulation_threads(2), pytest.raises(ZeroDivisionError):
        runner(ledger).do(jobs)


def test_cancelling_ends_all() -> None:
    ledger = Ledger(cancelled=lambda: ledger.spent > 500)
    jobs = [Booking(str(i), threading.Barrier(1), evaluations=10**9) for i in range(3)]
    with simulation_threads(2), pytest.raises(IdentificationCancelled):
        runner(ledger).do(jobs)
