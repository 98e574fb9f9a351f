# SPDX-License-Identifier: Apache-2.0
"""Friction found in the joints of a walking robot: over time, over velocity, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bam_core.arrays import Array
from bam_core.whole_body import FrictionEstimate, JointFriction
from papers.egle.walking import Walk

Curve = tuple[str, Array, Array]
"""Label, velocities rad/s, friction as drawn (positive at positive velocity) N·m."""


def plot_supports(walk: Walk, estimate: FrictionEstimate, joint: str, limit: float = 4.0) -> Figure:
    """Draw the friction of all joints over time, on one foot and on two, as Egle's figure 6.1.

    Args:
        walk: with friction in one joint.
        estimate: of all its samples.
        joint: the one.
        limit: of the torques drawn, N·m; those on two feet go far beyond.
    """
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    figure.suptitle(
        "Friction torque estimated with true accelerations, friction in one joint only (fig. 6.1)"
    )
    single, double = figure.subplots(2, 1, sharex=True)
    alone = np.array([len(feet) == 1 for feet in estimate.contacts])
    column = estimate.column(joint)
    for axes, mask, title in (
        (single, alone, "single support: τ_f = M_mod · Δq̈ (5.13)"),
        (double, ~alone, "double support: regularised (6.1); the robot holds itself in many ways"),
    ):
        torque = np.where(mask[:, None], estimate.torque, np.nan)
        others = np.delete(torque, column, axis=1)
        axes.plot(estimate.time, others, color="0.65", linewidth=0.8)
        axes.plot([], [], color="0.65", linewidth=0.8, label="the other 24 joints")
        axes.plot(
            estimate.time,
            walk.friction[:, column],
            color="tab:orange",
            linewidth=3,
            label=f"{_text(joint)}, true",
        )
        axes.plot(
            estimate.time, torque[:, column], color="tab:blue", linewidth=1.2, label=f"{_text(joint)}, found"
        )
        axes.set_title(title, fontsize="medium")
        axes.set_ylabel("torque on the joint [N·m]")
        axes.grid(alpha=0.3)
        _shade(axes, walk)
    single.set_ylim(-2.2, 1.7)
    double.set_ylim(-limit, limit)
    single.legend(loc="lower left", ncols=3, fontsize="small")
    double.set_xlabel("time [s]; shaded: both feet stand")
    return figure


def plot_schemes(
    walk: Walk, joint: str, estimates: Mapping[str, FrictionEstimate], stance: slice, swing: slice
) -> Figure:
    """Draw what ways to differentiate make of a joint's friction, as Egle's figures 6.2 and 6.3.

    Args:
        walk: with friction in the joint.
        joint: its name.
        found: estimates by the name of the way.
        stance, swing: samples of a step in which the joint's leg stands, and swings.
    """
    figure = Figure(figsize=(11, 7), layout="constrained")
    figure.suptitle(
        f"{_text(joint).capitalize()}: ways to differentiate, at 1 kHz and without noise (figs. 6.2, 6.3)"
    )
    grid = figure.subplots(2, 2)
    for row, (what, part) in enumerate((("its leg swings", swing), ("its leg stands", stance))):
        over_time, over_velocity = grid[row]
        for index, (name, estimate) in enumerate(estimates.items()):
            column = estimate.column(joint)
            style = {"color": f"C{index}", "linewidth": 1.2, "label": name}
            if not index:  # the others lie on it
                style |= {"linewidth": 5.0, "alpha": 0.4}
            over_time.plot(estimate.time[part], -estimate.torque[part, column], **style)
            over_velocity.plot(estimate.velocity[part, column], -estimate.torque[part, column], **style)
        column = next(iter(estimates.values())).column(joint)
        velocity = walk.velocity[part, walk.log.names.index(joint)]
        true = {"color": "black", "linewidth": 1.0, "linestyle": "--", "label": "true"}
        over_time.plot(walk.log.time[part], -walk.friction[part, column], **true)
        order = np.argsort(velocity)
        over_velocity.plot(velocity[order], -walk.friction[part, column][order], **true)
        over_time.set_ylabel(f"{what}\nfriction [N·m]")
        for axes in (over_time, over_velocity):
            axes.grid(alpha=0.3)
    grid[1, 0].set_xlabel("time [s]")
    grid[1, 1].set_xlabel("joint velocity [rad/s]")
    grid[0, 1].legend(loc="best", fontsize="small")
    return figure


def plot_curves(
    title: str,
    curves: Sequence[Curve],
    laws: Mapping[str, JointFriction],
    columns: int = 4,
    share: bool = False,
) -> Figure:
    """Draw friction over velocity, a panel each, with the true curve.

    Args:
        title: above the figure.
        curves: one for each panel.
        laws: true ones by label, where they are known.
        columns: of panels.
        share: one scale of torques for all.
    """
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.5 * rows + 0.5), layout="constrained")
    figure.suptitle(title)
    grid = np.atleast_2d(figure.subplots(rows, columns, sharex=share, sharey=share))
    for axes in grid.flat[len(curves) :]:
        axes.set_visible(False)
    for axes, (label, velocity, friction) in zip(grid.flat, curves, strict=False):
        axes.plot(
            velocity, friction, ".", markersize=2, color="tab:blue", alpha=0.5, label="found", rasterized=True
        )
        if label in laws:
            known = velocity[np.isfinite(velocity)]
            along = np.linspace(known.min(), known.max(), 800)
            axes.plot(along, laws[label].curve(along), color="tab:orange", linewidth=1.4, label="true")
        axes.set_title(_text(label), fontsize="small")
        axes.locator_params(axis="x", nbins=5)
        axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("velocity [rad/s]", fontsize="small")
    for axes in grid[:, 0]:
        axes.set_ylabel("friction [N·m]", fontsize="small")
    grid.flat[0].legend(loc="upper left", fontsize="x-small", markerscale=3)
    return figure


def plot_parameter_errors(
    title: str, symbols: Sequence[str], joints: Sequence[str], errors: Mapping[str, Array]
) -> Figure:
    """Draw errors of parameters, a panel for each, joints side by side, on a logarithmic scale.

    Args:
        title: above the figure.
        symbols: of the parameters.
        joints: names.
        errors: by whose they are, (joints, parameters) %.
    """
    figure = Figure(figsize=(12, 6.5), layout="constrained")
    figure.suptitle(title)
    grid = figure.subplots(2, 3, sharex=True, sharey=True)
    places = np.arange(len(joints))
    marks = ("o", "s", "^", "D")
    for parameter, axes in enumerate(grid.flat):
        for index, (whose, values) in enumerate(errors.items()):
            axes.semilogy(
                places,
                np.maximum(values[:, parameter], _LEAST),
                marks[index % len(marks)],
                color=f"C{index}",
                markersize=5,
                label=whose,
            )
        axes.set_title(symbols[parameter], fontsize="medium")
        axes.grid(alpha=0.3)
        axes.set_xticks(places, [_text(name) for name in joints], rotation=90, fontsize="small")
    grid[0, 0].set_ylim(_LEAST / 2, 2e3)
    for axes in grid[:, 0]:
        axes.set_ylabel("error [%]")
    grid[0, 0].legend(loc="upper right", fontsize="x-small")
    grid[1, 0].annotate(
        f"at the lower edge: {_LEAST:g} % or less", (0.02, 0.93), xycoords="axes fraction", fontsize="x-small"
    )
    return figure


_LEAST = 1e-4  # %


def plot_spectra(frequency: Array, amplitudes: Mapping[str, Array], cutoff: float) -> Figure:
    """Draw spectra of estimated accelerations, as Egle's figure 7.1.

    Args:
        frequency: (m,) Hz.
        amplitudes: by joint, (m,) rad/s².
        cutoff: Hz, which the paper reads off.
    """
    figure = Figure(figsize=(9, 4), layout="constrained")
    figure.suptitle("Spectra of estimated joint accelerations (fig. 7.1)")
    for axes, (joint, amplitude) in zip(figure.subplots(1, len(amplitudes)), amplitudes.items(), strict=True):
        axes.plot(frequency, amplitude, color="tab:blue", linewidth=1)
        axes.axvline(cutoff, color="tab:red", linestyle="--", linewidth=1, label=f"{cutoff:g} Hz")
        axes.set_title(_text(joint), fontsize="medium")
        axes.set_xlabel("frequency [Hz]")
        axes.set_ylabel("amplitude [rad/s²]")
        axes.set_xlim(0, 40)
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    return figure


def _shade(axes: Axes, walk: Walk) -> None:
    for support in walk.supports:
        if len(support.feet) > 1:
            axes.axvspan(support.start, support.end, color="0.93", zorder=0)


def _text(name: str) -> str:
    return name.replace("_", " ")
