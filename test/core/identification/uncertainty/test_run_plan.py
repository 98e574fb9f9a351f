# SPDX-License-Identifier: Apache-2.0
"""A plan of runs from Python: what may be varied, what is refused, and its summary."""

from __future__ import annotations

import pytest

from bam_core.errors import Conflict, OutOfRange, UnknownName
from bam_core.identification.uncertainty.run_plan import DesignSettings, RunPlan, design_runs
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import synthesize
from test.core.refusals import refused

LIGHT, HEAVY = PendulumBench(mass=0.2, length=0.1), PendulumBench(mass=5.0, length=0.1)
FEW = DesignSettings(runs=2, loads=[LIGHT, HEAVY], gains=[100.0, 800.0], scripts=["sin_sin"])


@pytest.fixture(scope="module")
def plan() -> RunPlan:
    return design_runs("xl330", settings=FEW)


def test_a_plan_has_runs_of_the_given_loads_gains_and_scripts(plan: RunPlan) -> None:
    assert len(plan.runs) == 2
    assert {each.run.bench for each in plan.runs} == {LIGHT}
    assert {each.run.kp for each in plan.runs} == {100.0, 800.0}
    assert {each.run.script.name for each in plan.runs} == {"sin_sin"}
    assert {each.run.supply_voltage for each in plan.runs} == {load_servo("xl330").nominal_voltage}


def test_loads_that_the_servo_cannot_lift_are_left_out(plan: RunPlan) -> None:
    assert len(plan.left_out) == 1
    with refused(Conflict, thing="loads"):
        design_runs("xl330", settings=DesignSettings(loads=[HEAVY]))


def test_the_summary_has_every_free_parameter_with_errors_that_shrink(plan: RunPlan) -> None:
    summary = plan.summary()
    assert list(summary["parameters"]) == [axis.name for axis in plan.space.axes]
    for parameter in summary["parameters"].values():
        assert 0.0 < parameter["standard_error_after"] <= parameter["standard_error_before"]
    assert [run["kp"] for run in summary["runs"]] == [each.run.kp for each in plan.runs]


def test_progress_counts_all_candidates() -> None:
    steps: list[tuple[int, int]] = []
    design_runs("xl330", settings=FEW, progress=lambda done, all_of_them: steps.append((done, all_of_them)))
    assert sum(done for done, _ in steps) == 2
    assert {candidates for _, candidates in steps} == {2}


def test_what_cannot_be_planned_is_refused() -> None:
    with refused(OutOfRange, thing="runs", value=0):
        DesignSettings(runs=0)
    with refused(UnknownName, name="jump"):
        design_runs("xl330", settings=DesignSettings(scripts=["jump"]))
    with refused(OutOfRange, thing="count of candidates"):
        design_runs("xl330", settings=DesignSettings(loads=[LIGHT], gains=range(1, 1001)))
    with refused(Conflict, thing="servo xl330"):
        design_runs("xl330", [synthesize("mx106", LIGHT, "sin_sin", 8.0)])
