# SPDX-License-Identifier: Apache-2.0
"""The stages of an identification: fits, effect ablation, diagnosis, uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from bam_core.identification.choice.effect_ablation import ablate_effects
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.fit_provenance import Origin
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.choice.selection import Selection
from bam_core.identification.data.split import Split
from bam_core.identification.execution import Execution
from bam_core.identification.fitting import Fitter
from bam_core.identification.planned_fit import Fit
from bam_core.identification.result import EFFECT_ABLATION, UNCERTAINTY, Identification
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.with_uncertainty import diagnosed, estimated, scored, with_variation
from bam_core.recordings.excluded import Excluded
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.parameters import BENCH_EFFECTS
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.short_horizon import HORIZONS, short_horizon_errors


@dataclass(frozen=True, kw_only=True)
class IdentificationTask:
    """A servo, its checked and split recordings, and how to identify it from them.

    Attributes:
        servo: with the effects to fit.
        split: training and test logs.
        folds: of the training logs, for selection; empty if there are too few.
        settings: of the identification.
        execution: of the fits.
        excluded: recordings that were given and cannot be used.
    """

    servo: ServoModel
    split: Split
    folds: Sequence[Split]
    settings: IdentifySettings
    execution: Execution
    excluded: tuple[Excluded, ...] = ()

    def stages(self, seed: int) -> Iterator[Identification]:
        """Yield the identification after every model and step, each time more complete; the last is whole.

        Args:
            seed: of the search; intervals are those of the seed of the settings.
        """
        settings, executor = self.settings, self.execution.executor
        fitter = self._fitter(self.split.train, self.execution, seed)
        evaluator = self._evaluator(seed)
        models = settings.friction_models
        optima: dict[str, Fit] = {}
        fits: dict[str, ModelFit] = {}
        effects = (EFFECT_ABLATION,) if self.servo.search.effects else ()

        def stage(*not_done: str, ablations: tuple[EffectAblation, ...] = ()) -> Identification:
            return Identification(
                servo=self.servo,
                fits=dict(fits),
                split=self.split,
                folds=tuple(self.folds),
                seed=seed,
                effects=ablations,
                not_done=not_done,
                excluded=self.excluded,
            )

        for i, model in enumerate(models):
            optima[model.name] = fitter.plan(model, trials=settings.trials).make()
            fits[model.name] = evaluator.evaluate(optima[model.name])
            yield stage(*(later.name for later in models[i + 1 :]), *effects, UNCERTAINTY)
        name = stage().chosen
        ablated: dict[str, tuple[EffectAblation, ...]] = {}
        # After a model has lost an effect, another model may have the lower selection error.
        while name not in ablated:
            optima[name], ablated[name] = ablate_effects(
                fitter,
                optima[name],
                evaluator,
                droppable=BENCH_EFFECTS if settings.effects is None else (),
                trials=settings.trials,
            )
            fits[name] = evaluator.evaluate(optima[name])
            name = stage().chosen
        ablations = ablated[name]
        fits.update(_with_short_errors(fits, self.split.test))
        yield stage(UNCERTAINTY, ablations=ablations)
        fits.update(diagnosed(fits, self.split.train, executor))
        prior = settings.prior
        known = None if prior is None else prior.spread
        fits.update(with_variation(fits, self.split.train, executor, known))
        others = settings.with_uncertainty if seed == settings.seed else ()
        wanted = {model: fits[model] for model in dict.fromkeys((name, *others))}
        for fitted, fit in estimated(wanted, self.split.train, settings.tolerances, executor):
            fits[fitted] = fit
            yield stage(UNCERTAINTY, ablations=ablations)
        fits.update(scored(stage(ablations=ablations)))
        yield stage(ablations=ablations)

    def _fitter(self, logs: Sequence[Recording], execution: Execution, seed: int, prefix: str = "") -> Fitter:
        return Fitter(
            self.servo,
            logs,
            seed=seed,
            execution=execution,
            prefix=prefix,
            method=self.settings.search,
            prior=self.settings.prior,
            schedule=self.settings.schedule,
        )

    def _evaluator(self, seed: int) -> Evaluator:
        quiet = replace(self.execution, progress=None)

        def fold_fitter(fold: Split) -> Fitter:
            return self._fitter(fold.train, quiet, seed, f"without {fold.rule}: ")

        # The errors of all sets come from the same simulation, that of `Rollout.for_servo`.
        train = Rollout(self.split.train, self.servo.firmware, RolloutSettings(integrator=INTEGRATOR))
        origin = Origin(
            split=self.split, seed=seed, tolerances=self.settings.tolerances, prior=self.settings.prior
        )
        selection = Selection(self.folds, fold_fitter) if self.folds else None
        return Evaluator(train, origin, self.servo, selection)


def _with_short_errors(fits: Mapping[str, ModelFit], test: Sequence[Recording]) -> dict[str, ModelFit]:
    """Add the errors of simulations of the test logs that restart, as `validate` computes them."""
    if not test:
        return {}
    servo = next(iter(fits.values())).servo  # all have the same firmware, integrator and quadratic rule
    vectors = np.array([parameter_vector(fit.servo, fit.bench_effects) for fit in fits.values()])
    errors = {horizon: short_horizon_errors(test, servo, vectors, horizon) for horizon in HORIZONS}
    return {
        name: replace(
            fit, test_short={horizon: fmean(rows[row].tolist()) for horizon, rows in errors.items()}
        )
        for row, (name, fit) in enumerate(fits.items())
    }
