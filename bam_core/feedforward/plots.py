# SPDX-License-Identifier: Apache-2.0
"""Feed-forward of servos: voltage logs and their models, motions, delays and deformations (Dynaban)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bam_core.arrays import Array
from bam_core.feedforward.identification import VoltageFit, log_errors, replay_log
from bam_core.feedforward.performance import Performance
from bam_core.feedforward.voltage_logs import PERIOD, VoltageLog

POSITION = "PID only"
LAW_4, LAW_M5, LAW_M6 = "feed-forward, law (4)", "feed-forward, M5", "feed-forward, M6"
"""Ways of control."""

COLORS = {POSITION: "tab:orange", LAW_4: "tab:blue", LAW_M5: "tab:green", LAW_M6: "tab:green"}
"""Of the ways of control."""


def plot_voltage_fit(fit: VoltageFit, logs: Sequence[VoltageLog], title: str) -> Figure:
    """Draw a log of each kind of command with the start's and the fit's motion, and the errors of all logs.

    Args:
        fit: what was found.
        logs: held out.
        title: above it.
    """
    figure = Figure(figsize=(11.0, 6.0), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=(1.5, 1.0), width_ratios=(1.0, 1.0, 1.0, 1.1))
    chosen = []
    for kind, loaded in (("step", False), ("saw-tooth", True), ("abrupt", True)):
        like = [log for log in logs if log.name.startswith(kind) and (log.bench.mass > 0.0) == loaded]
        chosen.append(like[len(like) // 2])
    for column, log in enumerate(chosen):
        time = PERIOD * np.arange(len(log.voltage))
        above = figure.add_subplot(grid[0, column])
        above.plot(time, log.position, color="black", lw=3.0, alpha=0.35, label="measured")
        above.plot(time, replay_log(fit.start, log), color="tab:red", lw=1.3, label="tuned by hand")
        above.plot(time, replay_log(fit.model, log), color="tab:blue", lw=1.3, label="CMA-ES")
        above.set_title(log.name, fontsize="medium")
        below = figure.add_subplot(grid[1, column], sharex=above)
        below.plot(time, log.voltage, color="0.3", lw=1.2)
        below.set_xlabel("time [s]")
        above.tick_params(labelbottom=False)
        if column == 0:
            above.set_ylabel("position [rad]")
            above.legend(fontsize="small")
            below.set_ylabel("voltage [V]")
        for axes in (above, below):
            axes.grid(alpha=0.3)
    axes = figure.add_subplot(grid[:, 3])
    for errors, color, label in zip(
        log_errors((fit.start, fit.model), logs),
        ("tab:red", "tab:blue"),
        ("tuned by hand", "CMA-ES"),
        strict=True,
    ):
        axes.plot(np.sort(errors), (np.arange(len(errors)) + 1) / len(errors), color=color, label=label)
    axes.set_xscale("log")
    axes.set_xlabel("RMS error of position [rad]")
    axes.set_ylabel("share of held-out logs below it")
    axes.set_ylim(0.0, 1.02)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_motions(
    runs: Mapping[str, Sequence[Performance]], joints: Sequence[tuple[int, str]], title: str
) -> Figure:
    """Draw joints and the site's way: goal, mean and spread of the runs (figs. 2 and 5).

    Args:
        runs: way of control, key in COLORS -> runs of one motion.
        joints: index and name of those to draw.
        title: above it.
    """
    figure = Figure(figsize=(11.0, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, len(joints) + 1, height_ratios=(1.5, 1.0))
    first = next(iter(runs.values()))[0]
    for column, (joint, name) in enumerate(joints):
        above = figure.add_subplot(grid[0, column])
        below = figure.add_subplot(grid[1, column], sharex=above)
        for way, performed in runs.items():
            angles = np.degrees([run.position[:, joint] for run in performed])
            off = angles - np.degrees([run.goal[:, joint] for run in performed])
            for axes, rows in ((above, angles), (below, off)):
                low, high, middle = rows.min(axis=0), rows.max(axis=0), rows.mean(axis=0)
                axes.fill_between(first.time, low, high, color=COLORS[way], alpha=0.3, lw=0)
                axes.plot(first.time, middle, color=COLORS[way], lw=1.5, label=way)
        above.plot(first.time, np.degrees(first.goal[:, joint]), color="black", ls=":", lw=1.5, label="goal")
        above.set_title(name.replace("_", " "), fontsize="medium")
        above.tick_params(labelbottom=False)
        below.set_xlabel("time [s]")
        if column == 0:
            above.set_ylabel("position [°]")
            below.set_ylabel("off the goal [°]")
            above.legend(fontsize="x-small")
        for axes in (above, below):
            axes.grid(alpha=0.3)
    _draw_way(figure.add_subplot(grid[:, -1]), runs, first)
    figure.suptitle(title, fontsize="medium")
    return figure


def _draw_way(axes: Axes, runs: Mapping[str, Sequence[Performance]], first: Performance) -> None:
    """Draw the site's way in the plane of its two widest axes."""
    flat = np.sort(np.argsort(np.ptp(first.goal_place, axis=0))[-2:])
    for way, performed in runs.items():
        for run in performed:
            axes.plot(*100.0 * run.place[:, flat].T, color=COLORS[way], lw=0.7, alpha=0.6)
    axes.plot(*100.0 * first.goal_place[:, flat].T, color="black", ls=":", lw=1.5)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title("tip", fontsize="medium")
    axes.set_xlabel(f"{'xyz'[flat[0]]} [cm]")
    axes.set_ylabel(f"{'xyz'[flat[1]]} [cm]")
    axes.grid(alpha=0.3)


