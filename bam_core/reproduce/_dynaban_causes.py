# SPDX-License-Identifier: Apache-2.0
"""Dynaban, section 6: what the remaining errors of feed-forward come from, one cause taken away at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from bam_core.feedforward import DynabanModel, FeedForwardLaw
from bam_core.plots.save import save_figure
from bam_core.reproduce._dynaban_kicks import MOVING, Experiment, Figures, Reality, by_feed_forward, figures
from bam_core.reproduce._dynaban_plots import plot_causes
from bam_core.reproduce._dynaban_stand import JOINTS
from bam_core.reproduce.redone import Exhibit, Task

ALL, LOAD_KNOWN = "all causes at once", "a law that knows the load (M6)"

WITHOUT: Mapping[str, Reality] = MappingProxyType(
    {
        ALL: Reality(),
        "servos as on the bench": Reality(friction=1.0, resistance=1.0, spread=0.0),
        "masses known": Reality(mass=0.0),
        "no play": Reality(play=0.0),
        "kicks all alike": Reality(supply=0.0, warmth=0.0, start=0.0, stiction=0.0),
    }
)
"""What is taken away -> how robots differ then from what the host knows."""

_REPEATS = 3  # kicks of each robot: means over joints vary by a few per cent from kick to kick


@dataclass(frozen=True, kw_only=True)
class Remains:
    """What is left, mean over those joints that move.

    Attributes:
        lateness: mean |delay|, s.
        deformation: rad.
    """

    lateness: float
    deformation: float


def remains(found: Figures) -> Remains:
    """Return what is left of the errors."""
    return Remains(
        lateness=float(np.abs(found.delay[:, MOVING]).mean()),
        deformation=float(found.deformation[:, MOVING].mean()),
    )


def redo_causes(task: Task, experiment: Experiment, law: DynabanModel) -> Exhibit:
    """Kick with feed-forward, one cause of errors taken away at a time.

    Args:
        task: where the picture goes.
        experiment: the robots.
        law: (4), as it is found on the bench.
    """
    common = FeedForwardLaw.from_dynaban(law)
    nominal = FeedForwardLaw.from_servo(experiment.servo)
    repeats = min(_REPEATS, experiment.repeats)
    found: dict[str, Remains] = {}
    for name, reality in (*WITHOUT.items(), (LOAD_KNOWN, Reality())):
        task.say(f"errors that remain: {name}")
        kicks = replace(experiment, reality=reality, repeats=repeats).kicks()
        laws = [[nominal if name == LOAD_KNOWN else common] * len(JOINTS)] * len(kicks)
        found[name] = remains(figures(by_feed_forward(kicks, reality, laws), repeats))
    title = f"Feed-forward, {experiment.robots} simulated robots, {repeats} kicks each"
    save_figure(
        plot_causes(
            [*found],
            [1e3 * each.lateness for each in found.values()],
            [np.degrees(each.deformation) for each in found.values()],
            title,
        ),
        task.output / "remaining_errors.png",
    )
    words = "; ".join(
        f"{name} {1e3 * each.lateness:.0f} ms, {np.degrees(each.deformation):.2f}°"
        for name, each in found.items()
    )
    return Exhibit(
        name="section 6, remaining errors",
        subject="causes that the paper names: parameters, the robot's model, differing servos, backlash",
        remark="simulated as fig. 2, one cause taken away at a time; mean |delay| and deformation with"
        f" feed-forward: {words}",
        pictures=("remaining_errors.png",),
    )
