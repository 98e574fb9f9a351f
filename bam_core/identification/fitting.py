# SPDX-License-Identifier: Apache-2.0
"""Fits of friction models to one set of training logs, each of which helps the next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from bam_core._version import __version__
from bam_core.arrays import Array
from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.search.cma_es import minimise_by_cma_es
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.gauss_newton_search import descend_from, minimise
from bam_core.identification.search.jobs import JobRunner, SentJobRunner
from bam_core.identification.search.meter import Ledger, Report
from bam_core.identification.search.methods import CMA_ES, DEFAULT_METHOD, require_method
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.problem import TrainingData
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.search.space import SearchSpace, added_terms, is_nested, search_space
from bam_core.identification.search.study import Study, open_study
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.threads import one_blas_thread, side_by_side

_LEFT = 0.1  # of its trials: what the last part of a search may leave where it ends for lack of them,
_LEFT_STEPS = 10  # or what so many steps would take, where that is more

_REVISION = 4  # of the search: what another one has kept in a study is not gone on with


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where an identification stands.

    Attributes:
        model: being fitted.
        evaluation: simulations of all training logs done for it.
        evaluations: planned for it; it may do with fewer.
        best_mae: lowest training error so far, rad.
        seconds: spent on this model.
    """

    model: str
    evaluation: int
    evaluations: int
    best_mae: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where fits are made, and who is told.

    Attributes:
        executor: does the jobs; None: this process does.
        storage: URL of the database that keeps what jobs have found; None: none does.
        progress: called after every generation that this process evaluates, and after jobs that others do.
        cancelled: asked as often.
    """

    executor: Executor | None = None
    storage: str | None = None
    progress: Callable[[Progress], None] | None = None
    cancelled: Callable[[], bool] | None = None


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The optimum of one friction model with some effects.

    Attributes:
        model: of friction.
        effects: that were free.
        space: that was searched.
        result: of the search.
        seconds: that it took.
        budget: simulations of all training logs that the search was allowed.
        method: of search, one of METHODS.
        limited: it was given fewer trials than it takes by default.
        spent: it took so many of those that it was given that it could not go on.
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


@dataclass(frozen=True, kw_only=True)
class _Search:
    """What is searched, and how; can be pickled.

    With `steps` it is a descent by so many Gauss-Newton steps, whatever the method.
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
        """Tell whether too few evaluations are left to go on with."""
        least = max(_LEFT * self.evaluations, evaluations_for(self.space.dimension, _LEFT_STEPS))
        return self.evaluations - outcome.evaluations < least

    def run(self, runner: JobRunner) -> Outcome:
        with one_blas_thread():
            if self.steps is not None:
                (start,) = self.starts
                return descend_from(runner, start, self.evaluations)
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


@dataclass(frozen=True, kw_only=True)
class PlannedFit:
    """A fit that is not made yet; see `Fitter.plan`."""

    fitter: Fitter
    model: FrictionModel
    effects: tuple[str, ...]
    search: _Search
    limited: bool
    label: str

    def make(self, ledger: Ledger | None = None) -> Fit:
        """Make the fit: its rounds of jobs one after the other.

        Args:
            ledger: books its evaluations; None: one that reports them.
        """
        begin = time.monotonic()
        fitter, execution, study = self.fitter, self.fitter.execution, self._study()
        ledger = ledger or Ledger(self._report(begin), execution.cancelled)
        outcome = study.outcomes.get(_WHOLE) if study is not None else None
        if outcome is None:
            space = self.search.space
            outcome = self.search.run(
                JobRunner(fitter.data.problem(space), ledger, study)
                if execution.executor is None
                else SentJobRunner(fitter._shared, space, execution.executor, ledger, study)
            )
        return self._made(outcome, time.monotonic() - begin)

    def _made(self, outcome: Outcome, seconds: float) -> Fit:
        if not self.search.local:
            self.fitter._optima[self.model.name] = outcome.vector
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
        progress = self.fitter.execution.progress

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
        """Open the record of this very search: its name differs wherever the search could."""
        fitter, search = self.fitter, self.search
        if fitter.execution.storage is None:
            return None
        everything = (
            __version__,
            _REVISION,
            replace(fitter.servo, uncertainty={}).to_yaml(),
            sorted(log.sha256 for log in fitter.data.recordings),
            search.space.axes,
            search.evaluations,
            search.seed,
            search.local,
            search.wide,
            search.steps,
            search.method,
            fitter.data.schedule,
            [start.tolist() for start in search.starts],
        )
        digest = hashlib.sha256(repr(everything).encode()).hexdigest()[:12]
        name = f"bam {fitter.servo.name} {self.label} {digest}"
        return open_study(name, fitter.execution.storage, method=search.method)


