# SPDX-License-Identifier: Apache-2.0
"""Dynaban, section 6: what the remaining errors of feed-forward come from, one cause taken away at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from bam_core.feedforward import FeedForwardLaw
from bam_core.plots.save import save_figure
from papers.dynaban.kicks import MOVING, Experiment, Figures, Reality, by_feed_forward, by_position, figures
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.plots import plot_causes
from papers.dynaban.stand import JOINTS, RIGHT_KNEE
from papers.redone import Exhibit, Task

ALL, LOAD_KNOWN = "all causes at once", "a law that knows the load (M6)"
AS_BENCH, IN_TIME = "servos as on the bench", "no delay on the bus"
EASIER = "servos easier than on the bench (friction /1.5, resistance /1.1)"
EASIER_IN_TIME = "the same, and no delay on the bus"

WITHOUT: Mapping[str, Reality] = MappingProxyType(
    {
        ALL: Reality(),
        AS_BENCH: Reality(friction=1.0, resistance=1.0, spread=0.0),
        "masses known": Reality(mass=0.0),
        "no play": Reality(play=0.0),
        IN_TIME: Reality(transport=0.0),
        "no stiction before kicks": Reality(start=0.0, stiction=0.0),
        "kicks all alike": Reality(supply=0.0, warmth=0.0, start=0.0, stiction=0.0),
        EASIER: Reality(friction=1.0 / 1.5, resistance=1.0 / 1.1),
        EASIER_IN_TIME: Reality(friction=1.0 / 1.5, resistance=1.0 / 1.1, transport=0.0),
    }
)
"""What is taken away -> how robots differ then from what the host knows.

EASIER is no cause that is taken away, but the other way round: what the host believes that its servos need is
too much then, as it would be for a joint that is early.
"""

_REPEATS = 4  # kicks of each robot: means over joints vary by a few per cent from kick to kick


@dataclass(frozen=True, kw_only=True)
class Remains:
    """What is left of errors with feed-forward; means over kicks, and over joints that move.

    Attributes:
        lateness: mean |delay| of those joints whose delay is found, s.
        deformation: rad.
        knee: delay of the right knee, s.
        way: delay of foot and trunk in space, s.
        pid_deformation: with the PID only, rad; NaN where that was not looked for.
    """

    lateness: float
    deformation: float
    knee: float
    way: float
    pid_deformation: float


def remains(with_cause: Figures, pid: Figures | None, told: Sequence[int]) -> Remains:
    """Return what is left of the errors with feed-forward, and with the PID only; `told`: see `lateness`."""
    return Remains(
        lateness=float(np.abs(with_cause.delay[:, told]).mean()),
        deformation=float(with_cause.deformation[:, MOVING].mean()),
        knee=float(with_cause.delay[:, RIGHT_KNEE].mean()),
        way=0.5 * float(with_cause.foot_delay.mean() + with_cause.trunk_delay.mean()),
        pid_deformation=float(pid.deformation[:, MOVING].mean()) if pid is not None else float("nan"),
    )


def find_causes(
    task: Task, experiment: Experiment, law: DynabanModel, told: Sequence[int]
) -> dict[str, Remains]:
    """Kick with feed-forward, one cause of errors taken away at a time.

    Args:
        task: who is told.
        experiment: the robots.
        law: (4), as it is found on the bench.
        told: joints whose delay is found.
    """
    common = law.law
    nominal = FeedForwardLaw.from_servo(experiment.servo)
    repeats = min(_REPEATS, experiment.repeats)
    causes: dict[str, Remains] = {}
    for name, reality in (*WITHOUT.items(), (LOAD_KNOWN, Reality())):
        task.say(f"errors that remain: {name}")
        kicks = replace(experiment, reality=reality, repeats=repeats).kicks()
        laws = [[nominal if name == LOAD_KNOWN else common] * len(JOINTS)] * len(kicks)
        pid = figures(by_position(kicks, reality), repeats) if name in (ALL, AS_BENCH) else None
        causes[name] = remains(figures(by_feed_forward(kicks, reality, laws), repeats), pid, told)
    return causes


def causes_exhibit(task: Task, experiment: Experiment, causes: Mapping[str, Remains]) -> Exhibit:
    """Draw what is left without each cause."""
    repeats = min(_REPEATS, experiment.repeats)
    title = f"Feed-forward, {experiment.robots} simulated robots, {repeats} kicks each"
    save_figure(
        plot_causes(
            [*causes],
            [1e3 * cause.lateness for cause in causes.values()],
            [np.degrees(cause.deformation) for cause in causes.values()],
            title,
        ),
        task.output / "remaining_errors.png",
    )
    return Exhibit(
        name="section 6, remaining errors",
        subject="causes that the paper names: parameters, the robot's model, differing servos, backlash",
        remark=f"simulated as fig. 2, with one cause taken away at a time; {experiment.robots} robots with"
        f" {repeats} kicks each. Only the first of them is one of the robots of the claims, which are"
        f" {experiment.robots} with {experiment.repeats} kicks each. Delays are without joints whose search"
        " ends at its limit",
        pictures=("remaining_errors.png",),
        table=(
            ("taken away", "mean delay without sign [ms]", "deformation [°]", "right knee [ms]"),
            *(
                (
                    name,
                    f"{1e3 * cause.lateness:.1f}",
                    f"{np.degrees(cause.deformation):.2f}",
                    f"{1e3 * cause.knee:.1f}",
                )
                for name, cause in causes.items()
            ),
        ),
    )
