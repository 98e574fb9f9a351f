# SPDX-License-Identifier: Apache-2.0
"""Which side can drive a gear, and which torques it holds at rest (Kikuuwe figs. 5, 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from bam_core.servo.asymmetry import Asymmetry

CLASSES = {
    "BD & FD": "#1f77b4",
    "nBD & FD": "#ff7f0e",
    "BD & nFD": "#2ca02c",
    "nBD & nFD": "#d62728",
}
"""Colour of each class of fig. 5: backdrivable or not, forward-drivable or not."""

_WORDS = {
    "BD & FD": "backdrivable,\nforward-drivable",
    "nBD & FD": "self-locking,\nforward-drivable",
    "BD & nFD": "backdrivable,\nnot forward-drivable",
    "nBD & nFD": "neither side\ndrives alone",
}

_END = 2.2  # of both axes of the map
_ALPHA = 0.2


def plot_drivability(marked: Sequence[tuple[str, Asymmetry]] = ()) -> Figure:
    """Draw the map of classes over γ_u and γ_v (fig. 5).

    Args:
        marked: gears to mark, with their names.
    """
    figure = Figure(figsize=(5.6, 5.4), layout="constrained")
    ax = figure.subplots()
    ends = [(-_END, -1.0), (-1.0, 1.0), (1.0, _END)]
    for left, right in ends:
        for low, high in ends:
            # A class is told by magnitudes alone.
            middle = Asymmetry(input_side=0.5 * abs(left + right), output_side=0.5 * abs(low + high))
            ax.add_patch(
                Rectangle(
                    (left, low),
                    right - left,
                    high - low,
                    facecolor=CLASSES[middle.drivability],
                    alpha=_ALPHA,
                    linewidth=0,
                )
            )
    for border in (-1.0, 1.0):
        ax.axhline(border, color="0.35", linewidth=0.9)
        ax.axvline(border, color="0.35", linewidth=0.9)
    ax.add_patch(
        Polygon([(-_END, -_END), (_END, -_END), (-_END, _END)], facecolor="white", edgecolor="none", zorder=2)
    )
    ax.plot([-_END, _END], [_END, -_END], color="black", linewidth=1.2, zorder=3)
    ax.text(
        -0.72,
        -0.72,
        "γᵤ + γᵥ < 0\nthe same gears,\nboth signs changed",
        ha="center",
        va="center",
        color="0.4",
        fontsize="small",
        zorder=3,
    )
    for name, place in (
        ("BD & FD", (0.5, 0.29)),
        ("nBD & FD", (0.0, 1.86)),
        ("BD & nFD", (1.6, 0.0)),
        ("nBD & nFD", (1.6, 1.6)),
    ):
        ax.text(
            *place,
            f"{name}\n{_WORDS[name]}",
            ha="center",
            va="center",
            fontsize="small",
            color="0.15",
            zorder=4,
        )
    for label, gear in marked:
        color = CLASSES[gear.drivability]
        ax.plot(gear.input_side, gear.output_side, "o", color=color, markeredgecolor="white", zorder=5)
        ax.annotate(
            label,
            (gear.input_side, gear.output_side),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize="x-small",
            zorder=5,
        )
    ax.set(xlim=(-_END, _END), ylim=(-_END, _END), xticks=range(-2, 3), yticks=range(-2, 3))
    ax.set(xlabel="input-side asymmetry γᵤ", ylabel="output-side asymmetry γᵥ")
    ax.set_title("Which side drives the gear alone", fontsize="medium")
    ax.set_box_aspect(1.0)
    return figure


def plot_static_sets(gears: Sequence[Asymmetry], columns: int = 3) -> Figure:
    """Draw the torques with which gears stay at rest (fig. 6), a panel for each gear.

    Args:
        gears: one or more.
        columns: panels in a row.
    """
    rows = -(-len(gears) // columns)
    figure = Figure(figsize=(3.1 * columns, 3.35 * rows + 0.2), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax, gear in zip(axes.flat, gears, strict=False):
        _draw_static_set(ax, gear)
    for ax in axes.flat[len(gears) :]:
        ax.set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("input torque fᵤ")
    for ax in axes[:, 0]:
        ax.set_ylabel("output torque fᵥ")
    figure.suptitle("Shaded: torques with which a gear at rest stays at rest", fontsize="medium")
    return figure


def _draw_static_set(ax: Axes, gear: Asymmetry) -> None:
    end = np.linspace(-1.0, 1.0, 401)
    drive, load = np.meshgrid(end, end)
    color = CLASSES[gear.drivability]
    depth = np.abs(gear.input_side * drive + gear.output_side * load) - np.abs(drive - load)
    ax.contourf(drive, load, depth, levels=[0.0, np.inf], colors=[color], alpha=1.6 * _ALPHA)
    # f_v = η_f·f_u and f_u = η_b·f_v, the borders of (25).
    for along, up, style, name in (
        (1.0 + gear.output_side, 1.0 - gear.input_side, "-", f"fᵥ = {_number(gear.forward_efficiency)} fᵤ"),
        (1.0 - gear.output_side, 1.0 + gear.input_side, "--", f"fᵤ = {_number(gear.backward_efficiency)} fᵥ"),
    ):
        reach = 1.0 / max(abs(along), abs(up))
        ax.plot(
            [-along * reach, along * reach], [-up * reach, up * reach], style, color=color, lw=1.6, label=name
        )
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.axvline(0.0, color="0.3", linewidth=0.8)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[0], yticks=[0])
    ax.set_box_aspect(1.0)
    sides = f"γᵤ = {gear.input_side:g}, γᵥ = {gear.output_side:g}".replace("-", "−")
    ax.set_title(f"{sides}   {gear.drivability}", fontsize="small")
    ax.legend(loc="lower right", fontsize="x-small", framealpha=0.9, handlelength=1.6)


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
