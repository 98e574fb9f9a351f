# SPDX-License-Identifier: Apache-2.0
"""From recordings to servo models: what `bam identify` and the node `identification` both call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from bam_core.errors import Missing, OutOfRange, UnknownName
from bam_core.executors import Call, Shared, run_jobs
from bam_core.identification.choice.cross_validation import cross_validate
from bam_core.identification.choice.effect_ablation import ablate_effects
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.data.data_warnings import (
    gain_warnings,
    missing_channels,
    require_temperature,
    scarcity,
)
from bam_core.identification.data.same_servo import require_same_servo
from bam_core.identification.data.screening import require_informative, require_torque
from bam_core.identification.data.split import Split, leave_one_out, left_out, split_recordings
from bam_core.identification.fitting import Execution, Fit, Fitter, Progress, fit_all
from bam_core.identification.misfit.diagnosis import diagnose
from bam_core.identification.result import EFFECT_ABLATION, UNCERTAINTY, Identification
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.search.search import MIN_EVALUATIONS
from bam_core.identification.uncertainty.advice import advisor
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.uncertainty.uncertainty import Uncertainty, estimate_uncertainty
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import resolve_effects
from bam_core.servo.friction import FRICTION_MODELS, FrictionModel, friction_model
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.parameters import BENCH_EFFECTS
from bam_core.simulation.small_matrices import one_blas_thread

log = logging.getLogger(__name__)

_MAX_SEED = 2**32 - 1

_MakeFitter = Callable[[Sequence[Recording], str], Fitter]
"""From training logs and a prefix for progress."""


def identify(
    recordings: Sequence[Recording],
    servo: ServoLike,
    models: str | Iterable[str],
    *,
    trials: int | None = None,
    seed: int = 0,
    validation: str | Sequence[Recording] | None = None,
    effects: Iterable[str] | None = None,
    uncertainty: str | Iterable[str] = (),
    tolerances: Tolerances = DEFAULT,
    storage: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[Progress], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    interrupted: Callable[[Identification], None] | None = None,
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
        trials: at most this many simulations of all training logs per model, those with coarser steps
            included; at least MIN_EVALUATIONS.
            Default: `fitting.TRIALS_PER_PARAMETER` per free parameter, more for a model with no simpler one
            to start from.
        seed: of the search and of a random split, 0 to 2³² - 1.
        validation: which logs to hold out, see `split.split_recordings`; or "leave-one-out=KEY": every
            configuration in turn, which takes a fit each, and all logs are trained on in the end.
        effects: which of `effects.EFFECTS` to fit besides motor and friction; default those that the servo
            names, of which those are dropped that do not lower the held-out error of the chosen model.
        uncertainty: "all", or names of models: whose parameters get standard errors and intervals besides
            those of the chosen model, which always does.
        tolerances: of the rig: how far headers may be off, which intervals allow for.
        storage: URL of a database, such as "sqlite:///study.db" or "postgresql://…", that keeps what the
            search has found: an identification that was ended goes on from there when it is called again with
            the same arguments. Default: none is kept.
        executor: as of `concurrent.futures`; does the work in jobs, with the same results. See
            `bam_core.executors` for those of a Dask cluster. Default: this process does, on all processors.
        progress: called after every generation.
        cancelled: asked before every generation.
        interrupted: called with the models that are finished, if there are any, where `cancelled` or
            KeyboardInterrupt ends the identification; their `Identification.not_done` is not empty.

    Raises:
        IdentificationCancelled: `cancelled` said so.
        KeyboardInterrupt: Ctrl-C.
        BamError: the storage cannot be used, a model or effect is unknown, a number out of range, the
            recordings are of another servo or tell nothing of it (see `screening`), or the split leaves
            nothing on one side.
    """
    servo = load_servo(servo)
    chosen = resolve_models(models)
    estimated = _among(uncertainty, [model.name for model in chosen])
    if trials is not None and trials < MIN_EVALUATIONS:
        raise OutOfRange(
            "trials", trials, f"at least {MIN_EVALUATIONS}", advice="leave it out for the default"
        )
    if not 0 <= seed <= _MAX_SEED:
        raise OutOfRange("seed", seed, f"0 to {_MAX_SEED}")
    given = [] if validation is None or isinstance(validation, str) else validation
    require_same_servo(servo, (*recordings, *given))
    require_informative(servo, (*recordings, *given))
    key = left_out(validation)
    folds = leave_one_out(recordings, key) if key is not None else []
    split = (
        _everything(recordings, folds, str(validation))
        if folds
        else split_recordings(recordings, validation, seed=seed)
    )
    require_torque(split.train)
    if effects is not None:
        servo = replace(servo, search=replace(servo.search, effects=resolve_effects(effects)))
    _log_warnings(servo, split)

    execution = Execution(executor=executor, storage=storage, progress=progress, cancelled=cancelled)

    def fitter(train: Sequence[Recording], prefix: str = "") -> Fitter:
        return Fitter(
            servo,
            train,
            seed=seed,
            execution=execution,
            prefix=prefix,
        )

    finished: Identification | None = None
    try:
        intervals = _Intervals(tuple(estimated), tolerances)
        stages = _stages(servo, split, folds, fitter, chosen, seed, trials, intervals, prune=effects is None)
        for stage in stages:
            finished = stage
    except (KeyboardInterrupt, IdentificationCancelled):
        if finished is not None and interrupted is not None:
            interrupted(finished)
        raise
    assert finished is not None  # there is one model at least
    return finished


