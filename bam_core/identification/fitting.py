# SPDX-License-Identifier: Apache-2.0
"""Fits friction models to one set of training logs, one after the other.

Each search also starts at the optima of those earlier models that its model contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bam_core.arrays import Array
from bam_core.identification.execution import Execution
from bam_core.identification.executors import Shared
from bam_core.identification.planned_fit import Fit, FitContext, PlannedFit
from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.methods import DEFAULT_METHOD, require_method
from bam_core.identification.search.problem import TrainingData
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.search.space import added_terms, is_nested, search_space
from bam_core.identification.search_task import SearchTask
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout

_STEPS_FROM_PRIOR = 40
"""Gauss-Newton steps of a descent from the typical unit at most; most take less than ten."""


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
        self._seed = seed
        self._prefix = prefix
        self._context = FitContext(
            servo=servo, data=self.data, shared=Shared(self.data), execution=self.execution, optima={}
        )

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
        """Plan a fit, for `PlannedFit.make` or `planned_fit.fit_all`.

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
        earlier = self._context.optima
        contained = [name for name in earlier if is_nested(FRICTION_MODELS[name], model)]
        optima = [earlier[name] for name in contained]
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
            context=self._context,
            model=model,
            effects=tuple(chosen),
            search=SearchTask(
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
            context=self._context,
            model=model,
            effects=tuple(effects),
            search=SearchTask(
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
