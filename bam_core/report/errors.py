# SPDX-License-Identifier: Apache-2.0
"""The chart of errors: bars per model for training, selection and test, with whiskers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bam_core.report.numbers import Scale, mrad, mrad_interval, round_up, ticks
from bam_core.report.results import ModelResult, Results
from bam_core.servo.friction import FRICTION_MODELS


@dataclass(frozen=True, kw_only=True)
class ErrorRow:
    """One model; places are percent of the chart's width, None where the number is not known."""

    model: str
    title: str
    chosen: bool
    free: int
    train: float | None
    selection: float | None
    test: float | None
    whisker: tuple[float, float] | None
    train_text: str
    selection_text: str
    test_text: str
    test_interval: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class ErrorChart:
    """All models on one axis."""

    rows: tuple[ErrorRow, ...]
    ticks: tuple[tuple[float, str], ...]
    has_test: bool
    has_whiskers: bool
    has_verdicts: bool


def error_chart(results: Results) -> ErrorChart:
    """Lay out the errors of all models, in mrad from zero."""
    models = list(results.models.values())
    few = results.has_few_tests
    high = round_up(1e3 * _largest(_extent(model, few) for model in models))
    scale = Scale(0.0, high)
    rows = tuple(_row(model, scale, model.name == results.chosen, few) for model in models)
    return ErrorChart(
        rows=rows,
        ticks=tuple((scale.percent(tick), f"{tick:g}") for tick in ticks(high)),
        has_test=any(row.test is not None for row in rows),
        has_whiskers=any(row.whisker for row in rows),
        has_verdicts=any(row.verdict for row in rows),
    )


def _extent(model: ModelResult, few: bool) -> float:
    high = math.nan if few else model.test_interval[1]
    return _largest((model.train_mae, model.selection_mae, model.test_mae, high))


def _largest(values: Iterable[float]) -> float:
    return max((value for value in values if math.isfinite(value)), default=0.0)


def _row(model: ModelResult, scale: Scale, chosen: bool, few: bool) -> ErrorRow:
    def place(angle: float) -> float | None:
        return scale.percent(1e3 * angle) if math.isfinite(angle) else None

    low, high = (None, None) if few else map(place, model.test_interval)
    return ErrorRow(
        model=model.name,
        title=FRICTION_MODELS[model.name].title,
        chosen=chosen,
        free=len(model.parameters),
        train=place(model.train_mae),
        selection=place(model.selection_mae),
        test=place(model.test_mae),
        whisker=(low, high) if low is not None and high is not None else None,
        train_text=mrad(model.train_mae),
        selection_text=mrad(model.selection_mae),
        test_text=mrad(model.test_mae),
        test_interval="" if few else mrad_interval(model.test_interval),
        verdict=model.verdict,
    )
