# SPDX-License-Identifier: Apache-2.0
"""A swinging joint's acceleration, measured and estimated, and what it lacks (Egle, figs. 7.3a, 7.4a)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from bam_core.arrays import Array


@dataclass(frozen=True, kw_only=True)
class Filtered:
    """A joint over a swing, by one filter.

    Attributes:
        velocity: (n,) rad/s.
        measured: its acceleration from positions, (n,) rad/s².
        expected: that of the model without friction, (n,) rad/s².
        lacking: Δq̈, measured less expected, (n,) rad/s².
    """

    velocity: Array
    measured: Array
    expected: Array
    lacking: Array


def plot_accelerations(time: Array, by_filter: Mapping[str, Filtered]) -> Figure:
    """Draw measured and expected acceleration, a panel for each filter (figure 7.3a).

    Args:
        time: (n,) s.
        found: by name of the filter.
    """
    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle("Right knee, swinging: acceleration measured and estimated without friction (fig. 7.3a)")
    panels = np.atleast_1d(figure.subplots(1, len(by_filter), sharey=True))
    for axes, (name, filtered) in zip(panels, by_filter.items(), strict=True):
        axes.plot(time, filtered.expected, color="tab:orange", label="estimated")
        axes.plot(time, filtered.measured, color="tab:blue", label="measured")
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("acceleration [rad/s²]")
    panels[0].legend(fontsize="small")
    return figure


def plot_power(time: Array, by_filter: Mapping[str, Filtered]) -> Figure:
    """Draw velocity and what the acceleration lacks, which have opposite signs (figure 7.4a).

    Args:
        time: (n,) s.
        found: by name of the filter.
    """
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    figure.suptitle("Right knee, swinging: friction takes power where the signs differ (fig. 7.4a)")
    axes = figure.subplots()
    first = next(iter(by_filter.values()))
    axes.plot(time, first.velocity, color="tab:blue", label="velocity [rad/s]")
    for (name, filtered), style in zip(by_filter.items(), ("-", "--", ":"), strict=False):
        axes.plot(time, filtered.lacking, style, color="tab:red", label=f"Δq̈ [rad/s²], {name}")
    axes.axhline(0.0, color="0.4", linewidth=0.8)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("rad/s, rad/s²")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure
