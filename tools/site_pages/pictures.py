# SPDX-License-Identifier: Apache-2.0
"""Pictures that need a computation: simulation before and after an identification, diagrams, bad benches.

`python -m site_pages.pictures DIRECTORY`. They show simulated servos, see `example`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bam_core import (
    BenchEffects,
    PendulumBench,
    Recording,
    SynthesisSettings,
    load_results,
    load_servo,
    simulate_recording,
    synthesize,
    validate,
)
from bam_core.plots.diagram import plot_diagram
from bam_core.report.numbers import mrad
from site_pages import example

RECORDED, BEFORE, AFTER = "#8a929c", "#c2410c", "#1d4ed8"


def main(argv: Sequence[str] | None = None) -> int:
    """Write before_after.svg, diagrams.svg and bad_benches.svg."""
    (name,) = sys.argv[1:] if argv is None else argv
    with matplotlib.rc_context({"svg.hashsalt": "bam_bench"}):
        for picture in (before_after, diagrams, bad_benches):
            picture().savefig(Path(name) / f"{picture.__name__}.svg", metadata={"Date": None})
    return 0


def diagrams() -> Figure:
    """Return drive/backdrive diagrams of three servos of different sizes."""
    return plot_diagram([(name, load_servo(name)) for name in ("xl330", "mx106", "erob80_100")])


def before_after() -> Figure:
    """Return runs that took no part, simulated from the data sheet and from what was identified."""
    test, sheet = example.test_runs(), example.data_sheet_servo()
    identified = load_servo(example.made() / "m4.yaml")
    before = fmean(validate(sheet, [run]).mae for run in test.values())
    after = load_results(example.made()).models["m4"].test_mae  # as the report beside the picture has it
    figure = Figure(figsize=(9.0, 5.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey="row")
    shown = ("sin_sin", "lift_and_drop")
    servos = ((sheet, "data sheet", BEFORE, before), (identified, "identified (M4)", AFTER, after))
    for column, (servo, label, color, error) in enumerate(servos):
        panels[0, column].set_title(f"{label}: test error {mrad(error)} mrad", fontsize=12)
        for row, script in enumerate(shown):
            key = (script, example.LOADS[-1])
            _draw(panels[row, column], test[key], simulate_recording(servo, test[key]), color)
    for row, script in enumerate(shown):
        panels[row, 0].set_ylabel(f"{script}\nposition [rad]")
    for ax in panels[-1]:
        ax.set_xlabel("time [s]")
    handles = [*panels[0, 0].get_lines(), panels[0, 1].get_lines()[-1]]
    labels = ["goal", "recorded", "simulated before", "simulated after identification"]
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def bad_benches() -> Figure:
    """Return what a fit leaves over, simulated minus measured, on a good bench and on three bad ones."""
    servo, bench = load_servo(example.SERVO), PendulumBench(mass=1.0, length=0.2)
    cases = (
        ("a good bench", BenchEffects(), 1.0),
        ("loose horn: 0.06 rad of play", BenchEffects(arm_backlash=0.06), 1.0),
        ("flexible table or arm: 0.03 rad/(N·m)", BenchEffects(arm_compliance=0.03), 1.0),
        ("supply 15 % below the header", BenchEffects(), 0.85),
    )
    figure = Figure(figsize=(9.0, 5.0), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, (title, effects, supply) in zip(panels, cases, strict=True):
        run = synthesize(
            servo,
            bench,
            "sin_sin",
            16.0,
            SynthesisSettings(
                sample_period=example.SAMPLE_PERIOD,
                supply_voltage=supply * servo.nominal_voltage,
                bench_effects=effects,
                quantised=True,
            ),
        )
        believed = replace(run, supply_voltage=servo.nominal_voltage, voltage=np.full(len(run), np.nan))
        residual = 1e3 * (simulate_recording(servo, believed) - run.position)
        ax.plot(run.time, residual, color=AFTER, linewidth=1.2)
        ax.axhline(0.0, color="black", linewidth=0.6)
        ax.set_title(title, fontsize=11)
        ax.grid(alpha=0.3)
    for ax in panels[2:]:
        ax.set_xlabel("time [s]")
    for ax in panels[::2]:
        ax.set_ylabel("residual [mrad]")
    return figure


def _draw(ax: Axes, run: Recording, simulated: np.ndarray, color: str) -> None:
    ax.plot(run.time, run.goal_position, color="#59616c", linestyle=":", linewidth=1.3)
    ax.plot(run.time, run.position, color=RECORDED, linewidth=3.6, alpha=0.7)
    ax.plot(run.time, simulated, color=color, linewidth=1.6)
    ax.grid(alpha=0.3)


if __name__ == "__main__":
    sys.exit(main())