@dataclass(frozen=True, kw_only=False)
class _Intervals:
    """Which models get intervals besides the chosen one, and what these allow for."""

    models: tuple[str, ...]
    tolerances: Tolerances


def _stages(
    servo: ServoModel,
    split: Split,
    folds: Sequence[Split],
    fitter: _MakeFitter,
    models: Sequence[FrictionModel],
    seed: int,
    trials: int | None,
    intervals: _Intervals,
    *,
    prune: bool,
) -> Iterator[Identification]:
    """Yield the identification after every model and step, each time more complete; the last one is whole."""
    fit = fitter(split.train, "")
    evaluator = Evaluator(fit.rollout, split, seed, servo)
    executor = fit.execution.executor
    found: dict[str, Fit] = {}
    fits: dict[str, ModelFit] = {}
    effects = (EFFECT_ABLATION,) if servo.search.effects and not folds else ()

    def stage(*not_done: str, ablations: tuple[EffectAblation, ...] = ()) -> Identification:
        return Identification(
            servo=servo, fits=dict(fits), split=split, seed=seed, effects=ablations, not_done=not_done
        )

    def left() -> list[str]:
        return [model.name for model in models if model.name not in fits]

    for model in models:
        found[model.name] = fit.plan(model, trials=trials).make()
        if not folds:
            fits[model.name] = evaluator.evaluate(found[model.name])
            yield stage(*left(), *effects, UNCERTAINTY)
    fold_fitters = {fold.rule: fitter(fold.train, f"without {fold.rule}: ") for fold in folds}
    for model in models if folds else ():
        held_out = _held_out(folds, fold_fitters, model, trials)
        fits[model.name] = evaluator.evaluate(found[model.name], held_out)
        yield stage(*left(), UNCERTAINTY)
    name = stage().chosen
    ablations: tuple[EffectAblation, ...] = ()
    if not folds:
        ablated: dict[str, tuple[EffectAblation, ...]] = {}
        # A model that has lost an effect meets the others anew, and may have to give way to one of them.
        while name not in ablated:
            found[name], ablated[name] = ablate_effects(
                fit, found[name], evaluator.evaluate, prune=prune, trials=trials
            )
            fits[name] = evaluator.evaluate(found[name])
            name = stage().chosen
        ablations = ablated[name]
        yield stage(UNCERTAINTY, ablations=ablations)
    for each, model_fit in fits.items():
        fits[each] = _diagnosed(model_fit, split.train, executor)
    for each in dict.fromkeys((name, *intervals.models)):
        fits[each] = _estimated(fits[each], split.train, intervals.tolerances, executor)
        if each != name:
            yield stage(UNCERTAINTY, ablations=ablations)
    yield stage(ablations=ablations)


