# SPDX-License-Identifier: Apache-2.0
"""An identification in words: what `bam identify` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.text import error_words
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.identification.choice.model_fit import ModelFit
    from bam_core.identification.result import Identification


def models_table(result: Identification) -> str:
    """Errors in mrad, and the time that the search of the model took; one row per model."""
    rows = [
        (
            model,
            _mrad(fit.test_mae),
            _test_interval(fit),
            _mrad(fit.selection_mae),
            _mrad(fit.train_mae),
            str(fit.trials),
            f"{fit.seconds:.1f}",
        )
        for model, fit in result.fits.items()
    ]
    heads = ("model", "test [mrad]", "95 %", "selection [mrad]", "train [mrad]", "trials", "search [s]")
    return format_table(heads, rows)


def effects_table(result: Identification) -> str:
    """Say what the chosen model's errors become without each effect, in mrad; empty where it has none."""
    if not result.effects:
        return ""
    first = result.effects[0]
    rows = [(f"all, {result.chosen}", _mrad(first.selection_mae), _mrad(first.train_mae), "")]
    rows += [
        (
            f"without {ablation.name}",
            _mrad(ablation.selection_mae_without),
            _mrad(ablation.train_mae_without),
            ablation.finding.sentence,
        )
        for ablation in result.effects
    ]
    return format_table(("effects", "selection [mrad]", "train [mrad]", ""), rows)


def unfinished_searches(result: Identification) -> list[str]:
    """Say which searches did not converge, and what to do."""
    lines = []
    for spent in (True, False):
        models = [model for model, fit in result.fits.items() if fit.ended_early and fit.spent == spent]
        if models:
            lines.append(f"{', '.join(models)}: {error_words.not_converged(spent=spent)}")
    return lines


def stopped_parameters(result: Identification) -> list[str]:
    """Say which parameters the end of their search range has stopped, and the range."""
    lines = []
    for fit in result.fits.values():
        axes = {axis.name: axis for axis in fit.space.axes}
        for name in fit.at_bound:
            value, axis = fit.parameters[name], axes[name]
            range_ = f"{axis.low:.4g} to {axis.high:.4g} {PARAMETER_UNITS[name].strip('-')}".strip()
            lines.append(f"{fit.model}, {name}: {value:.4g} is at the end of its search range, {range_}")
    return lines


def unidentifiable_parameters(result: Identification) -> list[str]:
    """Say of each parameter of the chosen model that the logs do not tell, why, and what would."""
    uncertainty = result.fits[result.chosen].uncertainty
    if uncertainty is None:
        return []
    needed = {ablation.name for ablation in result.effects if ablation.is_needed}
    return [
        f"{each.name}: {'needed, but ' if each.name in needed else ''}not identifiable: {each.remark}"
        for each in uncertainty.unidentifiable
    ]


def misfit(result: Identification) -> str:
    """Return the chosen model's error, its floor, and what it lacks."""
    diagnosis = result.fits[result.chosen].diagnosis
    return f"{result.chosen}: {diagnosis.sentence}" if diagnosis is not None else ""


def errors_apart(fit: ModelFit) -> str:
    """Say that the test is far worse or far better than training; empty where it is neither."""
    test, selection = (math.nan if each is None else each for each in (fit.test_mae, fit.selection_mae))
    return error_words.far_from_training(fit.train_mae, fit.training, test, selection)


def outliers(fit: ModelFit) -> str:
    """Say which logs are followed far worse than the others; empty where there are none."""
    findings = fit.diagnosis.findings if fit.diagnosis is not None else ()
    explained = bool(findings) and findings[0].kind not in error_words.UNEXPLAINED
    return error_words.outliers(fit.per_log, fit.training, explained=explained)


def untold_of_bench(result: Identification) -> str:
    """Say what no log tells of the bench; empty where there is nothing."""
    uncertainty = result.fits[result.chosen].uncertainty
    if uncertainty is None or not uncertainty.untold:
        return ""
    names = ", ".join(uncertainty.untold)
    return f"no log reveals an error of {names}: parameters compensate for it; intervals allow for it"


def small_parameters(result: Identification) -> list[str]:
    """Name the parameters of the chosen model that are wide beside their values and yet identifiable."""
    uncertainty = result.fits[result.chosen].uncertainty
    if uncertainty is None:
        return []
    return [each.name for each in uncertainty.estimates if each.is_known_small]


def _mrad(value: float | None) -> str:
    return "-" if value is None else f"{1e3 * value:.2f}"


def _test_interval(fit: ModelFit) -> str:
    if fit.test_interval is None:
        return ""
    if len(fit.test) < error_words.FEWEST_LOGS:
        return f"{len(fit.test)} logs: too few"
    low, high = fit.test_interval
    return f"{_mrad(low)} to {_mrad(high)}"
