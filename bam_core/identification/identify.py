# SPDX-License-Identifier: Apache-2.0
"""From recordings to servo models: what `bam identify` and the node `identification` both call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np

from bam_core.errors import Missing, OutOfRange, UnknownName
from bam_core.identification.choice.effect_ablation import ablate_effects
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.fit_provenance import Origin
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.choice.selection import Selection
from bam_core.identification.data.data_warnings import (
    gain_warnings,
    missing_channels,
    require_temperature,
    scarcity,
)
from bam_core.identification.data.folds import selection_folds
from bam_core.identification.data.same_servo import require_same_servo
from bam_core.identification.data.screening import require_inertia, require_informative, require_torque
from bam_core.identification.data.split import Split, left_out, split_recordings
from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.fitting import Execution, Fit, Fitter, Progress
from bam_core.identification.misfit.diagnosis import diagnose
from bam_core.identification.result import (
    EFFECT_ABLATION,
    OTHER_SEEDS,
    UNCERTAINTY,
    Identification,
    SeedResult,
)
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.search.methods import DEFAULT_METHOD, MIN_EVALUATIONS, require_method
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.uncertainty.advice import advisor
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.uncertainty.uncertainty import estimate_uncertainty
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import resolve_effects
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel, friction_model
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.parameters import BENCH_EFFECTS
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.short_horizon import HORIZONS, short_horizon_errors
from bam_core.simulation.threads import one_blas_thread, side_by_side
from bam_core.text.finding import log_findings

log = logging.getLogger(__name__)

_MAX_SEED = 2**32 - 1


def identify(
    recordings: Sequence[Recording],
    servo: ServoLike,
    models: str | Iterable[str],
    *,
    search: str = DEFAULT_METHOD,
    trials: int | None = None,
    seed: int = 0,
    seeds: int = 1,
    test: str | Sequence[Recording] | None = None,
    effects: Iterable[str] | None = None,
    uncertainty: str | Iterable[str] = (),
    tolerances: Tolerances = DEFAULT,
    storage: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    interrupted: Callable[[Identification], None] | None = None,
    schedule: SearchSchedule = DEFAULT_SCHEDULE,
) -> Identification:
    """Find motor constants and friction parameters that make the simulation follow the training logs.

    What is minimised is the mean over training logs of the mean absolute position error in closed loop (BAM
    section V-B). A model that contains a simpler one that is also asked for starts from the simpler one's
    optimum as well, so that its training error is never the higher one. The same arguments give the same
    numbers on the same kind of processor with the same packages, whoever does the work.

    Args:
        recordings: of one servo, two at least.
        servo: model, library name or file; its firmware and search bounds count, its parameters do not.
        models: "all", or names of friction models.
        search: "gauss-newton" (`search.gauss_newton_search`) or "cma-es", the method of BAM's authors
            (`search.cma_es`). Both have the same budget and objective. With both, selection goes on from a
            fit to fewer logs by Gauss-Newton steps.
        trials: at most this many simulations of all training logs per search, those with coarser steps
            included; at least MIN_EVALUATIONS. There is one search per model, and of the chosen one another
            without each of its effects; where it loses some, its `ModelFit.trials` are those of both.
            Default: `SearchSchedule.trials_per_parameter` per free parameter, more for a model with no
            simpler one near to start from.
        seed: of the search and of a random split, 0 to 2³² - 1.
        seeds: how many times to search and choose, each with the next seed and the same test logs. The first
            one is the result; what the others chose and how far they are off is in `Identification.seeds`.
        test: which logs no fit and no decision sees, see `split.split_recordings`; by default a random
            quarter from `split.ENOUGH` logs on.
        effects: which of `effects.EFFECTS` to fit besides motor and friction; default those that the servo
            names, of which those of the bench are dropped that do not lower the error of the chosen model in
            selection. Those of the servo stay: at other gains than the logs have they may be needed.
        uncertainty: "all", or names of models: whose parameters get standard errors and intervals besides
            those of the chosen model, which always does.
        tolerances: of the bench: how far headers may be off, which intervals allow for.
        storage: URL of a database, such as "sqlite:///study.db" or "postgresql://…", that keeps what the
            search has found: an identification that was ended goes on from there when it is called again with
            the same arguments. Default: none is kept.
        executor: as of `concurrent.futures`; does the work in jobs, with the same results. See
            `bam_core.identification.executors` for those of a Dask cluster. Default: this process does, on
            all processors.
        progress: called after every generation.
        cancelled: asked before every generation.
        interrupted: called with the models that are finished, if there are any, where `cancelled` or
            KeyboardInterrupt ends the identification; their `Identification.not_done` is not empty.
        schedule: settings of the search; for studies.

    Raises:
        IdentificationCancelled: `cancelled` said so.
        KeyboardInterrupt: Ctrl-C.
        BamError: the storage cannot be used, a model, effect or search is unknown, a number out of range, the
            recordings are of another servo or tell nothing of it (see `screening`), or the split leaves
            nothing on one side.
    """
    servo = load_servo(servo)
    require_method(search)
    chosen = resolve_models(models)
    estimated = _among(uncertainty, [model.name for model in chosen])
    if trials is not None and trials < MIN_EVALUATIONS:
        raise OutOfRange(
            "trials", trials, f"at least {MIN_EVALUATIONS}", advice="leave it out for the default"
        )
    if seeds < 1:
        raise OutOfRange("seeds", seeds, "at least 1")
    if not 0 <= seed <= _MAX_SEED - seeds + 1:
        raise OutOfRange("seed", seed, f"0 to {_MAX_SEED - seeds + 1}")
    given = [] if test is None or isinstance(test, str) else test
    require_same_servo(servo, (*recordings, *given))
    require_informative(servo, (*recordings, *given))
    split = split_recordings(recordings, test, seed=seed)
    require_torque(split.train)
    require_inertia(split.train)
    folds = selection_folds(split.train, left_out(split.rule))
    if effects is not None:
        servo = replace(servo, search=replace(servo.search, effects=resolve_effects(effects)))
    _log_warnings(servo, split, folds)

    execution = Execution(executor=executor, storage=storage, progress=progress, cancelled=cancelled)

    def stages(seed: int, intervals: _Intervals) -> Iterator[Identification]:
        def fitter_of(logs: Sequence[Recording], where: Execution, prefix: str = "") -> Fitter:
            return Fitter(
                servo, logs, seed=seed, execution=where, prefix=prefix, method=search, schedule=schedule
            )

        quiet = replace(execution, progress=None)

        def fold_fitter(fold: Split) -> Fitter:
            return fitter_of(fold.train, quiet, f"without {fold.rule}: ")

        fitter = fitter_of(split.train, execution)
        selection = Selection(folds, fold_fitter) if folds else None
        # Errors of all sets are told by the same simulation, that of `Rollout.for_servo`.
        train = Rollout(split.train, firmware=servo.firmware, integrator=INTEGRATOR)
        origin = Origin(split=split, seed=seed, tolerances=tolerances)
        evaluator = Evaluator(train, origin, servo, selection)
        droppable = BENCH_EFFECTS if effects is None else ()
        return _stages(fitter, evaluator, split, folds, seed, chosen, trials, intervals, droppable)

    finished: Identification | None = None
    try:
        for stage in stages(seed, _Intervals(tuple(estimated), tolerances)):
            finished = stage if seeds == 1 else replace(stage, not_done=(*stage.not_done, OTHER_SEEDS))
        assert finished is not None  # there is one model at least
        if seeds > 1:
            others = [_told(stages(seed + i, _Intervals((), tolerances))) for i in range(1, seeds)]
            finished = replace(finished, not_done=(), seeds=(finished.seed_result, *others))
    except (KeyboardInterrupt, IdentificationCancelled):
        if finished is not None and interrupted is not None:
            interrupted(finished)
        raise
    return finished


def _told(stages: Iterator[Identification]) -> SeedResult:
    """Return what another seed leads to; intervals are those of the first."""
    return next(stage for stage in stages if stage.not_done == (UNCERTAINTY,)).seed_result


@dataclass(frozen=True, kw_only=False)
class _Intervals:
    """Which models get intervals besides the chosen one, and what these allow for."""

    models: tuple[str, ...]
    tolerances: Tolerances


def _stages(
    fitter: Fitter,
    evaluator: Evaluator,
    split: Split,
    folds: Sequence[Split],
    seed: int,
    models: Sequence[FrictionModel],
    trials: int | None,
    intervals: _Intervals,
    droppable: Sequence[str],
) -> Iterator[Identification]:
    """Yield the identification after every model and step, each time more complete; the last one is whole."""
    servo, executor = fitter.servo, fitter.execution.executor
    found: dict[str, Fit] = {}
    fits: dict[str, ModelFit] = {}
    effects = (EFFECT_ABLATION,) if servo.search.effects else ()

    def stage(*not_done: str, ablations: tuple[EffectAblation, ...] = ()) -> Identification:
        return Identification(
            servo=servo,
            fits=dict(fits),
            split=split,
            folds=tuple(folds),
            seed=seed,
            effects=ablations,
            not_done=not_done,
        )

    for i, model in enumerate(models):
        found[model.name] = fitter.plan(model, trials=trials).make()
        fits[model.name] = evaluator.evaluate(found[model.name])
        yield stage(*(later.name for later in models[i + 1 :]), *effects, UNCERTAINTY)
    name = stage().chosen
    ablated: dict[str, tuple[EffectAblation, ...]] = {}
    # A model that has lost an effect meets the others anew, and may have to give way to one of them.
    while name not in ablated:
        found[name], ablated[name] = ablate_effects(
            fitter, found[name], evaluator, droppable=droppable, trials=trials
        )
        fits[name] = evaluator.evaluate(found[name])
        name = stage().chosen
    ablations = ablated[name]
    fits.update(_with_short_errors(fits, split.test))
    yield stage(UNCERTAINTY, ablations=ablations)
    fits.update(_diagnosed(fits, split.train, executor))
    wanted = {each: fits[each] for each in dict.fromkeys((name, *intervals.models))}
    for each, model_fit in _estimated(wanted, split.train, intervals.tolerances, executor):
        fits[each] = model_fit
        yield stage(UNCERTAINTY, ablations=ablations)
    yield stage(ablations=ablations)


def _with_short_errors(fits: Mapping[str, ModelFit], test: Sequence[Recording]) -> dict[str, ModelFit]:
    """Add the errors of simulations of the test logs that restart, as `validate` computes them."""
    if not test:
        return {}
    servo = next(iter(fits.values())).servo  # firmware, integrator and quadratic rule are those of all
    vectors = np.array([parameter_vector(fit.servo, fit.bench_effects) for fit in fits.values()])
    errors = {horizon: short_horizon_errors(test, servo, vectors, horizon) for horizon in HORIZONS}
    return {
        name: replace(
            fit, test_short={horizon: fmean(each[row].tolist()) for horizon, each in errors.items()}
        )
        for row, (name, fit) in enumerate(fits.items())
    }


def _log_warnings(servo: ServoModel, split: Split, folds: Sequence[Split]) -> None:
    require_temperature(split.logs, servo.search.effects)
    findings = (
        *missing_channels(split.logs, servo.search.effects),
        *gain_warnings(servo, split.logs),
        *scarcity(len(split.train), len(split.test), len(folds)),
    )
    log_findings(log, findings)


def with_uncertainty(
    identification: Identification,
    models: str | Iterable[str] = "all",
    *,
    tolerances: Tolerances = DEFAULT,
    executor: Executor | None = None,
) -> Identification:
    """Return an identification with standard errors and intervals of the parameters of these models, too.

    Args:
        identification: complete or not.
        models: "all", or names of models that were fitted.
        tolerances: as of `identify`.
        executor: as of `identify`.

    Raises:
        BamError: a model is unknown or was not fitted.
    """
    fits = dict(identification.fits)
    wanted = {name: fits[name] for name in _among(models, list(fits))}
    fits.update(_estimated(wanted, identification.split.train, tolerances, executor))
    return replace(identification, fits=fits)


def _among(models: str | Iterable[str], fitted: Sequence[str]) -> list[str]:
    """Return which of the fitted models are named; "all" stands for all of them."""
    names = [models] if isinstance(models, str) else list(models)
    named = fitted if "all" in names else [name.strip().lower() for name in names]
    for name in named:
        if name not in fitted:
            raise UnknownName("fitted model", name, fitted, advice="or fit it, too")
    return list(named)


def _diagnosed(
    fits: Mapping[str, ModelFit], recordings: Sequence[Recording], executor: Executor | None
) -> Iterator[tuple[str, ModelFit]]:
    """Add what each fit leaves over of its training logs."""
    return _each(_with_diagnosis, fits, recordings, executor)


def _estimated(
    fits: Mapping[str, ModelFit],
    recordings: Sequence[Recording],
    tolerances: Tolerances,
    executor: Executor | None,
) -> Iterator[tuple[str, ModelFit]]:
    """Add the uncertainty of the parameters of each fit; one log alone tells nothing about it."""
    if len(recordings) < 2:
        return iter(())
    unknown = {name: fit for name, fit in fits.items() if fit.uncertainty is None}
    return _each(partial(_with_uncertainty, tolerances=tolerances), unknown, recordings, executor)


def _each(
    work: Callable[[Sequence[Recording], ModelFit], ModelFit],
    fits: Mapping[str, ModelFit],
    recordings: Sequence[Recording],
    executor: Executor | None,
) -> Iterator[tuple[str, ModelFit]]:
    """Do the same to fits, side by side, and return each as it is done."""
    names = list(fits)
    if executor is None:
        done = side_by_side([partial(work, recordings, fits[name]) for name in names])
    else:
        shared = Shared(recordings)
        done = run_jobs(executor, [Call(work, shared, (fits[name],)) for name in names])
    yield from ((names[index], fit) for index, fit in done)


def _with_diagnosis(recordings: Sequence[Recording], fit: ModelFit) -> ModelFit:
    with one_blas_thread():
        return replace(fit, diagnosis=diagnose(fit.servo, recordings, fit.space, fit.bench_effects))


def _with_uncertainty(recordings: Sequence[Recording], fit: ModelFit, *, tolerances: Tolerances) -> ModelFit:
    with one_blas_thread():
        uncertainty = estimate_uncertainty(
            fit.servo,
            recordings,
            fit.space,
            fit.bench_effects,
            advise=advisor(fit.servo, recordings, fit.space),
            tolerances=tolerances,
            misfit=fit.diagnosis.shifts if fit.diagnosis is not None else None,
        )
    errors = uncertainty.standard_errors()
    own = {name: error for name, error in errors.items() if name not in BENCH_EFFECTS}
    return replace(fit, servo=replace(fit.servo, uncertainty=own), uncertainty=uncertainty)


def resolve_models(models: str | Iterable[str]) -> tuple[FrictionModel, ...]:
    """Return friction models by name, each once, from M1 to M6; "all" stands for all six.

    Raises:
        BamError: a name is unknown, or there is none.
    """
    names = [models] if isinstance(models, str) else list(models)
    if "all" in names:
        return tuple(FRICTION_MODELS.values())
    found = {friction_model(name.strip().lower()).name for name in names}
    if not found:
        raise Missing("model", f"all, or some of {', '.join(FRICTION_MODELS)}", advice="name some")
    return tuple(model for name, model in FRICTION_MODELS.items() if name in found)
