# SPDX-License-Identifier: Apache-2.0
"""Errors of the bench: intervals allow for them, and say which of them no log tells."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from bam_core.errors import OutOfRange, UnknownName, WrongType
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.uncertainty.terms import uncertainty_terms
from bam_core.identification.uncertainty.tolerances import DEFAULT, EXACT, Tolerances
from bam_core.identification.uncertainty.uncertainty import describe
from bam_core.robot.tolerances import RobotTolerances
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.text.tolerance_words import tolerances_from
from studies.coverage import case_for, record_session
from test.core.identification_cases import BENCH, mx106, record
from test.core.refusals import refused
from test.core.uncertainty_cases import space_for

LIGHT = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)
THREE_PERCENT = replace(EXACT, mass=0.03)


def heavier(logs, share):
    """Logs whose headers tell another mass than hung there."""
    return [replace(log, bench=replace(log.bench, mass=(1.0 + share) * log.bench.mass)) for log in logs]


def missed(servo, logs, space, truth, tolerances):
    """Names of the parameters whose intervals do not hold the truth, and the uncertainty."""
    optimum = nearest_optimum(Rollout.for_servo(logs, servo), space, truth)
    terms = uncertainty_terms(servo, optimum.vector, logs, optimum, tolerances)
    told = describe(terms, optimum.normalised)
    values = [truth[PARAMETERS.index(axis.targets[0])] for axis in space.axes]
    names = [
        each.name
        for each, value in zip(told.estimates, values, strict=True)
        if not each.low - 1e-9 * abs(value) <= value <= each.high + 1e-9 * abs(value)
    ]
    return names, told


@pytest.fixture(scope="module")
def off_by_three_percent():
    servo = mx106("m1")
    runs = [(kp, bench) for kp in (8.0, 32.0) for bench in (BENCH, LIGHT)]
    logs = [record(servo, script, *run) for script in ("sin_sin", "lift_and_drop") for run in runs]
    return servo, heavier(logs, 0.03)


@pytest.mark.long
def test_a_mass_that_is_off_is_held_by_its_tolerance_alone(off_by_three_percent):
    servo, logs = off_by_three_percent
    space, truth = space_for(servo, logs), parameter_vector(servo)
    without, _ = missed(servo, logs, space, truth, EXACT)
    within, told = missed(servo, logs, space, truth, THREE_PERCENT)
    assert {"resistance", "armature"} <= set(without)
    assert within == []
    widths = {each.name: each.high - each.low for each in told.estimates}
    # Back-EMF tells the torque constant whatever hangs on the arm; the winding takes what the weight is off.
    assert widths["torque_constant"] < 0.02 * truth[0]
    assert widths["resistance"] > 0.05 * truth[1]


@pytest.mark.long
def test_what_no_log_tells_is_said(off_by_three_percent):
    servo, logs = off_by_three_percent
    space, truth = space_for(servo, logs), parameter_vector(servo)
    _, told = missed(servo, logs, space, truth, THREE_PERCENT)
    assert told.unobservable_errors == ("mass",)
    summary = told.summary()
    assert [entry["untold"] for entry in summary["bench"]] == [
        name == "mass" for name in map(entry_name, summary["bench"])
    ]
    assert told.method.allows_for_bench


def entry_name(entry):
    return entry["name"]


@pytest.mark.long
def test_one_load_takes_the_whole_tolerance():
    servo = mx106("m1")
    logs = [record(servo, script, kp) for script in ("sin_sin", "lift_and_drop") for kp in (8.0, 32.0)]
    _, told = missed(servo, logs, space_for(servo, logs), parameter_vector(servo), THREE_PERCENT)
    assert [(each.name, each.deviation) for each in told.headers] == [("mass", 0.03)]


@pytest.mark.long
def test_what_a_fit_finds_itself_needs_no_tolerance():
    servo = mx106("m1")
    free = replace(servo, search=replace(servo.search, effects=("zero_offset",)))
    logs = [
        record(servo, script, 8.0, bench)
        for script in ("sin_sin", "lift_and_drop")
        for bench in (BENCH, LIGHT)
    ]
    zero = replace(EXACT, zero=0.01)
    _, found = missed(free, logs, space_for(free, logs), parameter_vector(free), zero)
    _, fixed = missed(servo, logs, space_for(servo, logs), parameter_vector(servo), zero)
    assert found.headers == ()
    assert [each.name for each in fixed.headers] == ["zero"]


def test_an_exact_rig_leaves_intervals_as_they_are(off_by_three_percent):
    servo, logs = off_by_three_percent
    optimum = nearest_optimum(Rollout.for_servo(logs, servo), space_for(servo, logs), parameter_vector(servo))
    terms = uncertainty_terms(servo, optimum.vector, logs, optimum)
    assert terms.headers == ()
    assert np.array_equal(terms.total, terms.covariance)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "model"), [("mx106", "m4"), ("mx64", "m6"), ("xl330", "m4")])
def test_intervals_of_servos_hold_the_truth_with_a_mass_that_is_off(name, model, seed):
    """Of three loads at two gains with encoder and timing of a bench; half of the headers are 3 % light."""
    servo = load_servo(name)
    chosen = FRICTION_MODELS[model]
    values = {
        name: 0.1 if name.startswith("load") else value
        for name, value in chosen.values(servo.friction).items()
    }
    case = case_for(replace(servo, friction_model=model, friction=chosen.friction(values)))
    logs = heavier(record_session(case, np.random.default_rng(seed))[::2], 0.03 if seed % 2 else -0.03)
    without, _ = missed(case.servo, logs, case.space, case.truth, EXACT)
    within, _ = missed(case.servo, logs, case.space, case.truth, THREE_PERCENT)
    assert {"resistance", "armature"} <= set(without)
    assert within == []


def test_tolerances_are_told_in_words():
    assert tolerances_from([], DEFAULT) == DEFAULT
    assert tolerances_from(["mass=0.03", "length=0.002"], DEFAULT) == replace(
        DEFAULT, mass=0.03, length=0.002
    )
    assert "mass 3 %" in tolerances_from(["mass=0.03"], DEFAULT).words
    assert EXACT.words == ""
    assert all(value == 0.0 for value in asdict(EXACT).values())
    assert tolerances_from(["centre=0.01"], RobotTolerances()) == RobotTolerances(centre=0.01)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["mass"], WrongType),
        (["weight=0.1"], UnknownName),
        (["mass=heavy"], WrongType),
        (["mass=3"], OutOfRange),
        (["mass=-0.1"], OutOfRange),
        (["mass=nan"], OutOfRange),
    ],
)
@pytest.mark.parametrize("default", [DEFAULT, RobotTolerances()], ids=["bench", "robot"])
def test_what_is_no_tolerance_is_refused(words, error, default):
    with refused(error):
        tolerances_from(words, default)


def test_a_tolerance_beyond_any_rig_is_refused():
    with refused(OutOfRange):
        Tolerances(length=1.0)
