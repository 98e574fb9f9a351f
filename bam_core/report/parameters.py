# SPDX-License-Identifier: Apache-2.0
"""A model's parameters as rows with whiskers, and their correlation as a heat map."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bam_core.report.names import unit, words
from bam_core.report.numbers import Scale, interval, quantity, round_up
from bam_core.report.results import Estimate, ModelResult, Uncertainty
from bam_core.servo.parameters import PARAMETER_UNITS

_NARROWEST, _WIDEST = 0.05, 1.0  # of the axis, relative to the value
_MAX_RELATIVE_HALF_WIDTH = 0.5  # the limit of `identification.uncertainty`


@dataclass(frozen=True, kw_only=True)
class Whisker:
    """A 95 % interval relative to its value, in percent of the chart's width; the value is at 50."""

    low: float
    high: float
    cut_low: bool
    cut_high: bool


@dataclass(frozen=True, kw_only=True)
class ParameterRow:
    """One parameter."""

    name: str
    value: str
    unit: str
    interval: str
    whisker: Whisker | None
    at_bound: bool
    identifiable: bool
    known_small: bool
    trades_with: tuple[str, ...]
    remark: str

    @property
    def is_remarked(self) -> bool:
        """Whether there is a remark about it, in a row below."""
        determined = self.identifiable and not self.known_small
        return bool(self.at_bound or not determined or self.trades_with or self.remark)


@dataclass(frozen=True, kw_only=True)
class ParameterTable:
    """All parameters of a model; `axis` is where the whiskers' axis ends, such as "20 %"."""

    rows: tuple[ParameterRow, ...]
    axis: str
    has_intervals: bool


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One correlation."""

    text: str
    strength: int
    negative: bool
    title: str


def parameter_table(model: ModelResult) -> ParameterTable:
    """Lay out a model's parameters; all whiskers share one axis."""
    estimates = model.uncertainty.estimates if model.uncertainty else {}
    return table_of(model.parameters, estimates, model.at_bound)


def table_of(
    parameters: Mapping[str, float], estimates: Mapping[str, Estimate], at_bound: Sequence[str] = ()
) -> ParameterTable:
    """Lay out parameters by name, SI; all whiskers share one axis."""
    reach = [
        max(abs(low), abs(high))
        for name, value in parameters.items()
        if name in estimates and estimates[name].identifiable and (ends := _relative(value, estimates[name]))
        for low, high in [ends]
    ]
    limit = min(max(round_up(max(reach, default=_WIDEST)), _NARROWEST), _WIDEST)
    scale = Scale(-limit, limit)
    rows = tuple(
        _row(name, value, estimates.get(name), name in at_bound, scale) for name, value in parameters.items()
    )
    return ParameterTable(rows=rows, axis=f"{100 * limit:g} %", has_intervals=bool(estimates))


def correlation_cells(uncertainty: Uncertainty) -> list[tuple[str, list[Cell]]]:
    """Return rows of the heat map by parameter."""
    names = uncertainty.names
    return [
        (name, [_cell(name, other, value) for other, value in zip(names, row, strict=True)])
        for name, row in zip(names, uncertainty.correlation.tolist(), strict=True)
    ]


def not_identifiable(model: ModelResult) -> Sequence[str]:
    """Return names of parameters that the data do not determine."""
    if model.uncertainty is None:
        return ()
    return [name for name, estimate in model.uncertainty.estimates.items() if not estimate.identifiable]


def _is_bounded(estimate: Estimate) -> bool:
    return math.isfinite(estimate.low) and math.isfinite(estimate.high)


def _is_known_small(value: float, estimate: Estimate) -> bool:
    half_width = 0.5 * (estimate.high - estimate.low)
    wide = _is_bounded(estimate) and half_width > _MAX_RELATIVE_HALF_WIDTH * abs(value)
    return wide and estimate.identifiable and estimate.low <= 0.0 <= estimate.high


def _relative(value: float, estimate: Estimate) -> tuple[float, float] | None:
    if value == 0.0 or not _is_bounded(estimate):
        return None
    low, high = ((end - value) / abs(value) for end in (estimate.low, estimate.high))
    return low, high


def _row(name: str, value: float, estimate: Estimate | None, at_bound: bool, scale: Scale) -> ParameterRow:
    whisker = None
    if estimate is not None and (ends := _relative(value, estimate)):
        low, high = ends
        whisker = Whisker(
            low=scale.percent(low),
            high=scale.percent(high),
            cut_low=low < scale.low,
            cut_high=high > scale.high,
        )
    return ParameterRow(
        name=name,
        value=quantity(value),
        unit=unit(name),
        interval=interval(estimate.low, estimate.high) if estimate and _is_bounded(estimate) else "",
        whisker=whisker,
        at_bound=at_bound,
        identifiable=estimate is None or estimate.identifiable,
        known_small=estimate is not None and _is_known_small(value, estimate),
        trades_with=estimate.trades_with if estimate and estimate.remark_kind != "trades" else (),
        remark=_in_words(estimate.remark) if estimate else "",
    )


def _in_words(remark: str) -> str:
    """Call parameters in a remark what the table calls them."""

    def called(match: re.Match[str]) -> str:
        return words(match[0]) if match[0] in PARAMETER_UNITS else match[0]

    return re.sub(r"\w+", called, remark)


def _cell(name: str, other: str, value: float) -> Cell:
    if not math.isfinite(value):
        return Cell(text="–", strength=0, negative=False, title=f"{words(name)}, {words(other)}: unknown")
    text = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # + 0.0: no minus before a zero
    return Cell(
        text="1" if name == other else text.replace("0.", ".") if abs(value) < 0.995 else text,
        strength=min(round(100 * abs(value)), 100),
        negative=value < 0,
        title=f"{words(name)}, {words(other)}: {text}",
    )
