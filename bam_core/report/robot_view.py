# SPDX-License-Identifier: Apache-2.0
"""The page of a robot's runs: measured, and simulated with servos; its charts are those of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from bam_core.arrays import Array
from bam_core.errors import WrongShape
from bam_core.report.environment import asset, environment
from bam_core.report.fits import packed
from bam_core.report.results import Trajectory
from bam_core.report.robot_page import curve_name
from bam_core.report.view import MOST_MODELS


def render_robot_view(
    robot: str, curves: Mapping[tuple[str, str], Trajectory], titles: Sequence[str], about: Sequence[str] = ()
) -> str:
    """Return the page as HTML; whatever text it is given is escaped.

    Args:
        robot: its name.
        curves: (run, joint) -> what was measured, and simulated with each of `titles`; one at least.
        titles: of the simulations, such as "given" or "m6"; MOST_MODELS at most.
        about: a line for each run, such as its gain.

    Raises:
        WrongShape: there are more simulations.
    """
    if len(titles) > MOST_MODELS:
        raise WrongShape(
            "models", len(titles), f"{MOST_MODELS} at most, of a colour each", advice="leave some out"
        )
    keys = {
        title: f"m{number}" for number, title in enumerate(titles, 1)
    }  # which have the colours of M1 to M6
    logs = {
        curve_name(run, joint): Trajectory(
            time=curve.time,
            measured=curve.measured,
            goal=curve.goal,
            torque=curve.torque,
            simulated={keys[title]: path for title, path in curve.simulated.items()},
        )
        for (run, joint), curve in curves.items()
    }
    rows = [
        (name, {key: _error(log.simulated[key], log) for key in keys.values()}) for name, log in logs.items()
    ]
    return (
        environment()
        .get_template("robot_view.html.jinja")
        .render(
            robot=robot,
            runs=list(dict.fromkeys(run for run, _ in curves)),
            about=about,
            rows=rows,
            titles={key: title for title, key in keys.items()},
            shown=list(keys.values()),
            fits=packed(logs, {key: title for title, key in keys.items()}, list(keys.values())),
            first_log=rows[0][0],
            include_raw=lambda name: Markup(asset(name)),
        )
    )


def _error(simulated: Array, curves: Trajectory) -> float:
    """Return the mean absolute error, rad."""
    return float(np.abs(simulated - curves.measured).mean())