class Fitter:
    """Fits friction models to training logs and remembers their optima.

    Attributes:
        servo: whose firmware, search bounds and effects count.
        data: the training logs.
        execution: where fits are made.
    """

    def __init__(
        self,
        servo: ServoModel,
        train: Sequence[Recording],
        *,
        seed: int,
        execution: Execution | None = None,
        prefix: str = "",
        method: str = DEFAULT_METHOD,
        schedule: SearchSchedule = DEFAULT_SCHEDULE,
    ) -> None:
        """Take note of the logs.

        Args:
            servo: whose firmware, search bounds and effects count.
            train: logs.
            seed: of every search.
            execution: where fits are made; default here, without a record.
            prefix: of what progress calls its models.
            method: of search, one of METHODS.
            schedule: of the Gauss-Newton search; both methods take its budgets and steps.

        Raises:
            UnknownName: there is no such method.
        """
        self.servo = servo
        self.data = TrainingData(train, servo.firmware, schedule)
        self._method = require_method(method)
        self.execution = execution or Execution()
        self._shared = Shared(self.data)
        self._seed = seed
        self._prefix = prefix
        self._optima: dict[str, Array] = {}

    @property
    def rollout(self) -> Rollout:
        """Simulates the training logs."""
        return self.data.rollout

    def plan_descent(self, fit: Fit, steps: int) -> PlannedFit:
        """Plan to go on from a fit to other logs, by so many Gauss-Newton steps at most."""
        planned = self.plan(fit.model, effects=fit.effects, starts=[fit.vector])
        search = replace(planned.search, evaluations=evaluations_for(fit.space.dimension, steps), steps=steps)
        return replace(planned, search=search)

    def plan(
        self,
        model: FrictionModel,
        *,
        trials: int | None = None,
        effects: Sequence[str] | None = None,
        starts: Sequence[Array] = (),
        label: str | None = None,
    ) -> PlannedFit:
        """Plan a fit, for `PlannedFit.make` or `fit_all`.

        A model that contains an earlier one starts from that one's optimum as well, so that its training
        error is never the higher one.

        Args:
            model: of friction.
            trials: simulations of all training logs that it may take.
            effects: to fit besides; default the servo's.
            starts: vectors to start from instead of earlier optima: then there is no search all over the
                space.
            label: what progress calls it; default the model's name.
        """
        chosen = self.servo.search.effects if effects is None else effects
        space = search_space(model, self.data.recordings, self.servo.search.ranges, chosen)
        inner = [name for name in self._optima if is_nested(FRICTION_MODELS[name], model)]
        earlier = [self._optima[name] for name in inner]
        schedule = self.data.schedule
        near = [name for name in inner if added_terms(FRICTION_MODELS[name], model) <= schedule.near_terms]
        wide = bool(inner) and not near
        warm = schedule.trials_per_parameter if starts or inner else 0
        per_parameter = warm + (schedule.cold_trials_per_parameter if wide or not warm else 0)
        default = per_parameter * space.dimension
        budget = trials or default
        return PlannedFit(
            fitter=self,
            model=model,
            effects=tuple(chosen),
            search=_Search(
                space=space,
                evaluations=budget,
                seed=self._seed,
                starts=tuple(space.vectors(space.point(start)[None])[0] for start in starts)
                or tuple(earlier),
                local=bool(starts),
                wide=wide,
                method=self._method,
            ),
            limited=budget < default,
            label=self._prefix + (label or model.name),
        )


def fit_all(planned: Sequence[PlannedFit]) -> list[Fit]:
    """Make fits that do not depend on each other: side by side here, or each as one job of the executor.

    Args:
        planned: of fitters with the same execution.
    """
    if not planned:
        return []
    execution = planned[0].fitter.execution
    if execution.executor is None and execution.storage is None and len(planned) > 1:
        return _made_here(planned)
    if execution.executor is None or len(planned) == 1:
        return [each.make() for each in planned]
    begin = time.monotonic()
    studies = [each._study() for each in planned]
    outcomes = [None if study is None else study.outcomes.get(_WHOLE) for study in studies]
    left = [index for index, outcome in enumerate(outcomes) if outcome is None]
    calls = [Call(_do_search, planned[index].fitter._shared, (planned[index].search,)) for index in left]
    withdrawn = Ledger(cancelled=execution.cancelled).require_go
    for at, outcome in run_jobs(execution.executor, calls, meanwhile=withdrawn):
        index = left[at]
        each, study, outcomes[index] = planned[index], studies[index], outcome
        if study is not None:
            study.add(_WHOLE, outcome, each.search.space)
        each._report(begin)(outcome.evaluations, outcome.error)
    seconds = time.monotonic() - begin
    return [
        each._made(outcome, seconds)
        for each, outcome in zip(planned, outcomes, strict=True)
        if outcome is not None
    ]


def _made_here(planned: Sequence[PlannedFit]) -> list[Fit]:
    """Make fits side by side in this process; each is reported when it is made."""
    begin = time.monotonic()
    ledgers = [Ledger(cancelled=each.fitter.execution.cancelled) for each in planned]
    for each in planned:
        each.fitter.data.problem(each.search.space)  # packs once what each thread would pack

    def stop() -> None:
        for ledger in ledgers:
            ledger.withdraw()

    made: dict[int, Fit] = {}
    calls = [partial(each.make, ledger) for each, ledger in zip(planned, ledgers, strict=True)]
    for index, fit in side_by_side(calls, stop=stop):
        made[index] = fit
        planned[index]._report(begin)(fit.result.evaluations, fit.result.error)
    return [made[index] for index in range(len(planned))]


def _do_search(data: TrainingData, search: _Search) -> Outcome:
    return search.run(JobRunner(data.problem(search.space), Ledger()))


_WHOLE = "search"  # name, in a study, of a whole search that an executor has done as one job
