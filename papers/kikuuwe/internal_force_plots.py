# SPDX-License-Identifier: Apache-2.0
"""The internal force over its drive and feedback, and the projection along axes (Kikuuwe figs. 7, 8)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from bam_core.arrays import Array
from bam_core.gears.axproj import axproj
from bam_core.gears.internal_force import internal_forces

_GREEN, _BLUE, _RED = "#2ca02c", "#1f77b4", "#d62728"
# Heads end where the projection is: by default an arrow stops two points before it.
_ARROW = {"arrowstyle": "-|>", "color": _BLUE, "linewidth": 1.2, "shrinkA": 0.0, "shrinkB": 0.0}
MARGIN = 0.75
"""Of the width of what is drawn, on either side of it."""

_REGIONS = ("#ffffff", "#c7e9c0", "#fbd3df")  # inside, at an edge, at a vertex, as in the paper


def plot_internal_force() -> Figure:
    """Draw λ over φ for feedbacks ρ within and beyond ±1 (fig. 7), cut by cut."""
    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    axes = figure.subplots(1, 5, sharey=True)
    for ax, rho in zip(axes, (-1.5, -0.5, 0.0, 0.5, 1.5), strict=True):
        phi = np.linspace(-1.0, 1.0, 401)
        points = [(one, force) for one in phi for force in internal_forces(float(one), rho)]
        drive, force = np.array(points).T
        if abs(rho) < 1.0:
            ax.plot(drive, force, color=_GREEN, linewidth=2.0)
            words = "one λ each"
        else:
            kept = drive * force > 0.0  # λ_s: the branch that goes on from |ρ| < 1
            for part, color, name in ((kept, _BLUE, "λ, kept in λₛ"), (~kept, _RED, "λ, left out")):
                order = np.argsort(drive[part])
                ax.plot(drive[part][order], force[part][order], color=color, linewidth=2.0, label=name)
            empty = (0.0, 1.0) if rho > 0.0 else (-1.0, 0.0)
            ax.axvspan(*empty, color="0.9", zorder=0, label="no λ")
            ax.legend(fontsize="x-small", loc="upper left" if rho < 0.0 else "lower right")
            words = "two λ or none"
        ax.axhline(0.0, color="0.5", linewidth=0.7)
        ax.axvline(0.0, color="0.5", linewidth=0.7)
        ax.set(xlabel="drive φ [N·m]", xlim=(-1, 1), ylim=(-2.6, 2.6))
        ax.set_title(f"ρ = {rho:g}: {words}".replace("-", "−"), fontsize="small")
    axes[0].set_ylabel("internal force λ [N·m]")
    figure.suptitle("Internal force λ with λ − ρ·|λ| = φ", fontsize="medium")
    return figure


def plot_projection(problem: tuple[Array, Array, Array], outline: Array, corners: Array) -> Figure:
    """Draw how two joints' velocities are projected (fig. 8).

    Args:
        problem: A, φ, P of two joints.
        outline: A·Φ(s) along the border of the square of s, (n, 2) rad/s.
        corners: A·Φ(s) at its corners (1, 1), (1, -1), (-1, -1), (-1, 1), (4, 2) rad/s.
    """
    A, phi, P = problem
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    ax: Axes = figure.subplots()
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = MARGIN * (high - low)
    grids = [np.linspace(low[axis] - margin[axis], high[axis] + margin[axis], 161) for axis in range(2)]
    kinds = np.array(
        [
            [int(np.sum(axproj(np.array([x, y]), A, phi, P).velocity != 0.0)) for x in grids[0]]
            for y in grids[1]
        ]
    )
    ax.contourf(*grids, kinds, levels=(-0.5, 0.5, 1.5, 2.5), colors=_REGIONS)
    ax.add_patch(Polygon(outline, closed=True, fill=False, edgecolor="black", linewidth=1.5))
    for name, place, (right, up) in zip("ABCD", corners, ((1, 1), (1, -1), (-1, -1), (-1, 1)), strict=True):
        ax.plot(*place, "o", color="black", markersize=4)
        ax.annotate(
            name, place, xytext=(-9 * right, -9 * up), textcoords="offset points", ha="center", va="center"
        )
    random = np.random.default_rng(4)
    for _ in range(16):
        v = np.array([random.uniform(grid[0], grid[-1]) for grid in grids])
        y = axproj(v, A, phi, P).projection
        if np.any(y != v):  # what stays has no arrow
            ax.annotate("", tuple(y), tuple(v), arrowprops=_ARROW)
        ax.plot(*v, ".", color=_BLUE, markersize=5)
    ax.set(xlabel="v₁ [rad/s]", ylabel="v₂ [rad/s]")
    ax.set_title(
        "axproj: white stays, green goes along an axis to an edge, pink to a vertex", fontsize="medium"
    )
    return figure