def _log_warnings(servo: ServoModel, split: Split) -> None:
    logs = (*split.train, *split.validation)
    require_temperature(logs, servo.search.effects)
    for line in (
        *missing_channels(logs, servo.search.effects),
        *gain_warnings(servo, logs),
        *scarcity(len(split.train), len(split.validation)),
    ):
        log.warning(line)


def _everything(recordings: Sequence[Recording], folds: Sequence[Split], rule: str) -> Split:
    ordered = sorted(recordings, key=lambda log: (log.name, log.sha256))
    return Split(train=tuple(ordered), validation=(), rule=rule)


def _held_out(
    folds: Sequence[Split], fitters: Mapping[str, Fitter], model: FrictionModel, trials: int | None
) -> dict[str, float]:
    """Return the error of every log by the fit that did without its configuration, rad."""
    planned = [fitters[fold.rule].plan(model, trials=trials) for fold in folds]
    made = {fold.rule: fit for fold, fit in zip(folds, fit_all(planned), strict=True)}

    def evaluate(fold: Split) -> Mapping[str, float]:
        fitter = fitters[fold.rule]
        return Evaluator(fitter.rollout, fold, 0, fitter.servo).evaluate(made[fold.rule]).held_out

    return dict(cross_validate(folds, evaluate).per_log)


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
    for name in _among(models, list(fits)):
        fits[name] = _estimated(fits[name], identification.split.train, tolerances, executor)
    return replace(identification, fits=fits)


def _among(models: str | Iterable[str], fitted: Sequence[str]) -> list[str]:
    """Return which of the fitted models are named; "all" stands for all of them."""
    names = [models] if isinstance(models, str) else list(models)
    named = fitted if "all" in names else [name.strip().lower() for name in names]
    for name in named:
        if name not in fitted:
            raise UnknownName("fitted model", name, fitted, advice="or fit it, too")
    return list(named)


def _diagnosed(fit: ModelFit, recordings: Sequence[Recording], executor: Executor | None) -> ModelFit:
    """Add what a fit leaves over of its training logs."""
    if executor is None:
        return _diagnosis(recordings, fit)
    ((_, diagnosed),) = run_jobs(executor, [Call(_diagnosis, Shared(recordings), (fit,))])
    return diagnosed


def _diagnosis(recordings: Sequence[Recording], fit: ModelFit) -> ModelFit:
    with one_blas_thread():
        return replace(fit, diagnosis=diagnose(fit.servo, recordings, fit.space, fit.bench_effects))


def _estimated(
    fit: ModelFit, recordings: Sequence[Recording], tolerances: Tolerances, executor: Executor | None
) -> ModelFit:
    """Add the uncertainty of the parameters of a fit; one log alone tells nothing about it."""
    if len(recordings) < 2 or fit.uncertainty is not None:
        return fit
    with one_blas_thread():
        if executor is None:
            uncertainty = _uncertainty(recordings, fit, tolerances)
        else:
            ((_, uncertainty),) = run_jobs(
                executor, [Call(_uncertainty, Shared(recordings), (fit, tolerances))]
            )
    errors = uncertainty.standard_errors()
    own = {name: error for name, error in errors.items() if name not in BENCH_EFFECTS}
    return replace(fit, servo=replace(fit.servo, uncertainty=own), uncertainty=uncertainty)


def _uncertainty(recordings: Sequence[Recording], fit: ModelFit, tolerances: Tolerances) -> Uncertainty:
    return estimate_uncertainty(
        fit.servo,
        recordings,
        fit.space,
        fit.bench_effects,
        advise=advisor(fit.servo, recordings, fit.space),
        tolerances=tolerances,
        misfit=fit.diagnosis.shifts if fit.diagnosis is not None else None,
    )


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
