# SPDX-License-Identifier: Apache-2.0
"""Two-link arms on their paths, as BAM figs. 1, 6 and 7."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from papers.bam.arm_paths import PATHS, path_points
from papers.bam.arm_tracking import ArmTrack
from papers.bam.model_plots import MODEL_COLORS
from papers.bam.two_link import TwoLinkArm

_COLUMNS = 2
_POINT_OFFSET = 0.13  # of points of a group
MARKERS = "osD^vP"
"""Of M1 to M6."""


def plot_paths(arms: Sequence[TwoLinkArm], paths: Sequence[str]) -> Figure:
    """Draw the paths of the tip with the arm at their start; one row per arm."""
    figure = Figure(figsize=(2.8 * len(paths), 2.6 * len(arms)), layout="constrained")
    panels = np.asarray(figure.subplots(len(arms), len(paths), squeeze=False, sharex="row", sharey="row"))
    for row, arm in zip(panels, arms, strict=True):
        for axes, name in zip(row, paths, strict=True):
            points = path_points(arm, name, np.linspace(0.0, PATHS[name].duration, 2000))
            shoulder, _ = arm.inverse(points[0])
            elbow = arm.upper.length * np.array([np.sin(shoulder), -np.cos(shoulder)])
            links = np.array([[0.0, 0.0], elbow, points[0]])
            axes.plot(*links.T, "o-", color="0.55", lw=3, markersize=6)
            axes.plot(*points.T, color="tab:blue")
            axes.set_aspect("equal")
            axes.set_title(name.replace("_", " "), fontsize="medium")
            axes.grid(alpha=0.3)
        row[0].set_ylabel(f"{arm.title}\nheight [m]", fontsize="small")
    for axes in panels[-1]:
        axes.set_xlabel("horizontal [m]")
    return figure


def plot_arm_errors(arms: Mapping[str, Mapping[tuple[str, str], Mapping[str, float]]]) -> Figure:
    """Draw points per path and gain, a panel per arm, two in a row.

    Points, as the axis is logarithmic: bars have no foot there.

    Args:
        arms: title -> (path, gain) -> model -> mean absolute error of the joints, rad.
    """
    rows = math.ceil(len(arms) / _COLUMNS)
    figure = Figure(figsize=(15.0, 3.6 * rows + 0.4), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False, sharey="row").ravel()
    for axes, (title, mae) in zip(panels, arms.items(), strict=False):
        models = list(next(iter(mae.values())))
        place = np.arange(len(mae), dtype=np.float64)
        for index, model in enumerate(models):
            heights = [1e3 * of_model[model] for of_model in mae.values()]
            offset = (index - 0.5 * (len(models) - 1)) * _POINT_OFFSET
            axes.plot(
                place + offset, heights, MARKERS[index], ms=6, color=MODEL_COLORS[index], label=model.upper()
            )
        for border in place[1:] - 0.5:
            axes.axvline(border, color="0.85", lw=0.8)
        axes.set_xlim(-0.5, len(mae) - 0.5)
        axes.set_xticks(
            place, [f"{path.replace('_', chr(10))}\n{gain}" for path, gain in mae], fontsize="small"
        )
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(LogLocator(subs=(2.0, 3.0, 5.0)))
        for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
            formatted("{x:g}")
        axes.set_title(f"{title}; low gains (LG) and high ones (HG)", fontsize="medium")
        axes.grid(axis="y", which="both", alpha=0.3)
        axes.set_axisbelow(True)
    for axes in panels[::_COLUMNS]:
        axes.set_ylabel("mean absolute error [mrad]")
    for axes in panels[len(arms) :]:
        axes.remove()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small", frameon=False
    )
    return figure


def plot_arm_run(arm: TwoLinkArm, true: ArmTrack, simulated: Mapping[str, ArmTrack]) -> Figure:
    """Draw the tip's way and its distance from the true one over time.

    Args:
        arm: whose tip it is.
        true: the run that is to be met.
        simulated: model -> run.
    """
    figure = Figure(figsize=(11.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    goal, tip = arm.forward(true.goal_position), arm.forward(true.position)
    left.plot(*goal.T, color="0.75", lw=1.0, label="goal")
    left.plot(*tip.T, color="black", lw=2.0, label="true")
    for (model, run), color in zip(simulated.items(), ("tab:orange", "tab:blue"), strict=False):
        path = arm.forward(run.position)
        left.plot(*path.T, "--", color=color, label=model.upper())
        right.plot(run.time, 1e3 * np.linalg.norm(path - tip, axis=1), color=color, label=model.upper())
    left.set_aspect("equal")
    left.set_xlabel("horizontal [m]")
    left.set_ylabel("height [m]")
    left.legend(fontsize="small")
    right.set_xlabel("time [s]")
    right.set_ylabel("distance of the tip from the true one [mm]")
    right.legend(fontsize="small")
    figure.suptitle(f"{arm.title}, low gains")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    return figure
