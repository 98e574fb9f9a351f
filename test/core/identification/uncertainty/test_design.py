# SPDX-License-Identifier: Apache-2.0
"""Experiment design: it prefers what a fit would learn from, and a fit then learns what was foretold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData, Conflict
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.uncertainty import design
from bam_core.identification.uncertainty.candidate_runs import (
    Choice,
    choice_for,
    choice_near,
    liftable,
    stall_torque,
)
from bam_core.identification.uncertainty.design import Knowledge, best_for, prospects, rank
from bam_core.identification.uncertainty.uncertainty import uncertainty_terms
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.identification_cases import BENCH, mx106, record
from test.core.refusals import refused
from test.core.uncertainty_cases import fitted, space_for

SERVO = mx106("m1")
LOGS = [record(SERVO, script, kp) for script in ("sin_sin", "sin_time_square") for kp in (8.0, 32.0)]
SPACE = space_for(SERVO, LOGS)
NAMES = [axis.name for axis in SPACE.axes]
CHOICE = Choice(loads=(BENCH,), gains=(8.0, 16.0, 32.0), supply_voltage=15.0)


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    fit = nearest_optimum(Rollout.for_servo(LOGS, SERVO), SPACE, parameter_vector(SERVO))
    return Knowledge.from_terms(uncertainty_terms(SERVO, fit.vector, LOGS, fit))


def test_logs_that_tell_nothing_are_no_error() -> None:
    """Of an arm that hardly moves; it was a division by zero."""
    fit = nearest_optimum(Rollout.for_servo(LOGS, SERVO), SPACE, parameter_vector(SERVO))
    terms = uncertainty_terms(SERVO, fit.vector, LOGS, fit)
    still = replace(terms, optimum=replace(terms.optimum, jacobian=np.zeros_like(terms.optimum.jacobian)))
    assert Knowledge.from_terms(still).samples > 0.0


@pytest.mark.long
def test_it_prefers_the_run_that_tells_what_trades_and_a_fit_bears_it_out(knowledge: Knowledge) -> None:
    found, _ = prospects(SERVO, CHOICE.runs(), SPACE, knowledge)
    first = rank(found, SPACE, knowledge, 1)[0]
    assert first.run.script.name == "lift_and_drop"
    constant = NAMES.index("torque_constant")
    run, foretold = best_for(constant, found, knowledge)
    assert run.script.name == "lift_and_drop"
    before = np.sqrt(knowledge.covariance[constant, constant])
    _, after = fitted(SERVO, [*LOGS, record(SERVO, run.script.name, run.kp)])
    estimate = after.estimates[constant]
    bounds = SPACE.axes[constant]
    measured = estimate.standard_error / estimate.value / np.log(bounds.high / bounds.low)
    assert foretold < 0.3 * before
    assert 0.2 * foretold < measured < 5.0 * foretold


def test_every_run_adds_less_than_the_ones_before_and_none_comes_twice(knowledge: Knowledge) -> None:
    found, _ = prospects(SERVO, CHOICE.runs(), SPACE, knowledge)
    plan = rank(found, SPACE, knowledge, 50)
    assert len(plan) == len(found)
    assert len({each.run for each in plan}) == len(plan)
    assert all(np.all(each.after <= each.before * (1.0 + 1e-9)) for each in plan)
    assert [each.seconds for each in plan] == sorted(each.seconds for each in plan)
    assert sum(each.gain for each in plan[:3]) > sum(each.gain for each in plan[-3:])


def test_a_load_that_hangs_already_is_preferred_to_an_equal_one(knowledge: Knowledge) -> None:
    twin = PendulumBench(mass=BENCH.mass * 1.001, arm_mass=BENCH.arm_mass, length=BENCH.length)
    both = Choice(loads=(BENCH, twin), gains=(8.0, 32.0), supply_voltage=15.0)
    plan = rank(prospects(SERVO, both.runs(), SPACE, knowledge)[0], SPACE, knowledge, 4)
    assert len({each.run.bench for each in plan}) == 1


def test_what_the_servo_cannot_lift_is_refused_with_the_numbers() -> None:
    stall = stall_torque(SERVO, 15.0)
    heavy = PendulumBench(mass=1.5 * stall / 9.81 / 0.2, length=0.2)
    fits, told = liftable(SERVO, [BENCH, heavy], 15.0)
    assert fits == (BENCH,)
    assert len(told) == 1
    assert f"{stall:.3g} N·m" in told[0]
    with refused(Conflict, thing="loads"):
        liftable(SERVO, [heavy], 15.0)


def test_runs_that_the_recorder_would_break_off_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    limp = Choice(loads=(PendulumBench(mass=3.0, length=0.3),), gains=(0.2,), supply_voltage=15.0)
    nothing = Knowledge.before_any_recording(SERVO, SPACE)
    found, left_out = prospects(SERVO, limp.runs(), SPACE, nothing)
    assert (len(found), left_out) == (len(SCRIPTS), ())
    monkeypatch.setattr(design, "ERROR_LIMIT", 1.2)  # the arm hangs, its goal rises to π/2
    found, left_out = prospects(SERVO, limp.runs(), SPACE, nothing)
    assert len(found) + len(left_out) == len(SCRIPTS)
    assert any("up_and_down" in line and "stray" in line for line in left_out)
    with refused(BadData, thing="runs"):
        rank([], SPACE, nothing, 1)


@pytest.mark.parametrize("name", servo_names())
def test_every_servo_of_the_library_has_something_to_start_with(name: str) -> None:
    servo = load_servo(name)
    choice = choice_for(servo)
    assert liftable(servo, choice.loads, choice.supply_voltage) == (choice.loads, ())
    assert all(kp > 0 for kp in choice.gains)


def test_a_lab_s_own_loads_and_gains_are_among_what_is_near() -> None:
    choice = choice_near(SERVO, LOGS)
    assert {log.bench for log in LOGS} < set(choice.loads)
    assert {log.kp for log in LOGS} < set(choice.gains)
    assert all(load.gravity_torque < stall_torque(SERVO, choice.supply_voltage) for load in choice.loads)


def test_a_lab_with_many_loads_gets_no_more_to_choose_from() -> None:
    many = [
        record(SERVO, "sin_sin", kp, PendulumBench(mass=mass, length=0.1))
        for mass, kp in zip((0.5, 0.8, 1.0, 1.2, 1.5, 2.0), (4, 8, 12, 16, 24, 32), strict=True)
    ]
    assert len(choice_near(SERVO, many).runs()) <= 128
