# SPDX-License-Identifier: Apache-2.0
"""Experiment design: it prefers what a fit would learn from, and a fit then learns what was foretold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import BadData, Conflict
from bam_core.identification.search.evidence import evidence
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import slopes
from bam_core.identification.uncertainty import design
from bam_core.identification.uncertainty.candidate_runs import (
    CandidateRun,
    Choice,
    choice_for,
    choice_near,
    liftable,
    stall_torque,
)
from bam_core.identification.uncertainty.design import Knowledge, Prospect, best_for, prospects, rank
from bam_core.identification.uncertainty.terms import UncertaintyTerms, uncertainty_terms
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from test.core.identification_cases import BENCH, mx106, record
from test.core.refusals import refused
from test.core.uncertainty_cases import fitted, linear_space, space_for, toy

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


def run(script: str, kp: float = 8.0, bench: PendulumBench = BENCH) -> CandidateRun:
    return CandidateRun(script=SCRIPTS[script], kp=kp, bench=bench, supply_voltage=15.0)


def test_a_plan_takes_the_most_bits_per_second_and_counts_what_it_has() -> None:
    space = linear_space(2)
    nothing = Knowledge(vector=np.zeros(len(PARAMETERS)), covariance=np.eye(2))
    other = PendulumBench(mass=0.5, length=0.1)
    large, again, small = (np.diag(each) for each in ([15.0, 0.0], [15.0, 0.0], [0.0, 3.0]))
    found = [
        Prospect(run=run("sin_sin", bench=other), information=large),
        Prospect(run=run("sin_sin", 16.0), information=again),
        Prospect(run=run("sin_sin", 32.0), information=small),
    ]
    seconds = SCRIPTS["sin_sin"].duration + 6.0
    first, second, third = rank(found, space, nothing, 9)
    # Of equal ones the first; from then on no load is changed until it pays.
    assert (first.run, first.seconds) == (found[0].run, seconds + 60.0)
    assert first.gain == pytest.approx(2.0)  # log2(16) / 2
    assert first.helps == space.axes[0].name
    np.testing.assert_allclose(first.before, [1.0, 1.0])
    np.testing.assert_allclose(first.after, [0.25, 1.0])
    assert (second.run, second.seconds) == (found[2].run, first.seconds + seconds + 60.0)
    assert (second.gain, second.helps) == (pytest.approx(1.0), space.axes[1].name)
    np.testing.assert_allclose(second.before, first.after)
    np.testing.assert_allclose(second.after, [0.25, 0.5])
    assert third.run == found[1].run
    assert third.gain == pytest.approx(0.5 * np.log2(31.0 / 16.0))
    assert third.seconds == second.seconds + seconds
    assert len(rank(found, space, nothing, 2)) == 2


def test_the_best_run_for_a_parameter_leaves_it_the_smallest_error() -> None:
    known = Knowledge(vector=np.zeros(len(PARAMETERS)), covariance=np.diag([1.0, 0.25]))
    found = [
        Prospect(run=run("sin_sin"), information=np.diag([3.0, 0.0])),
        Prospect(run=run("lift_and_drop"), information=np.diag([0.0, 5.0])),
    ]
    assert best_for(0, found, known) == (found[0].run, pytest.approx(0.5))
    assert best_for(1, found, known) == (found[1].run, pytest.approx(1.0 / 3.0))


def test_a_log_is_worth_as_many_samples_as_its_scatter_says() -> None:
    problem = toy(12, 2, 0)
    sizes = np.sqrt(np.mean(problem.residuals.reshape(12, -1) ** 2, axis=1))
    per_sample = problem.jacobian.T @ problem.jacobian / 50.0 / np.median(sizes) ** 2
    scatter = np.linalg.inv(per_sample) / 7.0  # as of seven samples per log
    terms = UncertaintyTerms(
        optimum=problem, evidence=evidence(problem), scatter=scatter, discretisation_bias=np.array([0.1, 0.0])
    )
    known = Knowledge.from_terms(terms)
    assert known.rms == pytest.approx(np.median(sizes))
    assert known.samples == pytest.approx(7.0)
    np.testing.assert_allclose(known.covariance, terms.covariance)
    assert Knowledge.from_terms(replace(terms, scatter=1e-9 * scatter)).samples == 50.0
    assert Knowledge.from_terms(replace(terms, scatter=1e9 * scatter)).samples == pytest.approx(1.0 / 12.0)


def test_a_run_adds_the_information_of_its_samples(knowledge: Knowledge) -> None:
    known = replace(knowledge, rms=2e-3, samples=10.0)
    (twice,), _ = prospects(SERVO, [run("sin_sin", 16.0)], SPACE, replace(known, samples=20.0))
    (once,), _ = prospects(SERVO, [run("sin_sin", 16.0)], SPACE, known)
    np.testing.assert_allclose(twice.information, 2.0 * once.information)
    recording = run("sin_sin", 16.0).as_recording(SERVO)
    answer = slopes(Rollout.for_servo([recording], SERVO), SPACE, known.vector)
    expected = answer.jacobian.T @ answer.jacobian / len(answer.jacobian) * 10.0 / 2e-3**2
    np.testing.assert_allclose(np.diag(once.information), np.diag(expected), rtol=0.3)
