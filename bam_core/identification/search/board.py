# SPDX-License-Identifier: Apache-2.0
"""The board on which a search posts its jobs: done here, or by any worker that shares the storage.

A job is a pure function of its key: whoever does it gets the same outcome. So workers need no master. Each
runs the whole search; where it comes to a round of jobs it takes those nobody has taken, waits for the rest,
and goes on with everybody's outcomes. A worker that dies leaves its job to the others, and a search that was
ended goes on from what the storage holds. Jobs are trials of an Optuna study, so that its tools can look on.

The trial that holds a job is the one of lowest number that did not fail. Numbers are given out one by one, so
a job has one holder, and one outcome for all workers, even where their arithmetic differs in the last digit.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bam_core.errors import BamError
from bam_core.identification.search.storage import Study, TrialOver

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

Array = NDArray[np.float64]

_SIGN = 2.0  # s between the signs of life of a worker at a job
_GRACE = 10.0  # s without one, after which others take the job
_LOOK = 0.2  # s between looks at what others have finished


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a job found.

    Attributes:
        vector: (PARAMETERS,) SI.
        error: of the objective that the job looked at.
        evaluations: simulations of all training logs that it took.
        valley: (dimension, dimension) as in `refine.Refined`, where the job knows it.
        settled: it ended because nothing led further down.
    """

    vector: Array
    error: float
    evaluations: int
    valley: Array | None = None
    settled: bool = False


@dataclass(frozen=True, kw_only=True)
class Job:
    """One piece of a search.

    Attributes:
        key: what it is, unique in its study.
        work: does it; the same outcome whenever and wherever.
    """

    key: str
    work: Callable[[], Outcome]


class JobBoard:
    """The jobs of one search, in one study."""

    def __init__(self, study: Study) -> None:
        """Wrap a study that holds nothing but jobs of this search."""
        self._study = study
        self._signs: dict[int, tuple[int, float]] = {}  # by trial: its last sign of life, seen since when

    def do(self, jobs: Sequence[Job], *, meanwhile: Callable[[], None] | None = None) -> list[Outcome]:
        """Return the outcomes of jobs, in their order, once all are done.

        Args:
            jobs: to do, unless they are done or others are at them.
            meanwhile: called time and again while others are at the last of them; may raise.

        Raises:
            BamError: the storage fails.
        """
        while True:
            holders = self._holders()
            done = {key: _outcome(trial) for key, trial in holders.items() if trial.state.is_finished()}
            missing = [job for job in jobs if job.key not in done]
            if not missing:
                return [done[job.key] for job in jobs]
            free = [job for job in missing if job.key not in holders]
            if free:
                self._take(free[0])
            else:
                if meanwhile is not None:
                    meanwhile()
                time.sleep(_LOOK)

    def _holders(self) -> dict[str, FrozenTrial]:
        """Return the trial that holds each job, running or complete; what the dead held is free."""
        holders: dict[str, FrozenTrial] = {}
        for trial in self._study.trials():
            if trial.state.is_finished() or self._is_alive(trial):
                holders.setdefault(trial.user_attrs["job"], trial)
        return holders

    def _is_alive(self, trial: FrozenTrial) -> bool:
        """Tell whether somebody is at a running trial; fail it where the signs of life have stopped.

        Time is this process's own: clocks of several machines may differ.
        """
        sign, now = trial.user_attrs["sign"], time.monotonic()
        last, since = self._signs.get(trial.number, (None, now))
        if sign != last:
            self._signs[trial.number] = (sign, now)
        elif now - since > _GRACE:
            self._fail(trial.number)
            return False
        return True

    def _take(self, job: Job) -> None:
        """Do a job, unless somebody was quicker to take it."""
        from optuna.trial import TrialState

        number = self._study.start({"job": job.key, "sign": 0})
        try:
            holder = self._holders().get(job.key)
            if holder is None or holder.number != number:
                self._study.finish(number, TrialState.PRUNED)
                return
            with self._signs_of_life(number):
                outcome = job.work()
            self._study.note(number, "outcome", _record(outcome))
            self._study.finish(number, TrialState.COMPLETE, outcome.error)
        except TrialOver:
            pass  # this process slept so long that others took it for dead, and the job
        except BaseException:  # Ctrl-C as well: the job is free at once
            with contextlib.suppress(BamError):
                self._fail(number)
            raise

    def _fail(self, number: int) -> None:
        from optuna.trial import TrialState

        with contextlib.suppress(TrialOver):
            self._study.finish(number, TrialState.FAIL)

    @contextlib.contextmanager
    def _signs_of_life(self, number: int) -> Iterator[None]:
        over = threading.Event()

        def give() -> None:
            for sign in itertools.count(1):
                if over.wait(_SIGN):
                    return
                # What is wrong with the storage, or that the job is lost, is told when the job is done.
                with contextlib.suppress(BamError, TrialOver):
                    self._study.note(number, "sign", sign)

        thread = threading.Thread(target=give, name="signs of life", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "vector": outcome.vector.tolist(),
        "error": outcome.error,
        "evaluations": outcome.evaluations,
        "valley": None if outcome.valley is None else outcome.valley.tolist(),
        "settled": outcome.settled,
    }


def _outcome(trial: FrozenTrial) -> Outcome:
    record = trial.user_attrs["outcome"]
    return Outcome(
        vector=np.array(record["vector"]),
        error=float(record["error"]),
        evaluations=int(record["evaluations"]),
        valley=None if record["valley"] is None else np.array(record["valley"]),
        settled=bool(record["settled"]),
    )
