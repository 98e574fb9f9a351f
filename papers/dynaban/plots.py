# SPDX-License-Identifier: Apache-2.0
"""Pictures of Dynaban: voltage logs and friction; motions, delays and deformations (figs. 1 to 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bam_core.arrays import Array
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.performance import Performance
from papers.dynaban.voltage_fit import VoltageFit, log_errors, replay_log
from papers.dynaban.voltage_logs import PERIOD, VoltageLog

POSITION, LAW_4, OWN = "PID only", "feed-forward, law (4)", "feed-forward, law (4) of each servo"
"""Ways of control."""

COLORS = {POSITION: "tab:orange", LAW_4: "tab:blue", OWN: "tab:green"}
"""Of the ways of control."""

_HAND, _SEARCH = ("tab:red", "tuned by hand"), ("tab:blue", "CMA-ES")
_FASTEST = 7.5  # rad/s, to which friction is drawn: the no-load speed of an MX-64 at 12 V
_SUPPLY = 13.0  # V; to which voltages are drawn: 12 V with a margin
_LOW, _HIGH = 16, 84  # percentiles: a standard deviation of a normal distribution to either side


def plot_voltage_fit(
    fit: VoltageFit, shown: Sequence[VoltageLog], logs: Sequence[VoltageLog], title: str
) -> Figure:
    """Draw logs with the start's and the fit's motion, and the distribution of all logs' errors.

    Args:
        fit: what was found.
        shown: logs to draw.
        logs: held out; their errors are drawn.
        title: above it.
    """
    figure = Figure(figsize=(11.0, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, len(shown) + 1, height_ratios=(1.5, 1.0))
    for column, log in enumerate(shown):
        time = PERIOD * np.arange(len(log.voltage))
        above = figure.add_subplot(grid[0, column])
        above.plot(time, log.position, color="black", lw=3.0, alpha=0.35, label="measured")
        for model, (color, label) in ((fit.start, _HAND), (fit.model, _SEARCH)):
            above.plot(time, replay_log(model, log), color=color, lw=1.3, label=label)
        above.set_title(log.name, fontsize="small")
        below = figure.add_subplot(grid[1, column], sharex=above)
        below.plot(time, log.voltage, color="0.3", lw=1.2)
        below.set_ylim(-_SUPPLY, _SUPPLY)
        below.set_xlabel("time [s]")
        above.tick_params(labelbottom=False)
        if column == 0:
            above.set_ylabel("position [rad]")
            above.legend(fontsize="small")
            below.set_ylabel("voltage [V]")
        for axes in (above, below):
            axes.grid(alpha=0.3)
    axes = figure.add_subplot(grid[:, -1])
    for errors, (color, label) in zip(
        log_errors((fit.start, fit.model), logs), (_HAND, _SEARCH), strict=True
    ):
        shares = (np.arange(len(errors)) + 1) / len(errors)
        axes.plot(1e3 * np.sort(errors), shares, color=color, label=label)
    axes.set_xscale("log")
    axes.set_xlabel("RMS error of position [mrad]")
    axes.set_ylabel("share of held-out runs below it")
    axes.set_ylim(0.0, 1.02)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="upper left")
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_friction(
    laws: Mapping[str, DynabanModel], steady: Mapping[str, tuple[Array, Array]], title: str
) -> Figure:
    """Draw friction over speed (fig. 1).

    Args:
        laws: name -> parameters of eq. (4).
        steady: name -> speeds, rad/s, and friction torques, N·m, of steady motion.
        title: above it.
    """
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    speed = np.linspace(1e-3, _FASTEST, 400)
    for color, (name, law) in zip((_HAND[0], _SEARCH[0]), laws.items(), strict=False):
        for sign in (1.0, -1.0):
            axes.plot(
                sign * speed, sign * law.budget(speed), color=color, lw=1.6, label=name if sign > 0 else None
            )
        axes.plot([0.0, 0.0], [-law.static, law.static], color=color, lw=1.6)
    for marker, (name, (rates, torque)) in zip("o^", steady.items(), strict=False):
        axes.plot(rates, torque, marker, color="black", ms=4, mfc="none", label=f"steady motion, {name}")
    axes.axhline(0.0, color="0.5", lw=0.6)
    axes.set_xlabel("speed at the output shaft [rad/s]")
    axes.set_ylabel("friction torque against the motion [N·m]")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    axes.set_title(title, fontsize="medium")
    return figure


def plot_friction_models(errors: Mapping[str, Array], title: str) -> Figure:
    """Draw the mean errors of friction models with the standard error over runs.

    Args:
        errors: name -> (runs,) RMS errors, rad.
        title: above it.
    """
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    for index, values in enumerate(errors.values()):
        mean, spread = 1e3 * values.mean(), 1e3 * values.std(ddof=1) / np.sqrt(len(values))
        axes.errorbar(index, mean, spread, fmt="o", ms=5, lw=1.2, capsize=4, color="tab:blue")
        axes.annotate(
            f"{mean:.1f}",
            (index, mean),
            (8.0, 0.0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    axes.set_yscale("log")
    axes.set_xticks(np.arange(len(errors)), [*errors], fontsize="small")
    axes.set_xlim(-0.5, len(errors))
    axes.set_ylabel("mean RMS error over 1 s [mrad]")
    axes.grid(axis="y", which="both", alpha=0.3)
    axes.set_axisbelow(True)
    axes.margins(y=0.15)
    axes.set_title(f"{title} (bars: standard error over runs)", fontsize="medium")
    return figure


def plot_joint(runs: Mapping[str, Sequence[Performance]], joint: int, title: str) -> Figure:
    """Draw the mean trajectory of a joint (fig. 2), and below it the distance from the goal.

    Args:
        runs: way of control, key in COLORS -> runs of one motion.
        joint: index.
        title: above it.
    """
    figure = Figure(figsize=(7.5, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.6, 1.0))
    first = next(iter(runs.values()))[0]
    goal = np.degrees(first.goal[:, joint])
    above.plot(first.time, goal, color="black", ls=":", lw=1.6, label="goal")
    for way, performed in runs.items():
        angles = np.degrees([run.position[:, joint] for run in performed])
        _draw_mean(above, first.time, angles, way)
        _draw_mean(below, first.time, angles - goal, way)
    above.set_ylabel("position [°]")
    below.set_ylabel("measured - goal [°]")
    below.set_xlabel("time [s]")
    above.legend(fontsize="small")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_delays(
    joints: Sequence[str], delay: Mapping[str, Array], ignored: Mapping[int, str], reach: float, title: str
) -> Figure:
    """Draw the delay of each joint with its standard deviation (fig. 3).

    Args:
        joints: names.
        delay: way of control, key in COLORS -> (runs, joints) s.
        ignored: joints whose delay says nothing -> why, in a word; they are drawn pale and count in no mean.
        reach: the largest delay that is looked for, s.
        title: above it.
    """
    figure = Figure(figsize=(9.5, 4.4), layout="constrained")
    axes = figure.subplots()
    _draw_bars(axes, joints, {way: 1e3 * values for way, values in delay.items()}, ignored)
    for side in (reach, -reach):
        label = "limit of the search" if side > 0.0 else None
        axes.axhline(1e3 * side, color="0.5", ls="--", lw=1.0, label=label)
    axes.set_ylabel("delay [ms]")
    axes.legend(fontsize="small")
    axes.set_title(title, fontsize="medium")
    return figure


def plot_deformations(
    joints: Sequence[str],
    error: Mapping[str, Array],
    deformation: Mapping[str, Array],
    ignored: Mapping[int, str],
    title: str,
) -> Figure:
    """Draw RMS errors of each joint, not shifted and shifted, with standard deviations (fig. 4).

    Args:
        joints: names.
        error: way of control, key in COLORS -> (runs, joints) rad, without a shift.
        deformation: likewise, once shifted by the delay.
        ignored: as of `plot_delays`.
        title: above it.
    """
    figure = Figure(figsize=(9.5, 7.0), layout="constrained")
    for axes, values, label in zip(
        figure.subplots(2, 1),
        (error, deformation),
        ("RMS error, not shifted [°]", "RMS error, shifted by the delay [°]"),
        strict=True,
    ):
        _draw_bars(axes, joints, {way: np.degrees(value) for way, value in values.items()}, ignored)
        axes.set_ylabel(label)
    figure.axes[0].legend(fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure


def plot_cartesian(runs: Mapping[str, Sequence[Performance]], title: str) -> Figure:
    """Draw the mean path of the foot and the mean orientation of the trunk over time (fig. 5).

    Args:
        runs: way of control, key in COLORS -> runs of one motion.
        title: above it.
    """
    figure = Figure(figsize=(11.0, 5.6), layout="constrained")
    grid = figure.subplots(2, 3, sharex=True)
    first = next(iter(runs.values()))[0]
    rows = (
        ("foot", "cm", 100.0, "xyz", "goal_place", "place"),
        ("trunk", "°", np.degrees(1.0), ("roll", "pitch", "yaw"), "goal_tilt", "tilt"),
    )
    for line, (what, unit, scale, names, goal, measured) in zip(grid, rows, strict=True):
        for index, (axes, name) in enumerate(zip(line, names, strict=True)):
            wanted = scale * getattr(first, goal)[:, index]
            axes.plot(first.time, wanted, color="black", ls=":", lw=1.6, label="goal")
            for way, performed in runs.items():
                values = scale * np.array([getattr(run, measured)[:, index] for run in performed])
                _draw_mean(axes, first.time, values, way)
            axes.set_ylabel(f"{what} {name} [{unit}]")
            axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure


def _draw_mean(axes: Axes, time: Array, rows: Array, way: str) -> None:
    low, high = np.percentile(rows, [_LOW, _HIGH], axis=0)
    axes.fill_between(time, low, high, color=COLORS[way], alpha=0.25, lw=0)
    for border in (low, high):  # a band under other bands shows by its borders
        axes.plot(time, border, color=COLORS[way], lw=0.6)
    axes.plot(time, rows.mean(axis=0), color=COLORS[way], lw=1.5, label=way, zorder=3)


def _draw_bars(
    axes: Axes, joints: Sequence[str], values: Mapping[str, Array], ignored: Mapping[int, str]
) -> None:
    """Draw (runs, joints) per way as bars, and the mean over those joints that count."""
    counting = [j for j in range(len(joints)) if j not in ignored]
    names = [
        name.replace("_", "\n") + (f"\n({ignored[j]})" if j in ignored else "")
        for j, name in enumerate(joints)
    ]
    place = np.arange(len(names) + 1, dtype=np.float64)
    width = 0.8 / len(values)
    for index, (way, rows) in enumerate(values.items()):
        shown = np.column_stack((rows, rows[:, counting].mean(axis=1)))
        bars = axes.bar(
            place + (index - 0.5 * (len(values) - 1)) * width,
            shown.mean(axis=0),
            width,
            yerr=shown.std(axis=0),
            color=COLORS[way],
            label=way,
            error_kw={"lw": 0.8},
        )
        for joint in ignored:
            bars[joint].set_alpha(0.3)
    axes.axhline(0.0, color="0.3", lw=0.8)
    axes.set_xticks(place, [*names, "mean"], fontsize="x-small")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)


def plot_causes(
    names: Sequence[str], lateness: Sequence[float], deformation: Sequence[float], title: str
) -> Figure:
    """Draw what is left of errors where causes are taken away.

    Args:
        names: of what is left or taken away.
        lateness: mean |delay|, ms.
        deformation: mean RMS error once shifted, °.
        title: above it.
    """
    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    place = np.arange(len(names))[::-1]
    panels = zip(
        figure.subplots(1, 2, sharey=True),
        (lateness, deformation),
        ("mean |delay| [ms]", "mean deformation [°]"),
        ("{:.0f}", "{:.2f}"),
        strict=True,
    )
    for axes, values, label, form in panels:
        bars = axes.barh(place, values, 0.65, color="tab:blue")
        axes.bar_label(bars, [form.format(value) for value in values], padding=3, fontsize="small")
        axes.set_xlabel(label)
        axes.margins(x=0.15)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
    figure.axes[0].set_yticks(place, names, fontsize="small")
    figure.suptitle(title, fontsize="medium")
    return figure
