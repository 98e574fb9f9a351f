# SPDX-License-Identifier: Apache-2.0
"""A fit that is planned and can be run, alone or beside others."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from bam_core._version import __version__
from bam_core.arrays import Array
from bam_core.identification.execution import Execution, Progress
from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.search.jobs import JobRunner, SentJobRunner
from bam_core.identification.search.meter import Ledger, Report
from bam_core.identification.search.methods import DEFAULT_METHOD
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import TrainingData
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.search.study import Study, open_study
from bam_core.identification.search_task import SearchTask, run_task
from bam_core.servo.friction import FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.threads import side_by_side

_SEARCH_VERSION = 5  # a search never resumes a study of another version
_WHOLE_SEARCH = "search"  # key, in a study, of a search that an executor has run as one job


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The optimum of one friction model with some effects.

    Attributes:
        model: of friction.
        effects: names of the effects that were fitted.
        space: the search space.
        result: outcome of the search.
        seconds: duration of the search.
        budget: largest number of simulations of all training logs for the search.
        method: of search, one of METHODS.
        limited: whether the budget was smaller than the default one.
        spent: whether too few trials were left for the search to continue.
    """

    model: FrictionModel
    effects: tuple[str, ...]
    space: SearchSpace
    result: Outcome
    seconds: float
    budget: int
    method: str = DEFAULT_METHOD
    limited: bool = False
    spent: bool = False

    @property
    def vector(self) -> Array:
        """(PARAMETERS,) SI."""
        return self.result.vector


@dataclass(frozen=True, kw_only=True, eq=False)
class FitContext:
    """What fits to the same training logs share.

    Attributes:
        servo: that is identified.
        data: the training logs.
        shared: the same, for executors.
        execution: where fits run.
        optima: (PARAMETERS,) SI by friction model; fits write theirs, unless their search is local.
    """

    servo: ServoModel
    data: TrainingData
    shared: Shared
    execution: Execution
    optima: dict[str, Array]


@dataclass(frozen=True, kw_only=True)
class PlannedFit:
    """A fit that has not run yet; see `fitting.Fitter.plan`."""

    context: FitContext
    model: FrictionModel
    effects: tuple[str, ...]
    search: SearchTask
    limited: bool
    label: str

    def make(self, ledger: Ledger | None = None) -> Fit:
        """Run the search and return the fit; a study in the storage is resumed.

        The optimum is a start of later plans, unless the search is local.

        Args:
            ledger: counts the evaluations; None: a new one, which also reports progress.
        """
        begin = time.monotonic()
        context, execution, study = self.context, self.context.execution, self._study()
        ledger = ledger or Ledger(self._report(begin), execution.cancelled)
        outcome = study.outcomes.get(_WHOLE_SEARCH) if study is not None else None
        if outcome is None:
            space = self.search.space
            outcome = self.search.run(
                JobRunner(context.data.problem(space), ledger, study)
                if execution.executor is None
                else SentJobRunner(context.shared, space, execution.executor, ledger, study)
            )
        return self._finish(outcome, time.monotonic() - begin)

    def _finish(self, outcome: Outcome, seconds: float) -> Fit:
        """Return the fit; keep its optimum in the context, unless the search was local."""
        if not self.search.local:
            self.context.optima[self.model.name] = outcome.vector
        return Fit(
            model=self.model,
            effects=self.effects,
            space=self.search.space,
            result=outcome,
            seconds=seconds,
            budget=self.search.evaluations,
            method=self.search.method,
            limited=self.limited,
            spent=self.search.is_spent(outcome),
        )

    def _report(self, begin: float) -> Report:
        progress = self.context.execution.progress

        def report(evaluation: int, best: float) -> None:
            if progress is not None:
                progress(
                    Progress(
                        model=self.label,
                        evaluation=evaluation,
                        evaluations=self.search.evaluations,
                        best_mae=best,
                        seconds=time.monotonic() - begin,
                    )
                )

        return report

    def _study(self) -> Study | None:
        """Open the study of this search; None without storage.

        The digest in its name covers everything that could change the outcome of the search.
        """
        context, search = self.context, self.search
        prior = search.space.prior
        if context.execution.storage is None:
            return None
        inputs = (
            __version__,
            _SEARCH_VERSION,
            replace(context.servo, uncertainty={}).to_yaml(),
            sorted(log.sha256 for log in context.data.recordings),
            search.space.axes,
            None if prior is None else (prior.mean.tolist(), prior.precision.tolist()),
            search.evaluations,
            search.seed,
            search.local,
            search.wide,
            search.steps,
            search.method,
            context.data.schedule,
            [start.tolist() for start in search.starts],
        )
        digest = hashlib.sha256(repr(inputs).encode()).hexdigest()[:12]
        name = f"bam {context.servo.name} {self.label} {digest}"
        return open_study(name, context.execution.storage, method=search.method)


def fit_all(planned: Sequence[PlannedFit]) -> list[Fit]:
    """Run independent fits and return them in the given order.

    With an executor, each fit is one job of it. Without executor and storage, each has its own thread. With a
    storage alone, they run one after the other.

    Args:
        planned: they share one execution.
    """
    if not planned:
        return []
    execution = planned[0].context.execution
    if execution.executor is None and execution.storage is None and len(planned) > 1:
        return _fit_in_threads(planned)
    if execution.executor is None or len(planned) == 1:
        return [plan.make() for plan in planned]
    begin = time.monotonic()
    studies = [plan._study() for plan in planned]
    outcomes = [None if study is None else study.outcomes.get(_WHOLE_SEARCH) for study in studies]
    missing = [index for index, outcome in enumerate(outcomes) if outcome is None]
    calls = [Call(run_task, planned[index].context.shared, (planned[index].search,)) for index in missing]
    raise_if_cancelled = Ledger(cancelled=execution.cancelled).require_go
    for job, outcome in run_jobs(execution.executor, calls, meanwhile=raise_if_cancelled):
        index = missing[job]
        outcomes[index] = outcome
        plan, study = planned[index], studies[index]
        if study is not None:
            study.add(_WHOLE_SEARCH, outcome, plan.search.space)
        plan._report(begin)(outcome.evaluations, outcome.error)
    seconds = time.monotonic() - begin
    return [
        plan._finish(outcome, seconds)
        for plan, outcome in zip(planned, outcomes, strict=True)
        if outcome is not None
    ]


def _fit_in_threads(planned: Sequence[PlannedFit]) -> list[Fit]:
    """Run each fit in its own thread of this process; report each when it ends."""
    begin = time.monotonic()
    ledgers = [Ledger(cancelled=plan.context.execution.cancelled) for plan in planned]
    for plan in planned:
        plan.context.data.problem(plan.search.space)  # packs the logs once, before all threads would do it

    def stop() -> None:
        for ledger in ledgers:
            ledger.withdraw()

    fits: dict[int, Fit] = {}
    calls = [partial(plan.make, ledger) for plan, ledger in zip(planned, ledgers, strict=True)]
    for index, fit in side_by_side(calls, stop=stop):
        fits[index] = fit
        planned[index]._report(begin)(fit.result.evaluations, fit.result.error)
    return [fits[index] for index in range(len(planned))]
