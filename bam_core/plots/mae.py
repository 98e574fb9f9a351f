# SPDX-License-Identifier: Apache-2.0
"""Training and validation error of friction models side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

_WIDTH = 0.38


def plot_mae(
    errors: Mapping[str, tuple[float, float]],
    *,
    standard_errors: Mapping[str, float | None] | None = None,
    chosen: str | None = None,
) -> Figure:
    """Draw two bars per model.

    Args:
        errors: model -> (training, validation) mean absolute error, rad.
        standard_errors: model -> standard error of the validation error, rad, or None: whiskers.
        chosen: model to mark.
    """
    figure = Figure(figsize=(1.6 + 1.1 * len(errors), 3.8), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(errors), dtype=np.float64)
    for side, (label, color) in enumerate((("training", "0.65"), ("validation", "tab:blue"))):
        heights = [1e3 * pair[side] for pair in errors.values()]
        middles = (place + (side - 0.5) * _WIDTH).tolist()
        bars = (standard_errors or {}) if label == "validation" else {}
        label += " ± standard error" if any(bars.values()) else ""
        axes.bar(middles, heights, _WIDTH, label=label, color=color)
        for model, middle, height in zip(errors, middles, heights, strict=True):
            if bar := 1e3 * (bars.get(model) or 0.0):
                axes.errorbar(middle, height, bar, fmt="none", ecolor="black", capsize=3)
            # Above the whisker: across it, no number can be read.
            axes.annotate(
                f"{height:.2f}",
                (middle, height + bar),
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
