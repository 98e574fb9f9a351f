# SPDX-License-Identifier: Apache-2.0
"""An identification in words: what `bam identify` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bam_core.text.error_findings import FEWEST_LOGS
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
    """Return what the chosen model's errors become without each effect, in mrad; empty where it has none."""
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


def small_parameters(result: Identification) -> list[str]:
    """Name the parameters of the chosen model that are wide beside their values and yet identifiable."""
    uncertainty = result.fits[result.chosen].uncertainty
    if uncertainty is None:
        return []
    return [estimate.name for estimate in uncertainty.estimates if estimate.is_known_small]


def _mrad(value: float | None) -> str:
    return "-" if value is None else f"{1e3 * value:.2f}"


def _test_interval(fit: ModelFit) -> str:
    if fit.test_interval is None:
        return ""
    if len(fit.test) < FEWEST_LOGS:
        return f"{len(fit.test)} logs: too few"
    low, high = fit.test_interval
    return f"{_mrad(low)} to {_mrad(high)}"
