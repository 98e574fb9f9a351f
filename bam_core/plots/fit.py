# SPDX-License-Identifier: Apache-2.0
"""One log: measured against simulated position, and what is left between them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bam_core.recordings.recording import Recording

_MEASURED, _GOAL = "black", "0.6"
_LEGEND_COLUMNS = 4
_FAINT = 0.2  # of a band: what it covers remains legible
_WIDTH, _HEIGHT = 11.0, 7.0  # inches; margins likewise
_LEFT, _RIGHT, _BOTTOM, _TITLE, _LEGEND_ROW = 1.15, 0.15, 0.6, 0.5, 0.25
_LABEL = 0.72  # from the axes to the label on their left: tick labels such as −0.0010 are between


def plot_fit(
    recording: Recording,
    simulated: Mapping[str, NDArray[np.float64]],
    errors: Mapping[str, float] | None = None,
    *,
    title: str | None = None,
    bands: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None,
) -> Figure:
    """Draw one log.

    Args:
        recording: what was measured.
        simulated: label -> (n,) rad at the recording's times.
        errors: label -> mean absolute error, rad, where it is known from elsewhere; default the mean over
            samples, which differs a little from that over the even steps of a simulation.
        title: above the figure; default the recording's name.
        bands: label -> lower and upper end of the 90 % band of its prediction, (n,) rad each.
    """
    bands = bands or {}
    figure = Figure(figsize=(_WIDTH, _HEIGHT))
    # Margins that are known: a layout that looks for them draws twice, and an identification draws many logs.
    entries = 2 + len(simulated) + len(bands) + (not recording.torque_enabled.all())
    rows = -(-entries // _LEGEND_COLUMNS)
    margins = {
        "left": _LEFT / _WIDTH,
        "right": 1.0 - _RIGHT / _WIDTH,
        "bottom": _BOTTOM / _HEIGHT,
        "top": 1.0 - (_TITLE + _LEGEND_ROW * rows) / _HEIGHT,
        "hspace": 0.06,
    }
    position, residual = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1), gridspec_kw=margins)
    time = recording.time
    if not recording.open_loop:
        position.plot(time, recording.goal_position, color=_GOAL, linestyle=":", label="goal")
    position.plot(time, recording.position, color=_MEASURED, linewidth=1.6, label="measured")
    for index, (label, curve) in enumerate(simulated.items()):
        color = f"C{index}"
        error = curve - recording.position
        mae = errors[label] if errors is not None else float(np.mean(np.abs(error)))
        position.plot(time, curve, color=color, linewidth=1.0, label=f"{label}: {1e3 * mae:.2f} mrad")
        residual.plot(time, 1e3 * error, color=color, linewidth=0.8)
        if label in bands:
            low, high = bands[label]
            position.fill_between(time, low, high, color=color, alpha=_FAINT, label=f"{label}: 90 % band")
            off = [1e3 * (end - recording.position) for end in (low, high)]
            residual.fill_between(time, *off, color=color, alpha=_FAINT)
    _shade_released(figure, recording)
    residual.axhline(0.0, color=_MEASURED, linewidth=0.8)
    position.set_ylabel("position [rad]")
    residual.set(xlabel="time [s]", ylabel="simulated − measured\n[mrad]", xlim=(time[0], time[-1]))
    # Above the axes: inside, a legend of six models covers the curves.
    position.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=_LEGEND_COLUMNS, frameon=False)
    figure.suptitle(title or recording.name)
    for axes in (position, residual):
        axes.grid(alpha=0.3)
        axes.yaxis.set_label_coords(-_LABEL / (_WIDTH - _LEFT - _RIGHT), 0.5)
    return figure


def _shade_released(figure: Figure, recording: Recording) -> None:
    released = ~recording.torque_enabled
    if released.any():
        for axes, label in zip(figure.axes, ("torque off", None), strict=True):
            axes.fill_between(
                recording.time,
                0.0,
                1.0,
                where=released.tolist(),
                transform=axes.get_xaxis_transform(),
                alpha=0.08,
                label=label,
            )
