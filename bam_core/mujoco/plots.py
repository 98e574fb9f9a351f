# SPDX-License-Identifier: Apache-2.0
"""A simulated run over time: positions, commands, and the torques behind it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bam_core.mujoco import Replay
from bam_core.recordings.recording import Recording


def plot_simulation(title: str, run: Replay, recording: Recording | None = None) -> Figure:
    """Draw a run: position and goal above, torques below; with a recording also the error between them.

    Args:
        title: above the figure.
        run: simulated.
        recording: of the same commands, if there is one.
    """
    heights = [3, 2] if recording is None else [3, 1, 2]
    figure = Figure(figsize=(9, 1.7 * sum(heights)), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _shade_release(axes, run)
    position, torque = axes[0], axes[-1]
    position.plot(run.time, run.goal_position, color="0.6", linewidth=1, linestyle="--", label="goal")
    if recording is not None:
        time = recording.time - recording.time[0]
        position.plot(time, recording.position, color="tab:blue", linewidth=1.2, label="recorded")
        error = run.position_at(time) - recording.position
        axes[1].plot(time, 1e3 * error, color="tab:red", linewidth=1)
        axes[1].set_ylabel("error [mrad]")
    position.plot(run.time, run.position, color="tab:orange", linewidth=1.2, label="simulated")
    position.set_ylabel("position [rad]")
    torque.plot(run.time, run.motor_torque, color="tab:green", linewidth=1, label="motor τ_m")
    torque.plot(run.time, run.friction_torque, color="tab:purple", linewidth=1, label="friction τ_f")
    torque.set_ylabel("torque [N·m]")
    torque.set_xlabel("time [s]")
    for panel in (position, torque):
        panel.legend(loc="best", fontsize="small")
    for panel in axes:
        panel.grid(alpha=0.3)
    return figure


def _shade_release(axes: np.ndarray[tuple[int], np.dtype[np.object_]], run: Replay) -> None:
    """Grey where torque was off."""
    axis: Axes
    for axis in axes:
        axis.fill_between(
            run.time,
            0,
            1,
            where=~run.torque_enabled,
            transform=axis.get_xaxis_transform(),
            color="0.92",
            linewidth=0,
        )
