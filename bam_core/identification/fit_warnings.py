# SPDX-License-Identifier: Apache-2.0
"""What to be careful of before using an identified model: warnings of all fits and of the chosen one."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.text.error_findings import UNEXPLAINED, error_difference, outliers
from bam_core.text.finding import Finding
from bam_core.text.fit_findings import AtBound, NotConverged, Unidentifiable, UnobservedBenchErrors

_RIVAL = 1.5
"""Times the selection error of the chosen model: longer searches and wider ranges change errors by less.

Twice and four times the budget changed training errors by 2 % at most (docs/development/search.md).
"""


def fit_warnings(
    fits: Mapping[str, ModelFit], chosen: str, effects: Sequence[EffectAblation] = ()
) -> tuple[Finding, ...]:
    """Return the warnings; of a failed search only that it failed, since its parameters mean nothing.

    Searches and search ranges of models that are far worse in selection are passed over, since they cannot
    change the choice. `summary.json` has `ended_early` and `at_bound` of every model.

    Args:
        fits: by name of the model.
        chosen: name of the model to use.
        effects: of that model.
    """
    fit = fits[chosen]
    rivals = _rivals(fits, chosen)
    findings: list[Finding] = list(_unfinished_searches(rivals))
    if fit.failed and fit.diagnosis is not None:
        return (*findings, fit.diagnosis.findings[0])
    needed = {ablation.name for ablation in effects if ablation.is_needed}
    return (
        *findings,
        *_at_bounds(rivals),
        *_errors_of_logs(fit),
        *_unobserved(fit),
        *_unidentifiable(fit, needed),
    )


def _rivals(fits: Mapping[str, ModelFit], chosen: str) -> dict[str, ModelFit]:
    """Return the chosen fit and those that it could lose to; all, where there was no selection."""
    error = fits[chosen].selection_mae
    if error is None:
        return dict(fits)
    return {
        name: fit
        for name, fit in fits.items()
        if name == chosen or fit.selection_mae is None or fit.selection_mae <= _RIVAL * error
    }


def _unfinished_searches(fits: Mapping[str, ModelFit]) -> Iterator[NotConverged]:
    for spent in (True, False):
        models = tuple(name for name, fit in fits.items() if fit.ended_early and fit.spent == spent)
        if models:
            yield NotConverged(models=models, spent=spent)


def _at_bounds(fits: Mapping[str, ModelFit]) -> Iterator[AtBound]:
    for fit in fits.values():
        axes = {axis.name: axis for axis in fit.space.axes}
        for name in fit.at_bound:
            yield AtBound(
                model=fit.model,
                parameter=name,
                value=fit.parameters[name],
                low=axes[name].low,
                high=axes[name].high,
                unit=PARAMETER_UNITS[name].strip("-"),
            )


def _errors_of_logs(fit: ModelFit) -> Iterator[Finding]:
    test, selection = (math.nan if error is None else error for error in (fit.test_mae, fit.selection_mae))
    misfit = fit.diagnosis.findings if fit.diagnosis is not None else ()
    explained = bool(misfit) and misfit[0].kind not in UNEXPLAINED
    for finding in (
        error_difference(fit.train_mae, fit.training, test, selection),
        outliers(fit.per_log, fit.training, explained=explained),
    ):
        if finding is not None:
            yield finding


def _unobserved(fit: ModelFit) -> Iterator[UnobservedBenchErrors]:
    if fit.uncertainty is not None and fit.uncertainty.unobservable_errors:
        yield UnobservedBenchErrors(names=tuple(fit.uncertainty.unobservable_errors))


def _unidentifiable(fit: ModelFit, needed: Collection[str]) -> Iterator[Unidentifiable]:
    for estimate in () if fit.uncertainty is None else fit.uncertainty.unidentifiable:
        yield Unidentifiable(
            model=fit.model,
            parameter=estimate.name,
            is_needed=estimate.name in needed,
            remark=estimate.finding,
        )
