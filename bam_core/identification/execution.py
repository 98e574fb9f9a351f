# SPDX-License-Identifier: Apache-2.0
"""Where an identification runs, where its results are kept, and its callbacks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of an identification.

    Attributes:
        model: label of the fit in progress, by default the name of its friction model.
        evaluation: simulations of all training logs so far, for this fit.
        evaluations: budget of such simulations; the fit may need fewer.
        best_mae: lowest training error so far, rad.
        seconds: since this fit began.
    """

    model: str
    evaluation: int
    evaluations: int
    best_mae: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where fits run, where results are kept, and callbacks for progress and cancellation.

    None of it changes a result.

    Attributes:
        executor: as of `concurrent.futures`; runs the jobs. See `bam_core.identification.executors` for those
            of a Dask cluster. None: this process runs them, on all processors.
        storage: URL of the database that keeps the outcomes of jobs, such as "sqlite:///study.db" or
            "postgresql://…". An interrupted identification resumes when it is called again with the same
            arguments. None: they are not kept.
        progress: called after evaluations in this process, and after each job of the executor.
        cancelled: called as often; if it returns True, the fit raises IdentificationCancelled.
    """

    executor: Executor | None = None
    storage: str | None = None
    progress: Callable[[Progress], None] | None = None
    cancelled: Callable[[], bool] | None = None
