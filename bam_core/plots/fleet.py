# SPDX-License-Identifier: Apache-2.0
"""Units of a servo side by side: a panel per quantity, with intervals and the range of unseen units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

_COLUMNS = 3
_PANEL = (3.4, 0.8, 0.28)  # inches: width, height without units, height per unit
_UNIT, _ODD, _POPULATION = "#1f77b4", "#d62728", "#cccccc"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One quantity.

    Attributes:
        title: with its unit.
        rows: name, value, low and high of every unit that determines it.
        odd: names of units that stand out.
        mean: of the typical unit; None where there is none.
        unseen: low and high of a unit that nobody has measured; None where it is not known.
    """

    title: str
    rows: Sequence[tuple[str, float, float, float]]
    odd: Sequence[str]
    mean: float | None
    unseen: tuple[float, float] | None


def fleet_figure(panels: Sequence[Panel]) -> Figure:
    """Return the figure of one panel or more."""
    most = max(len(panel.rows) for panel in panels)
    columns = min(_COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    width, height, per_unit = _PANEL
    figure = Figure(figsize=(width * columns, lines * (height + per_unit * most)), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for index, axes in enumerate(grid.flat):
        if index >= len(panels):
            axes.set_axis_off()
            continue
        panel = panels[index]
        if panel.unseen is not None:
            axes.axvspan(*panel.unseen, color=_POPULATION, alpha=0.5, label="95 % of unseen units")
        if panel.mean is not None:
            axes.axvline(panel.mean, color="black", linewidth=0.8, label="typical unit")
        for row, (name, value, low, high) in enumerate(panel.rows):
            color = _ODD if name in panel.odd else _UNIT
            axes.plot([low, high], [row, row], color=color, linewidth=2.0)
            axes.plot([value], [row], "o", color=color, markersize=4)
        axes.set_yticks(range(len(panel.rows)), [name for name, *_ in panel.rows], fontsize="small")
        axes.set_ylim(len(panel.rows) - 0.5, -0.5)
        axes.set_title(panel.title, fontsize="medium")
        axes.tick_params(axis="x", labelsize="small")
        axes.xaxis.set_major_locator(MaxNLocator(4))
    handles, labels = grid.flat[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize="small")
    return figure
