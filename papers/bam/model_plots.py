# SPDX-License-Identifier: Apache-2.0
"""Errors of M1 to M6 for several servos, as BAM fig. 5."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

MODEL_COLORS = ("0.55", "tab:olive", "tab:green", "tab:blue", "tab:purple", "tab:red")


def plot_model_errors(errors: Mapping[str, Mapping[str, float]], titles: Mapping[str, str]) -> Figure:
    """Draw one panel of bars per servo.

    Args:
        errors: servo -> model -> mean absolute error on held-out runs, rad.
        titles: servo -> its title.
    """
    figure = Figure(figsize=(2.9 * len(errors), 3.6), layout="constrained")
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(errors))))
    for axes, (servo, of_model) in zip(panels, errors.items(), strict=True):
        heights = [1e3 * value for value in of_model.values()]
        bars = axes.bar([name.upper() for name in of_model], heights, color=MODEL_COLORS[: len(of_model)])
        axes.bar_label(bars, fmt="%.3g", fontsize="x-small")
        axes.set_title(titles[servo].replace(" (", "\n("), fontsize="medium")
        axes.margins(y=0.12)
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    panels[0].set_ylabel("held-out mean absolute error [mrad]")
    return figure
