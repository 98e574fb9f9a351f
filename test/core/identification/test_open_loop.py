# SPDX-License-Identifier: Apache-2.0
"""A servo is identified from runs in open loop, as far as these tell it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BadData
from bam_core.identification.data.screening import require_informative
from bam_core.identification.data.split import split_recordings
from bam_core.identification.fitting import Fitter
from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.writing import write_identification
from bam_core.recordings.recording import Recording
from bam_core.report.loading import load_results
from bam_core.report.page import render
from bam_core.servo.friction import FRICTION_MODELS, Friction
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS
from bam_core.text.uncertainty_findings import RunAdvice
from test.core.open_loop_cases import synthesize_open_loop
from test.core.refusals import refused

SERVO = replace(
    load_servo("mx64"),
    motor=DcMotor(torque_constant=1.5, resistance=4.0, armature=0.005),
    friction_model="m1",
    friction=Friction(viscous=0.05, coulomb=0.09),
    integrator="midpoint",
)
RATIO = 1.5 / 4.0  # N·m/V
DAMPING = 1.5**2 / 4.0 + 0.05  # N·m·s/rad
TIME = 9e-4 + 1e-3 * np.arange(600)


def runs(inertia: float, servo: ServoModel = SERVO) -> list[Recording]:
    """Steps either way and saw-teeth, at the encoder's resolution."""
    bench = PendulumBench(mass=0.0, length=0.0, flywheel=inertia)
    duties = {f"step {level:g}": np.full(len(TIME), level) for level in (-0.8, -0.4, -0.1, 0.2, 0.6, 0.95)}
    for turns in (2.0, 5.0):
        duties[f"saw-tooth {turns:g}"] = 2.0 * np.abs(2.0 * np.mod(turns * TIME, 1.0) - 1.0) - 1.0
    return [
        synthesize_open_loop(
            servo, TIME, duty, bench=bench, name=f"{name}, {inertia:g}", supply_voltage=12.0, quantised=True
        )
        for name, duty in duties.items()
    ]


@pytest.mark.parametrize("inertia", [0.0, 0.004])
def test_duties_against_the_motion_are_refused(inertia: float) -> None:
    sound = runs(inertia)
    require_informative(SERVO, sound)
    moved = [run for run in sound if np.ptp(run.position) > 0.3]
    assert len(moved) > 4
    for run in moved:
        with refused(BadData, thing="duty"):
            require_informative(SERVO, [replace(run, duty=-run.duty)])


def test_torque_per_volt_damping_inertia_and_friction_are_recovered() -> None:
    fit = Fitter(SERVO, [*runs(0.0), *runs(0.004)], seed=0).plan(FRICTION_MODELS["m1"], trials=600).make()
    found = dict(zip(PARAMETERS, fit.vector, strict=True))
    torque_constant, resistance = found["torque_constant"], found["resistance"]
    assert torque_constant / resistance == pytest.approx(RATIO, rel=0.02)
    assert torque_constant**2 / resistance + found["viscous"] == pytest.approx(DAMPING, rel=0.02)
    assert found["armature"] == pytest.approx(0.005, rel=0.02)
    assert found["coulomb"] == pytest.approx(0.09, rel=0.02)
    assert fit.result.error < 1e-3  # two thirds of a count


@pytest.mark.long
def test_what_open_loop_does_not_tell_is_said_so() -> None:
    logs = [*runs(0.0), *runs(0.004)]
    fit = identify(logs, SERVO, IdentifySettings(models="m1", trials=600, test=logs[1::4])).fits["m1"]
    assert fit.test_mae is not None
    assert fit.test_mae < 1e-3
    assert fit.uncertainty is not None
    estimates = {each.name: each for each in fit.uncertainty.estimates}
    assert not estimates["viscous"].identifiable
    finding = estimates["viscous"].finding
    assert finding is not None
    assert finding.advice == RunAdvice(kind="pendulum")
    assert estimates["coulomb"].low <= 0.09 <= estimates["coulomb"].high
    assert estimates["armature"].low <= 0.005 <= estimates["armature"].high


@pytest.mark.usefixtures("no_intervals", "no_plots")
def test_terminal_summary_and_report_say_that_errors_are_over_pieces(tmp_path: Path) -> None:
    logs = [*runs(0.0)[::4], *runs(0.004)[::2]]
    found = identify(logs, SERVO, IdentifySettings(models="m1", trials=50, test=logs[1::4]))
    assert (found.test_error.model, found.test_error.restart) == ("m1", 0.25)
    assert found.short_errors is not None
    assert [period for period, _ in found.short_errors.errors] == [1.0]
    no_test = split_recordings(found.split.train, "none", seed=0)
    untested = replace(found.fits["m1"], test={}, test_short={})
    alone = replace(found, fits={"m1": untested}, split=no_test)
    assert (alone.test_error.error, alone.test_error.restart) == (None, 0.25)
    assert alone.summary()["restarted_every"] == {"train": 0.25, "test": None}

    write_identification(found, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["restarted_every"] == {"train": 0.25, "test": 0.25}
    assert summary["models"]["m1"]["test_mae_short"] == pytest.approx(summary["models"]["m1"]["test_mae"])
    page = render(load_results(tmp_path))
    for kind in ("restarted_errors", "restarted_curves"):
        marked = page[page.index(f'data-kind="{kind}"') :].partition("</span>")[0]
        assert "every 0.25 s" in marked
    loads = set(re.findall(r'data-about="[^"]* · open loop · ([^"]*)"', page))
    assert loads == {"0.004 kg·m²", "no load"}
    assert "closed loop" not in page
    assert "kp 0" not in page
    assert 'class="line goal"' not in page


def test_runs_without_a_load_alone_are_refused() -> None:
    with refused(BadData, thing="inertia"):
        identify(runs(0.0), SERVO, IdentifySettings(models="m1", trials=50))
