# SPDX-License-Identifier: Apache-2.0
"""The drive/backdrive diagram of a friction model (BAM figs. 2-4).

For a motor torque τ_m and a load that opposes it with -τ_e, the joint is driven while τ_m - τ_f^m > -τ_e,
backdriven while τ_m + τ_f^m < -τ_e, and held between: the wider that band, the more friction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from bam_core.friction import Friction
from bam_core.servo_model import ServoModel

VELOCITIES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""rad/s; one pair of curves each, paler the faster."""

_POINTS = 300
_DRIVE, _BACKDRIVE = "tab:blue", "tab:red"


def stall_torque(servo: ServoModel) -> float:
    """Torque at standstill and full duty on the nominal supply, with a cold winding, N·m."""
    return float(servo.motor.torque(servo.firmware.duty_limit * servo.nominal_voltage, 0.0))


def margins(
    friction: Friction, motor_torque: NDArray[np.float64], load: NDArray[np.float64], velocity: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far a state is from being driven and from being backdriven.

    Args:
        friction: the law.
        motor_torque: τ_m, N·m.
        load: -τ_e, N·m.
        velocity: of the joint, rad/s.

    Returns:
        ``(τ_m - τ_f^m + τ_e, τ_m + τ_f^m + τ_e)`` in N·m: driven where the first is positive, backdriven
        where the second is negative.
    """
    budget = friction.budget(motor_torque, -load, velocity)
    return motor_torque - budget - load, motor_torque + budget - load


def plot_diagram(servos: Sequence[tuple[str, ServoModel]], *, max_torque: float | None = None) -> Figure:
    """Draw the diagrams of several servo models side by side.

    Args:
        servos: label and model, at least one.
        max_torque: end of all axes, N·m; by default each model's stall torque.
    """
    figure = Figure(figsize=(4.2 * len(servos), 4.8), layout="constrained")
    axes = figure.subplots(1, len(servos), squeeze=False)[0]
    for ax, (label, servo) in zip(axes, servos, strict=True):
        _draw(ax, servo.friction, max_torque or stall_torque(servo))
        ax.set_title(f"{label}  ({servo.friction_model.upper()})")
    axes[0].set_ylabel(r"load torque $-\tau_e$ [N·m]")
    handles = [
        Line2D([], [], color=_DRIVE, label="drive"),
        Line2D([], [], color=_BACKDRIVE, label="backdrive"),
        Line2D([], [], color="black", linestyle="--", label="no friction"),
    ]
    axes[-1].legend(handles=handles, loc="upper left")
    speeds = ", ".join(f"{velocity:g}" for velocity in VELOCITIES)
    figure.supxlabel(f"paler: faster ({speeds} rad/s)", fontsize="small")
    return figure


def _draw(ax: Axes, friction: Friction, limit: float) -> None:
    torque = np.linspace(0.0, limit, _POINTS)
    motor, load = np.meshgrid(torque, torque)
    for velocity in VELOCITIES:
        alpha = float(np.exp(-velocity / 2.0))
        for margin, color in zip(margins(friction, motor, load, velocity), (_DRIVE, _BACKDRIVE), strict=True):
            if margin.min() < 0.0 < margin.max():
                ax.contour(motor, load, margin, levels=[0.0], colors=color, alpha=alpha)
    ax.plot([0.0, limit], [0.0, limit], color="black", linestyle="--", linewidth=1)
    ax.set(xlim=(0.0, limit), ylim=(0.0, limit), xlabel=r"motor torque $\tau_m$ [N·m]")
    ax.set_box_aspect(1.0)
    ax.grid(alpha=0.3)
