# SPDX-License-Identifier: Apache-2.0
"""Fits friction models to one set of training logs, one after the other.

Each search also starts at the optima of those earlier models that its model contains.
"""

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
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.threads import one_blas_thread, side_by_side

# A search may end for lack of trials with some left. Fewer than the larger of these two count as none.
_MIN_TRIALS_SHARE = 0.1  # of the budget
_MIN_STEPS = 10  # Gauss-Newton steps

_STEPS_FROM_PRIOR = 40
"""Gauss-Newton steps of a descent from the typical unit at most; most take less than ten."""

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


@dataclass(frozen=True, kw_only=True)
class _Search:
    """Arguments of one search; can be pickled.

    Attributes:
        space: free parameters.
        evaluations: budget, simulations of all training logs.
        seed: of all random numbers.
        starts: (PARAMETERS,) SI each.
        local: whether to search only about the starts.
        wide: whether the starts may be far from the optimum; see `gauss_newton_search.minimise`.
        steps: largest number of Gauss-Newton steps of a single descent, for any method; None: a full search.
        method: of search, one of METHODS.
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
        """Return whether the outcome leaves too few evaluations to continue the search."""
        needed = max(_MIN_TRIALS_SHARE * self.evaluations, evaluations_for(self.space.dimension, _MIN_STEPS))
        return self.evaluations - outcome.evaluations < needed

    def run(self, runner: JobRunner) -> Outcome:
        with one_blas_thread():
            if self.steps is not None:
                (start,) = self.starts
                outcome = descend_from(runner, start, self.evaluations)
                return replace(outcome, converged=not self.is_spent(outcome))
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
    """A fit that has not run yet; see `Fitter.plan`."""

    fitter: Fitter
    model: FrictionModel
    effects: tuple[str, ...]
    search: _Search
    limited: bool
    label: str

    def make(self, ledger: Ledger | None = None) -> Fit:
        """Run the search and return the fit; a study in the storage is resumed.

        The fitter keeps the optimum as a start for later plans, unless the search is local.

        Args:
            ledger: counts the evaluations; None: a new one, which also reports progress.
        """
        begin = time.monotonic()
        fitter, execution, study = self.fitter, self.fitter.execution, self._study()
        ledger = ledger or Ledger(self._report(begin), execution.cancelled)
        outcome = study.outcomes.get(_WHOLE_SEARCH) if study is not None else None
        if outcome is None:
            space = self.search.space
            outcome = self.search.run(
                JobRunner(fitter.data.problem(space), ledger, study)
                if execution.executor is None
                else SentJobRunner(fitter._shared, space, execution.executor, ledger, study)
            )
        return self._finish(outcome, time.monotonic() - begin)

    def _finish(self, outcome: Outcome, seconds: float) -> Fit:
        """Return the fit; keep its optimum in the fitter, unless the search was local."""
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
        """Open the study of this search; None without storage.

        The digest in its name covers everything that could change the outcome of the search.
        """
        fitter, search = self.fitter, self.search
        prior = search.space.prior
        if fitter.execution.storage is None:
            return None
        inputs = (
            __version__,
            _SEARCH_VERSION,
            replace(fitter.servo, uncertainty={}).to_yaml(),
            sorted(log.sha256 for log in fitter.data.recordings),
            search.space.axes,
            None if prior is None else (prior.mean.tolist(), prior.precision.tolist()),
            search.evaluations,
            search.seed,
            search.local,
            search.wide,
            search.steps,
            search.method,
            fitter.data.schedule,
            [start.tolist() for start in search.starts],
        )
        digest = hashlib.sha256(repr(inputs).encode()).hexdigest()[:12]
        name = f"bam {fitter.servo.name} {self.label} {digest}"
        return open_study(name, fitter.execution.storage, method=search.method)


class Fitter:
    """Fits friction models to training logs and keeps their optima as starts for later models.

    Attributes:
        servo: gives firmware, search ranges and default effects.
        data: the training logs.
        execution: where fits run.
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
        prior: UnitPrior | None = None,
    ) -> None:
        """Keep the logs and settings; no fit runs yet.

        Args:
            servo: gives firmware, search ranges and default effects.
            train: training logs.
            seed: of every search.
            execution: where fits run; default: in this process, without storage.
            prefix: put before every label in progress reports.
            method: of search, one of METHODS.
            schedule: settings of the Gauss-Newton search; CMA-ES uses its budgets and simulation steps.
            prior: of the units of this servo's type: every fit is a descent from there.

        Raises:
            UnknownName: no search method has this name.
        """
        self.servo = servo
        self.data = TrainingData(train, servo.firmware, schedule)
        self._method = require_method(method)
        self._prior = prior
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
        """Plan a refit to these training logs, which starts at a fit to other logs.

        Args:
            fit: gives model, effects and start.
            steps: Gauss-Newton steps at most.
        """
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

        The search also starts at the optima of earlier models that this model contains. So its training
        error is never higher than theirs.

        Args:
            model: of friction.
            trials: budget, simulations of all training logs; default by the schedule.
            effects: names of the effects to fit; default: the servo's.
            starts: (PARAMETERS,) SI each. They replace the optima of earlier models, and the search stays
                local.
            label: of the fit in progress reports; default: the model's name.
        """
        chosen = self.servo.search.effects if effects is None else effects
        if self._prior is not None:
            return self._plan_from(self._prior, model, chosen, starts, label)
        space = search_space(model, self.data.recordings, self.servo.search.ranges, chosen)
        contained = [name for name in self._optima if is_nested(FRICTION_MODELS[name], model)]
        optima = [self._optima[name] for name in contained]
        schedule = self.data.schedule
        near = [
            name for name in contained if added_terms(FRICTION_MODELS[name], model) <= schedule.near_terms
        ]
        wide = bool(contained) and not near
        per_parameter = schedule.trials_per_parameter if starts or contained else 0
        if wide or not per_parameter:
            per_parameter += schedule.cold_trials_per_parameter
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
                starts=tuple(space.vectors(space.point(start)[None])[0] for start in starts) or tuple(optima),
                local=bool(starts),
                wide=wide,
                method=self._method,
            ),
            limited=budget < default,
            label=self._prefix + (label or model.name),
        )

    def _plan_from(
        self,
        prior: UnitPrior,
        model: FrictionModel,
        effects: Sequence[str],
        starts: Sequence[Array],
        label: str | None,
    ) -> PlannedFit:
        """Plan the descent from the typical unit of a prior, or from a start, to the most probable unit."""
        ranges = {**self.servo.search.ranges, **prior.ranges}
        space = prior.over(search_space(model, self.data.recordings, ranges, effects))
        start = starts[0] if len(starts) else prior.start(space)
        return PlannedFit(
            fitter=self,
            model=model,
            effects=tuple(effects),
            search=_Search(
                space=space,
                evaluations=evaluations_for(space.dimension, _STEPS_FROM_PRIOR),
                seed=self._seed,
                starts=(space.vectors(space.point(start)[None])[0],),
                local=bool(len(starts)),
                steps=_STEPS_FROM_PRIOR,
                method=self._method,
            ),
            limited=False,
            label=self._prefix + (label or model.name),
        )


def fit_all(planned: Sequence[PlannedFit]) -> list[Fit]:
    """Run independent fits and return them in the given order.

    With an executor, each fit is one job of it. Without executor and storage, each has its own thread. With a
    storage alone, they run one after the other.

    Args:
        planned: their fitters share one execution.
    """
    if not planned:
        return []
    execution = planned[0].fitter.execution
    if execution.executor is None and execution.storage is None and len(planned) > 1:
        return _fit_in_threads(planned)
    if execution.executor is None or len(planned) == 1:
        return [plan.make() for plan in planned]
    begin = time.monotonic()
    studies = [plan._study() for plan in planned]
    outcomes = [None if study is None else study.outcomes.get(_WHOLE_SEARCH) for study in studies]
    missing = [index for index, outcome in enumerate(outcomes) if outcome is None]
    calls = [Call(_do_search, planned[index].fitter._shared, (planned[index].search,)) for index in missing]
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
    ledgers = [Ledger(cancelled=plan.fitter.execution.cancelled) for plan in planned]
    for plan in planned:
        plan.fitter.data.problem(plan.search.space)  # packs the logs once, before all threads would do it

    def stop() -> None:
        for ledger in ledgers:
            ledger.withdraw()

    fits: dict[int, Fit] = {}
    calls = [partial(plan.make, ledger) for plan, ledger in zip(planned, ledgers, strict=True)]
    for index, fit in side_by_side(calls, stop=stop):
        fits[index] = fit
        planned[index]._report(begin)(fit.result.evaluations, fit.result.error)
    return [fits[index] for index in range(len(planned))]


def _do_search(data: TrainingData, search: _Search) -> Outcome:
    return search.run(JobRunner(data.problem(search.space), Ledger()))
