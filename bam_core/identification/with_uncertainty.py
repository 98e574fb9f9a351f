# SPDX-License-Identifier: Apache-2.0
"""Diagnosis, variation and uncertainty of finished fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from statistics import fmean

from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.executors import Call, Shared, run_jobs
from bam_core.identification.misfit.diagnosis import diagnose
from bam_core.identification.motor_evidence import has_free_scale, motor_evidence
from bam_core.identification.result import Identification
from bam_core.identification.settings import named_among
from bam_core.identification.uncertainty.advice import advisor
from bam_core.identification.uncertainty.bands import predicted_bands
from bam_core.identification.uncertainty.motor_errors import with_motor_errors
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.uncertainty.uncertainty import estimate_uncertainty
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import estimate_variation
from bam_core.recordings.header_corrections import LABELS
from bam_core.recordings.recording import Recording
from bam_core.servo.parameters import BENCH_EFFECTS
from bam_core.simulation.threads import one_blas_thread, side_by_side

_DRAWS = 200  # for scores: they are known to a fiftieth


def with_uncertainty(
    identification: Identification,
    models: str | Collection[str] = "all",
    *,
    tolerances: Tolerances = DEFAULT,
    executor: Executor | None = None,
) -> Identification:
    """Return an identification with standard errors and intervals of the parameters of these models, too.

    Args:
        identification: complete or not.
        models: "all", or names of models that were fitted.
        tolerances: as of `IdentifySettings`.
        executor: as of `Execution`.

    Raises:
        BamError: a model is unknown or was not fitted.
    """
    fits = dict(identification.fits)
    wanted = {name: fits[name] for name in named_among(models, list(fits))}
    fits.update(estimated(wanted, identification.split.train, tolerances, executor))
    return replace(identification, fits=fits)


def diagnosed(
    fits: Mapping[str, ModelFit], recordings: Sequence[Recording], executor: Executor | None
) -> Iterator[tuple[str, ModelFit]]:
    """Add to each fit the diagnosis of its remaining errors on the training logs."""
    return _for_every_fit(_with_diagnosis, fits, recordings, executor)


def estimated(
    fits: Mapping[str, ModelFit],
    recordings: Sequence[Recording],
    tolerances: Tolerances,
    executor: Executor | None,
) -> Iterator[tuple[str, ModelFit]]:
    """Add the uncertainty of the parameters to each fit that lacks it; a single log does not determine it."""
    if len(recordings) < 2:
        return iter(())
    unknown = {name: fit for name, fit in fits.items() if fit.uncertainty is None}
    return _for_every_fit(partial(_with_uncertainty, tolerances=tolerances), unknown, recordings, executor)


def with_variation(
    fits: Mapping[str, ModelFit],
    recordings: Sequence[Recording],
    executor: Executor | None,
    known: Spread | None = None,
) -> Iterator[tuple[str, ModelFit]]:
    """Add to each fit how friction and strength vary over the training logs, or as known of other units."""
    return _for_every_fit(partial(_with_variation, known=known), fits, recordings, executor)


def scored(identification: Identification) -> dict[str, ModelFit]:
    """Return the fits with the score of their draws on the test logs."""
    logs, predictions = identification.split.test, identification.predictions
    fits = dict(identification.fits)
    if logs:
        for model, prediction in predictions.items():
            fit = fits[model]
            bands = predicted_bands(fit.servo, logs, prediction, fit.bench_effects, draws=_DRAWS)
            fits[model] = replace(fit, crps=fmean(band.crps for band in bands))
    return fits


def _for_every_fit(
    work: Callable[[Sequence[Recording], ModelFit], ModelFit],
    fits: Mapping[str, ModelFit],
    recordings: Sequence[Recording],
    executor: Executor | None,
) -> Iterator[tuple[str, ModelFit]]:
    """Do the same to all fits, in parallel, and yield every fit as it is done."""
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


def _with_variation(recordings: Sequence[Recording], fit: ModelFit, *, known: Spread | None) -> ModelFit:
    with one_blas_thread():
        labels = {level: [getattr(run, level) for run in recordings] for level in LABELS}
        variation = estimate_variation(fit.servo, recordings, fit.bench_effects, labels, known=known)
        return replace(fit, variation=variation)


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
    if has_free_scale(recordings):
        evidence = motor_evidence(recordings)
        uncertainty = with_motor_errors(uncertainty, fit.space, evidence, tolerances.supply)
    errors = uncertainty.standard_errors()
    own = {name: error for name, error in errors.items() if name not in BENCH_EFFECTS}
    return replace(fit, servo=replace(fit.servo, uncertainty=own), uncertainty=uncertainty)
