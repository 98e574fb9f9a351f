# SPDX-License-Identifier: Apache-2.0
"""The parameters that several models found, one small panel each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from matplotlib.figure import Figure

from bam_core.servo.parameters import PARAMETER_UNITS

_COLUMNS = 4


def plot_parameters(
    parameters: Mapping[str, Mapping[str, float]],
    at_bound: Mapping[str, Collection[str]] | None = None,
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Figure:
    """Draw one panel per parameter that any of the models has, one bar per model.

    Args:
        parameters: label -> parameter -> value, SI; one model at least.
        at_bound: label -> parameters that the end of their search range has stopped; hatched.
        intervals: label -> parameter -> (low, high), SI; a value may be outside its own.
    """
    at_bound, intervals = at_bound or {}, intervals or {}
    names = [name for name in PARAMETER_UNITS if any(name in model for model in parameters.values())]
    rows = math.ceil(len(names) / _COLUMNS)
    figure = Figure(figsize=(3.0 * _COLUMNS, 2.1 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        for place, (label, model) in enumerate(parameters.items()):
            if name in model:
                (bar,) = axes.bar(place, model[name], color=f"C{place}")
                if name in (known := intervals.get(label, {})):
                    low, high = known[name]
                    middle, half = 0.5 * (low + high), 0.5 * (high - low)
                    axes.errorbar(place, middle, half, fmt="none", ecolor="black", capsize=3)
                if name in at_bound.get(label, ()):
                    bar.set(hatch="///", edgecolor="black", alpha=0.6)
        # In words, too: a bar of height zero shows no hatching.
        labels = [f"{label}\nbound" if name in at_bound.get(label, ()) else label for label in parameters]
        axes.set_xticks(range(len(parameters)), labels, fontsize="x-small")
        axes.set_xlim(-0.6, len(parameters) - 0.4)
        axes.set_title(f"{name} [{PARAMETER_UNITS[name]}]", fontsize="small")
        axes.tick_params(axis="y", labelsize="small")
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    notes = ["whiskers: 95 % interval"] if any(intervals.values()) else []
    if any(at_bound.values()):
        notes.append("bound, hatched: stopped by the end of its search range")
    if notes:
        figure.supxlabel("; ".join(notes), fontsize="medium")
    return figure
