# SPDX-License-Identifier: Apache-2.0
"""Friction found in a real humanoid's squats beside that of the bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from bam_core.arrays import Array

_STIFF, _SOFT = 32, 12  # kp of the squats with the highest and the lowest gain


def gain_color(kp: int) -> Any:
    """Return the colour of a gain, the same in all pictures: dark where it is high."""
    return matplotlib.colormaps["viridis"](0.8 * (_STIFF - kp) / (_STIFF - _SOFT))


def plot_squat_friction(panels: Mapping[str, Mapping[int, tuple[Array, Array, Array]]], title: str) -> Figure:
    """Draw friction over velocity, found and of the bench, a panel for each joint.

    Args:
        panels: by joint and gain: velocity rad/s, friction found and friction of the bench N·m, (n,) each.
        title: of the figure.
    """
    figure = Figure(figsize=(3.3 * len(panels), 3.9), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    axes = np.atleast_1d(figure.subplots(1, len(panels)))
    for ax, (joint, runs) in zip(axes, panels.items(), strict=True):
        for kp, (velocity, friction, bench) in runs.items():
            color = gain_color(kp)
            ax.plot(velocity, friction, ".", markersize=3, color=color, label=f"found, kp {kp}")
            ax.plot(velocity, bench, "x", markersize=2.5, color=color, alpha=0.35)
        ax.plot([], [], "x", color="0.4", label="M6 of the bench")
        ax.axhline(0.0, color="0.6", linewidth=0.7)
        ax.set_title(joint, fontsize="small")
        ax.set_xlabel("velocity [rad/s]")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("friction, offset taken off [N·m]")
    axes[0].legend(fontsize="x-small", loc="upper left")
    return figure


def plot_comparison(
    bars: Mapping[str, tuple[Sequence[float], Sequence[float]]], gains: Sequence[int]
) -> Figure:
    """Draw mean friction by joint and gain beside the bench's.

    Args:
        bars: by joint: found and the bench's, one for each gain, N·m.
        gains: kp.
    """
    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    ax = figure.subplots()
    colors = [gain_color(kp) for kp in gains]
    for place, (friction, bench) in enumerate(bars.values()):
        along = place + np.linspace(-0.3, 0.3, len(gains))
        ax.bar(along, bench, width=0.6 / len(gains), color="0.85", edgecolor="0.6", linewidth=0.5)
        ax.scatter(along, friction, color=colors, s=22, zorder=3)
    for kp, color in zip(gains, colors, strict=True):
        ax.scatter([], [], color=color, s=22, label=f"found, kp {kp}")
    ax.bar([np.nan], [np.nan], color="0.85", edgecolor="0.6", label="M6 of the bench")
    ax.set_xticks(range(len(bars)), list(bars), fontsize="small", rotation=12)
    ax.set_ylabel("mean friction while moving [N·m]")
    ax.set_title("A humanoid's squats: friction found, and M6 of BAM's bench", fontsize="medium")
    ax.grid(alpha=0.3, axis="y")
    ax.legend(fontsize="x-small", ncols=2)
    return figure
