# SPDX-License-Identifier: Apache-2.0
"""Errors of friction models side by side: in training, in selection, on test logs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

_WIDTH = 0.76  # of all bars of a model
_COLORS = ("0.75", "tab:blue", "tab:orange", "tab:green")


def plot_mae(
    errors: Mapping[str, Mapping[str, float | None]],
    *,
    intervals: Mapping[str, tuple[float, float] | None] | None = None,
    chosen: str | None = None,
) -> Figure:
    """Draw a bar per model and kind of error; a kind that no model has is left out.

    Args:
        errors: model -> kind -> mean absolute error, rad, or None.
        intervals: model -> ends of the interval of its last error, rad, or None: whiskers.
        chosen: model to mark.
    """
    known = {
        kind
        for errors_of_log in errors.values()
        for kind, error in errors_of_log.items()
        if error is not None
    }
    kinds = [kind for kind in next(iter(errors.values())) if kind in known]
    figure = Figure(figsize=(1.6 + 0.45 * (1 + len(kinds)) * len(errors), 3.8), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(errors), dtype=np.float64)
    width = _WIDTH / len(kinds)
    for side, (kind, color) in enumerate(zip(kinds, _COLORS, strict=False)):
        heights = [1e3 * (error.get(kind) or 0.0) for error in errors.values()]
        middles = (place + (side - 0.5 * (len(kinds) - 1)) * width).tolist()
        ends = (intervals or {}) if kind == kinds[-1] else {}
        label = f"{kind}, 95 % interval" if any(ends.values()) else kind
        axes.bar(middles, heights, width, label=label, color=color)
        for model, middle, height in zip(errors, middles, heights, strict=True):
            top = height
            if whisker := ends.get(model):
                low, top = (1e3 * end for end in whisker)
                axes.errorbar(
                    middle, height, [[height - low], [top - height]], fmt="none", ecolor="black", capsize=3
                )
            # Above the whisker: across it, no number can be read.
            axes.annotate(
                f"{height:.2f}",
                (middle, top),
                xytext=(0.0, 3.0),
                textcoords="offset points",
                ha="center",
                fontsize="x-small",
            )
    names = [f"{model.upper()}\n(chosen)" if model == chosen else model.upper() for model in errors]
    axes.set_xticks(place, names)
    axes.set_ylabel("mean absolute error [mrad]")
    axes.margins(y=0.12)
    axes.legend(fontsize="small")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    return figure
