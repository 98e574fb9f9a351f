# SPDX-License-Identifier: Apache-2.0
"""Friction found with a wrong model of inertia, and with the model corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from bam_core.whole_body.friction_law import JointFriction
from papers.egle.inertia_error import InertiaError
from papers.egle.inertia_identification import JointIdentification


def plot_inertia_errors(studies: Mapping[str, Sequence[InertiaError]], law: JointFriction) -> Figure:
    """Draw a joint's friction found with wrong inertia, as Egle's figures 7.5 and 7.6, a panel for each kind.

    Args:
        studies: by title of the panel, from the lowest factor to the highest.
        law: true.
    """
    figure = Figure(figsize=(4.6 * len(studies), 6.0), layout="constrained")
    figure.suptitle("Right knee: friction found with a wrong model of inertia (figs. 7.5, 7.6)")
    panels = figure.subplots(1, len(studies), sharey=True)
    for axes, (title, study) in zip(np.atleast_1d(panels), studies.items(), strict=True):
        for index, error in enumerate(study):
            shift = round(error.shift, 2) + 0.0  # none is -0
            label = f"{error.factor:g}: shift {shift:+.2f}, branches {error.separation:.2f} N·m apart"
            axes.plot(
                error.velocity,
                error.curve,
                ".",
                markersize=2,
                color=f"C{index}",
                label=label,
                rasterized=True,
            )
        along = np.linspace(study[0].velocity.min(), study[0].velocity.max(), 800)
        axes.plot(along, law.curve(along), color="black", linewidth=1, label="true")
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("joint velocity [rad/s]")
        axes.grid(alpha=0.3)
        axes.legend(
            title="modelled over true",
            title_fontsize="x-small",
            fontsize="x-small",
            markerscale=4,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.14),
        )
    np.atleast_1d(panels)[0].set_ylabel("friction [N·m]")
    return figure


def plot_identified_inertia(
    by_motion: Mapping[str, JointIdentification], true: Mapping[tuple[str, str], float]
) -> Figure:
    """Draw factors of mass and moments of inertia that were found together with friction.

    Args:
        found: by what they were found from.
        true: factor by group and kind.
    """
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    figure.suptitle("Inertia found together with friction: true over modelled")
    axes = figure.subplots()
    names = list(true)
    places = np.arange(len(names))
    axes.plot(places, list(true.values()), "_", color="black", markersize=28, markeredgewidth=2, label="true")
    axes.axhline(1.0, color="0.6", linewidth=0.8, label="what the model says")
    for index, (whose, result) in enumerate(by_motion.items()):
        by_name = {(scale.group, scale.kind): scale for scale in result.scales}
        shifted = places + 0.18 * (index - (len(by_motion) - 1) / 2)
        values = [by_name[name].factor for name in names]
        errors = [2.0 * by_name[name].standard_error for name in names]
        axes.errorbar(shifted, values, yerr=errors, fmt="o", color=f"C{index}", capsize=3, label=whose)
    kinds = {"mass": "mass of", "rotation": "moments of\ninertia of"}
    axes.set_xticks(places, [f"{kinds[kind]}\n{group}" for group, kind in names])
    axes.set_ylabel("factor; bars: 2 standard errors")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", handlelength=3.5)
    return figure
