# SPDX-License-Identifier: Apache-2.0
"""The drive/backdrive diagram of a friction model (BAM figs. 2-4).

For a motor torque τ_m and a load that opposes it with -τ_e, the joint is driven while τ_m - τ_f^m > -τ_e,
backdriven while τ_m + τ_f^m < -τ_e, and static between: the wider that area, the more friction. Areas are
those of a joint at rest; lines, paler with each rad/s, show how the borders move with the joint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from bam_core.servo.friction import Friction
from bam_core.servo.model import ServoModel

VELOCITIES = (0.0, 1.0, 2.0, 3.0)
"""rad/s; one pair of borders each, paler the faster, as in BAM fig. 4."""

AREAS = {"drive": "#1f77b4", "static": "#7f7f7f", "backdrive": "#d62728"}
"""Colour of each area; those of drive and backdrive are their borders' as well."""

_COLUMNS = 4  # of panels, at most
_POINTS = 121
_TICKS = 6  # at most, on either axis
_AREA_ALPHA = 0.16
_ROOM_LEVEL, _ROOM_TILTED = 0.09, 0.028  # around a label, of the axis; with less of it there is none


def stall_torque(servo: ServoModel) -> float:
    """Torque at standstill and full duty on the nominal supply, with a cold winding, N·m."""
    return servo.stall_torque()


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
    """Draw the diagrams of several servo models, in rows of at most four.

    Args:
        servos: label and model, at least one.
        max_torque: end of all axes, N·m; by default the highest stall torque of a servo's models, so that
            they compare.

    Raises:
        BamError: a servo has a gear.
    """
    for _, servo in servos:
        servo.require_no_gear("this diagram")
    rows = math.ceil(len(servos) / _COLUMNS)
    columns = math.ceil(len(servos) / rows)
    figure = Figure(figsize=(max(4.4 * columns, 5.6), 4.6 * rows + 0.8), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    of_one = len(servos) > 1 and len({label for label, _ in servos}) == 1
    limits: dict[str, float] = {}
    for _, servo in servos:
        limits[servo.name] = max(limits.get(servo.name, 0.0), stall_torque(servo))
    for ax, (label, servo) in zip(panels, servos, strict=False):
        draw_diagram(ax, servo, max_torque or limits[servo.name])
        ax.set_title(servo.friction_model.upper() if of_one else f"{label}  ({servo.friction_model.upper()})")
    for ax in panels[len(servos) :]:
        ax.remove()
    if of_one:
        figure.suptitle(servos[0][0])
    speeds = ", ".join(f"{velocity:g}" for velocity in VELOCITIES)
    figure.legend(
        handles=_handles(),
        loc="outside lower center",
        ncols=4,
        fontsize="small",
        frameon=False,
        title=f"areas: at rest; borders: at {speeds} rad/s, paler the faster",
        title_fontsize="small",
    )
    return figure


def draw_diagram(ax: Axes, servo: ServoModel, limit: float) -> None:
    """Draw one servo model's diagram with labelled areas; both axes go from 0 to `limit`, N·m."""
    torque = np.linspace(0.0, limit, _POINTS)
    motor, load = np.meshgrid(torque, torque)
    _draw_areas(ax, servo.friction, motor, load)
    for velocity in VELOCITIES:
        alpha = float(np.exp(-velocity / 1.8))
        borders = margins(servo.friction, motor, load, velocity)
        for margin, color in zip(borders, (AREAS["drive"], AREAS["backdrive"]), strict=True):
            if margin.min() < 0.0 < margin.max():
                ax.contour(motor, load, margin, levels=[0.0], colors=color, alpha=alpha, linewidths=1.6)
    ax.plot([0.0, limit], [0.0, limit], color="black", linestyle="--", linewidth=1)
    ax.set(xlim=(0.0, limit), ylim=(0.0, limit))
    ax.set(xlabel="motor torque τₘ [N·m]", ylabel="load torque −τₑ [N·m]")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(_TICKS, steps=[1, 2, 5, 10]))
    ax.set_box_aspect(1.0)
    ax.grid(alpha=0.3)


def _draw_areas(ax: Axes, friction: Friction, motor: NDArray[np.float64], load: NDArray[np.float64]) -> None:
    at_speed = [_depths(friction, motor, load, velocity) for velocity in VELOCITIES]
    off_diagonal = np.abs(motor - load) > motor.max() / _POINTS  # where a dashed line runs
    for label, color in AREAS.items():
        depth = at_speed[0][label]
        if depth.max() > 0.0:
            ax.contourf(motor, load, depth, levels=[0.0, np.inf], colors=[color], alpha=_AREA_ALPHA)
            if label == "static":
                _label_band(ax, depth > 0.0, motor.max())
                continue
            free = np.min([depths[label] for depths in at_speed], axis=0) > 0.0
            _label_area(ax, label, free & off_diagonal, motor.max())


def _depths(
    friction: Friction, motor: NDArray[np.float64], load: NDArray[np.float64], velocity: float
) -> dict[str, NDArray[np.float64]]:
    """How far inside each area a state is, N·m: a level line at zero is the area's edge."""
    driven, backdriven = margins(friction, motor, load, velocity)
    return {"drive": driven, "static": np.minimum(-driven, backdriven), "backdrive": -backdriven}


def _label_area(ax: Axes, label: str, free: NDArray[np.bool_], limit: float) -> None:
    """Write where lines leave most room; along the diagonal where there is little, nothing where less."""
    room = distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] / _POINTS
    # Along a band there is as much room everywhere: its middle, then.
    off_center = np.abs(np.add.outer(np.arange(_POINTS), np.arange(_POINTS)) / _POINTS - 1.0)
    row, column = np.unravel_index(int(np.argmax(room - 0.03 * off_center)), room.shape)
    if room[row, column] < _ROOM_TILTED:
        return
    x, y = (limit * int(index) / (_POINTS - 1) for index in (column, row))
    level = room[row, column] > _ROOM_LEVEL
    tilt, size = (0.0, "medium") if level else (45.0, "small")
    ax.text(x, y, label, rotation=tilt, fontsize=size, ha="center", va="center", rotation_mode="anchor")


def _label_band(ax: Axes, static: NDArray[np.bool_], limit: float) -> None:
    """Write on the diagonal's middle, at the same place in all panels; nothing where the area is narrower."""
    middle = _POINTS // 2
    if distance_transform_edt(static)[middle, middle] / _POINTS > _ROOM_TILTED:
        frame = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        place = 0.5 * limit
        ax.text(place, place, "static", rotation=45.0, fontsize="small", ha="center", va="center", bbox=frame)


def _handles() -> list[Artist]:
    return [
        *(Patch(facecolor=color, alpha=2.5 * _AREA_ALPHA, label=label) for label, color in AREAS.items()),
        Line2D([], [], color="black", linestyle="--", label="τₘ = −τₑ"),
    ]
