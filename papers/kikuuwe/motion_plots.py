# SPDX-License-Identifier: Apache-2.0
"""What the examples of Kikuuwe's section 6 do (figs. 9, 11, 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from papers.kikuuwe.examples import RodRun, WallRun, rod_drive, wall_drive

_COLORS = ("#9ecae1", "#4292c6", "#08519c", "#d62728")
"""From little asymmetry to a gear that locks itself, which is red."""

_WALL_PHASES = (
    (0.0, 0.5, "off"),
    (0.5, 1.0, "robot pushes"),
    (1.0, 1.5, "wall advances"),
    (1.5, 2.0, "robot pushes"),
    (2.0, 2.5, "off"),
    (2.5, 3.0, "robot pulls"),
)

_SNAPSHOTS = np.arange(0.0, 2.0, 0.3)  # s


def plot_rod(
    runs: Sequence[RodRun], title: str = "A rod is driven onto a spring through gears with γᵤ = 0.2"
) -> Figure:
    """Draw position and contact force of the rod for several γ_v (fig. 9).

    Args:
        runs: in the order of γ_v.
        title: of the figure.
    """
    figure = Figure(figsize=(8.0, 6.2), layout="constrained")
    position, force = figure.subplots(2, 1, sharex=True)
    for run, color in zip(runs, _shades(len(runs)), strict=True):
        side = run.gear.asymmetry.output_side
        label = f"γᵥ = {side:g}" + ("" if run.gear.asymmetry.is_backdrivable else ", locks itself")
        position.plot(run.time, run.position, color=color, label=label, linewidth=1.7)
        force.plot(run.time, run.contact, color=color, linewidth=1.7)
    position.axhline(0.0, color="0.3", linewidth=0.8, linestyle=":")
    position.annotate(
        "surface of the spring",
        (0.99, 0.0),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        fontsize="small",
    )
    position.set(ylabel="position p [rad]")
    position.legend(loc="upper right", fontsize="small", bbox_to_anchor=(0.9, 1.0))
    drive = np.array([rod_drive(t) for t in runs[0].time])
    force.plot(runs[0].time, drive, color="black", linestyle="--", linewidth=1.2, label="drive fᵤ")
    force.set(xlabel="time [s]", ylabel="torque [N·m]", xlim=(0.0, float(runs[0].time[-1])))
    force.plot([], [], color="0.4", linewidth=1.7, label="from rod to environment fᵥ")
    force.legend(loc="lower right", fontsize="small")
    phases = ((0.0, 0.9, "drive: −40 N·m"), (0.9, 1.4, "off"), (1.4, 2.0, "+20 N·m"))
    for ax in (position, force):
        _mark_phases(ax, phases, titled=ax is position)
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_wall(runs: Sequence[WallRun], title: str) -> Figure:
    """Draw what the two-link robot does as it pushes a wall and is pushed (figs. 11, 12).

    Args:
        runs: one panel of snapshots each, one line each below.
        title: of the figure.
    """
    figure = Figure(figsize=(9.0, 7.6), layout="constrained")
    grid = figure.add_gridspec(3, len(runs), height_ratios=(1.45, 1.0, 1.0))
    colors = _shades(len(runs)) if len(runs) > 2 else ["#1f77b4", "#ff7f0e"][: len(runs)]
    for column, (run, color) in enumerate(zip(runs, colors, strict=True)):
        ax = figure.add_subplot(grid[0, column])
        _draw_snapshots(ax, run, color)
        if column == 0:
            ax.set_ylabel("y [m]")
    hand = figure.add_subplot(grid[1, :])
    force = figure.add_subplot(grid[2, :], sharex=hand)
    for run, color in zip(runs, colors, strict=True):
        hand.plot(run.time, run.hand[:, 0], color=color, linewidth=1.7, label=_name(run))
        force.plot(run.time, run.force, color=color, linewidth=1.7)
    hand.plot(runs[0].time, runs[0].wall, color="black", linestyle="--", linewidth=1.2, label="wall")
    low = min(float(run.wall.min()) for run in runs) - 0.3
    hand.set(ylabel="hand pₓ [m]", ylim=(low, None))
    hand.legend(loc="lower left", fontsize="small", ncols=2)
    hand.tick_params(labelbottom=False)
    drive = [-wall_drive(t) for t in runs[0].time]
    force.plot(runs[0].time, drive, color="black", linestyle=":", linewidth=1.2)
    force.annotate(
        "−fᵤₓ",
        (0.99, drive[-1]),
        xycoords=("axes fraction", "data"),
        xytext=(0, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize="small",
    )
    force.set(xlabel="time [s]", ylabel="force of the wall fₓ [N]", xlim=(0.0, float(runs[0].time[-1])))
    for ax in (hand, force):
        _mark_phases(ax, _WALL_PHASES, titled=ax is hand)
    legend = (
        f"every 0.3 s until {_SNAPSHOTS[-1]:g} s, paler the earlier; ring: the joint locks itself; "
        "wall at first dotted, at last full"
    )
    figure.suptitle(f"{title}\n", fontsize="medium")
    figure.text(0.5, 0.955, legend, ha="center", fontsize="small", color="0.3")
    return figure


def plot_stiffness(runs: Mapping[float, WallRun]) -> Figure:
    """Draw hand and force of a robot at walls of several stiffnesses.

    Args:
        runs: of the same robot, by the wall's stiffness in N/m.
    """
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    hand, force = figure.subplots(2, 1, sharex=True)
    colors = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, len(runs)))
    for (stiffness, run), color in zip(runs.items(), colors, strict=True):
        hand.plot(run.time, run.hand[:, 0], color=color, linewidth=1.7, label=f"{stiffness / 1e3:g} kN/m")
        force.plot(run.time, -run.force / 1e3, color=color, linewidth=1.7)
    first = next(iter(runs.values()))
    hand.plot(first.time, first.wall, color="black", linestyle="--", linewidth=1.2, label="wall")
    hand.set(ylabel="hand pₓ [m]", ylim=(float(first.wall.min()) - 0.3, None))
    hand.legend(fontsize="small", loc="lower left")
    force.set_yscale("symlog", linthresh=2.0)
    label = "force on the wall −fₓ [kN]\n(linear to 2 kN, then logarithmic)"
    force.set(xlabel="time [s]", ylabel=label, ylim=(0.0, None))
    force.set_xlim(0.0, float(first.time[-1]))
    for ax in (hand, force):
        _mark_phases(ax, _WALL_PHASES, titled=ax is hand)
    figure.suptitle(f"{_name(first)}: what the stiffness of the wall does", fontsize="medium")
    return figure


def _draw_snapshots(ax: Axes, run: WallRun, color: Any) -> None:
    """Draw the robot every 0.3 s, paler the earlier, and where the wall is at first and at last.

    A ring is around joints that lock themselves.
    """
    points = np.zeros((3, 2))
    for index, time in enumerate(_SNAPSHOTS):
        k = min(round(time * 1000), len(run.time) - 1)
        first, second = run.joints[k]
        elbow = np.array([np.cos(first), np.sin(first)])
        tip = elbow + np.array([np.cos(first + second), np.sin(first + second)])
        points = np.array([[0.0, 0.0], elbow, tip])
        ax.plot(
            *points.T,
            "-o",
            color=color,
            alpha=0.2 + 0.8 * (index + 1) / len(_SNAPSHOTS),
            linewidth=2.0,
            markersize=4,
        )
    for place, style in ((run.wall[0], ":"), (run.wall[-1], "-")):
        ax.axvline(float(place), color="black", linestyle=style, linewidth=1.2)
    for joint, place in enumerate(points[:2]):
        if run.output_side[joint] >= 1.0:
            ax.plot(*place, "o", mfc="none", mec="#d62728", mew=1.8, markersize=13)
    ax.set(xlim=(-0.25, 1.75), ylim=(-0.25, 1.75), xlabel="x [m]")
    ax.set_aspect("equal")
    ax.set_title(_name(run), fontsize="small")
    ax.grid(alpha=0.3)


def _name(run: WallRun) -> str:
    return "γᵥ = [{:g}, {:g}]".format(*run.output_side)


def _mark_phases(ax: Axes, phases: Sequence[tuple[float, float, str]], *, titled: bool) -> None:
    """Draw borders between phases, and write what they are along the top."""
    for (begin, end, words), shade in zip(phases, (True, False) * len(phases), strict=False):
        if shade:
            ax.axvspan(begin, end, color="0.93", zorder=0, linewidth=0)
        if titled:
            ax.text(
                0.5 * (begin + end),
                1.02,
                words,
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize="small",
                color="0.25",
            )
    for (_, end, _), _ in pairwise(phases):
        ax.axvline(end, color="0.8", linewidth=0.8, zorder=0)
    ax.grid(alpha=0.3)


def _shades(count: int) -> list[Any]:
    """Return colours for lines: the last is red, those before it go from pale to dark blue."""
    if count == len(_COLORS):
        return list(_COLORS)
    blues = matplotlib.colormaps["Blues"](np.linspace(0.45, 0.85, max(count - 1, 1)))
    return [*blues[: count - 1], _COLORS[-1]]