def plot_delays(
    joints: Sequence[str],
    delay: Mapping[str, Array],
    deformation: Mapping[str, Array],
    error: Mapping[str, Array],
    title: str,
) -> Figure:
    """Draw delay, deformation and unshifted error per joint with standard deviations (figs. 3 and 4).

    Args:
        joints: names.
        delay: way of control, key in COLORS -> (runs, joints) s.
        deformation: likewise, rad.
        error: likewise, rad.
        title: above it.
    """
    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    kinds = (
        ("delay [ms]", delay, 1e3),
        ("RMS error, shifted [°]", deformation, np.degrees(1.0)),
        ("RMS error, not shifted [°]", error, np.degrees(1.0)),
    )
    names = [*(name.replace("_", "\n") for name in joints), "mean"]
    place = np.arange(len(names), dtype=np.float64)
    for axes, (label, values, unit) in zip(np.atleast_1d(figure.subplots(1, 3)), kinds, strict=True):
        width = 0.8 / len(values)
        for index, (way, of_way) in enumerate(values.items()):
            scaled = unit * np.column_stack((of_way, of_way.mean(axis=1)))
            offset = (index - 0.5 * (len(values) - 1)) * width
            axes.bar(
                place + offset,
                scaled.mean(axis=0),
                width,
                yerr=scaled.std(axis=0),
                color=COLORS[way],
                label=way,
                error_kw={"lw": 0.8},
            )
        axes.axhline(0.0, color="0.3", lw=0.8)
        axes.set_xticks(place, names, fontsize="x-small")
        axes.set_ylabel(label)
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_cuts(runs: Mapping[float, Performance], joint: int, name: str) -> Figure:
    """Draw what a joint does when the stream of pieces ends.

    Args:
        runs: time of the last piece's end, s -> run.
        joint: index.
        name: of the joint.
    """
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axes = figure.subplots()
    first = next(iter(runs.values()))
    axes.plot(
        first.time, np.degrees(first.goal[:, joint]), color="black", ls="--", lw=1.5, label="whole motion"
    )
    for index, (end, run) in enumerate(runs.items()):
        shade = 0.2 + 0.7 * index / max(len(runs) - 1, 1)
        color = (0.9 * (1.0 - shade), 0.35, shade)
        after = run.time >= end
        axes.plot(run.time[after], np.degrees(run.position[after, joint]), color=color, lw=1.2)
        axes.plot(end, np.degrees(np.interp(end, run.time, run.position[:, joint])), "o", color=color, ms=4)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{name.replace('_', ' ')} [°]")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    axes.set_title("The stream of pieces ends at a dot: braked, then held", fontsize="medium")
    return figure
