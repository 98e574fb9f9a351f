# SPDX-License-Identifier: Apache-2.0
"""The page of an identification on a robot; it shares styles, scripts and charts with that of a bench."""

from __future__ import annotations

import math
import shlex

import numpy as np
from markupsafe import Markup

from bam_core.plots.diagram import stall_torque
from bam_core.report import numbers
from bam_core.report.diagrams import diagram
from bam_core.report.environment import asset, environment
from bam_core.report.fits import packed
from bam_core.report.parameters import ParameterTable, table_of
from bam_core.report.results import Estimate
from bam_core.report.robot_film import film_command
from bam_core.report.robot_overview import robot_tiles, robot_warnings
from bam_core.report.robot_results import BEFORE, RobotEstimate, RobotModel, RobotResults
from bam_core.report.robot_tables import delay_cell, deviation_cells, joint_table, run_table
from bam_core.servo.friction import FRICTION_MODELS

_REST = 0.02  # rad; less is play and a few counts of the encoder: as `robot.evidence_checks` has it


def render_robot(results: RobotResults) -> str:
    """Return the page as HTML; whatever text the results hold is escaped."""
    first = results.first
    others = [model for model in results.models.values() if model is not first]
    shown = most_informative(results)
    logs = {
        curve_name(run, joint): curves
        for run, joints in results.curves.items()
        for joint, curves in joints.items()
    }
    return (
        environment()
        .get_template("robot.html.jinja")
        .render(
            results=results,
            best=first,
            others=others,
            title=FRICTION_MODELS[first.name].title,
            tiles=robot_tiles(results, first),
            warnings=robot_warnings(results, first),
            run_table=run_table,
            joint_table=joint_table,
            tables={model.name: _parameter_tables(model) for model in results.models.values()},
            deviation_cells=deviation_cells,
            delay_cell=delay_cell,
            bodies=_bodies,
            diagrams=_diagrams(first),
            fits=packed(logs, results.titles, [BEFORE, first.name]),
            first_log=curve_name(*shown),
            film=film_command(results, first, shown[0]),
            quoted=shlex.quote,
            supply=_supply(results),
            shown=[BEFORE, first.name],
            titles=results.titles,
            curve_name=curve_name,
            quantity=numbers.quantity,
            nan=math.nan,
            include_raw=lambda name: Markup(asset(name)),
        )
    )


def curve_name(run: str, joint: str) -> str:
    """Return what the page calls the curves of a joint in a run."""
    return f"{run} · {joint}"


def most_informative(results: RobotResults) -> tuple[str, str]:
    """Return the run and joint that are shown first: the largest error among joints that move.

    Of test runs where there are some. It shows where and how the model fails, beside its band, and what the
    fit brought there; an error in the middle is often that of a joint that rests, whose curves are the noise
    of its encoder.
    """
    errors = results.first.after.of
    pairs = [(run, joint) for run in results.test or results.train for joint in results.joints]
    moving = [
        (run, joint)
        for run, joint in pairs
        if run in results.curves and np.ptp(results.curves[run][joint].measured) > _REST
    ]
    return max(moving or pairs, key=lambda pair: errors[pair[0]][pair[1]])


def _supply(results: RobotResults) -> str:
    """Return the supplies of all runs in words."""
    volts = dict.fromkeys(numbers.quantity(run.supply.used) for run in results.runs.values())
    return ", ".join("nominal" if volt == numbers.NOTHING else f"{volt} V" for volt in volts)


def _parameter_tables(model: RobotModel) -> dict[str, tuple[ParameterTable, dict[str, str]]]:
    """Return servo type -> its table, and what each parameter was before."""
    return {
        servo: (
            table_of(
                {name: estimate.value for name, estimate in estimates.items()},
                {name: _estimate(estimate) for name, estimate in estimates.items()},
            ),
            {name: numbers.quantity(estimate.begin) for name, estimate in estimates.items()},
        )
        for servo, estimates in model.parameters.items()
    }


def _estimate(estimate: RobotEstimate) -> Estimate:
    return Estimate(
        low=estimate.low, high=estimate.high, identifiable=estimate.told, trades_with=(), remark=""
    )


def _bodies(model: RobotModel) -> list[str]:
    """Return the bodies that may deviate."""
    words = [name.split(" ") for name in model.deviations if name.startswith(("mass ", "centre "))]
    return list(dict.fromkeys(" ".join(word[1:] if word[0] == "mass" else word[1:-1]) for word in words))


def _diagrams(model: RobotModel) -> list[tuple[str, Markup]]:
    """Draw every servo up to the strongest one's stall torque, so that they compare."""
    limit = float(np.max([stall_torque(servo) for servo in model.servos.values()]))
    return [
        (name, diagram(servo, limit, f"{model.name}s{number}"))
        for number, (name, servo) in enumerate(model.servos.items())
    ]
