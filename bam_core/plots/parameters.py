# SPDX-License-Identifier: Apache-2.0
"""The parameters that several models found, one small panel each."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.figure import Figure

from bam_core.servo_model import PARAMETER_UNITS, ServoModel

_COLUMNS = 4


def plot_parameters(servos: Mapping[str, ServoModel]) -> Figure:
    """Draw one panel per parameter that any of the servos has, one bar per servo.

    Args:
        servos: label -> servo, at least one.
    """
    names = [name for name in PARAMETER_UNITS if any(name in servo.parameters for servo in servos.values())]
    rows = math.ceil(len(names) / _COLUMNS)
    figure = Figure(figsize=(3.0 * _COLUMNS, 2.1 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        for place, servo in enumerate(servos.values()):
            if name in servo.parameters:
                error = servo.uncertainty.get(name)
                axes.bar(place, servo.parameters[name], color=f"C{place}", yerr=error, capsize=3)
        axes.set_xticks(range(len(servos)), list(servos), fontsize="small")
        axes.set_xlim(-0.6, len(servos) - 0.4)
        axes.set_title(f"{name} [{PARAMETER_UNITS[name]}]", fontsize="small")
        axes.tick_params(axis="y", labelsize="small")
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    return figure
