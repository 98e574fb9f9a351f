# SPDX-License-Identifier: Apache-2.0
"""Standard errors and intervals: they hold the truth, shrink with data, and say what the data do not tell."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.identification.search.evidence import evidence, set_right
from bam_core.identification.search.sensitivity import normalised, residuals_at, sensitivity, slopes
from bam_core.identification.search.space import Axis
from bam_core.identification.uncertainty.advice import advisor
from bam_core.identification.uncertainty.covariance import covariance
from bam_core.identification.uncertainty.estimates import ParameterEstimate, Uncertainty
from bam_core.identification.uncertainty.header_errors import HeaderError
from bam_core.identification.uncertainty.terms import UncertaintyTerms, uncertainty_terms
from bam_core.identification.uncertainty.tolerances import EXACT
from bam_core.identification.uncertainty.uncertainty import _is_identifiable, describe, estimate_uncertainty
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark, RunAdvice
from studies.coverage import Case, repeat
from test.core.identification_cases import BENCH, mx106, record, session
from test.core.uncertainty_cases import fitted, space_for, toy

LIGHT = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)
DRIVEN = ("sin_sin", "sin_time_square", "up_and_down")


@pytest.fixture(scope="module")
def one_set_up() -> tuple[ServoModel, list[Recording]]:
    """One load, two gains, torque always on: what brakes, back-EMF or friction, cannot be told."""
    servo = mx106("m1")
    return servo, [record(servo, script, kp) for script in DRIVEN for kp in (8.0, 32.0)]


def told(uncertainty: Uncertainty, name: str) -> ParameterEstimate:
    return next(each for each in uncertainty.estimates if each.name == name)


@pytest.mark.long
def test_intervals_hold_the_truth() -> None:
    servo = mx106("m3")
    case = Case(servo=servo, space=space_for(servo, session(servo)), truth=parameter_vector(servo))
    covered = np.array([repeat(case, seed, 150).covered for seed in range(8)])
    assert 0.85 < covered.mean() <= 1.0
    assert np.all(covered.mean(axis=0) >= 0.5)


@pytest.mark.long
def test_more_logs_shrink_the_intervals() -> None:
    servo = mx106("m3")
    logs = session(servo)
    others = [record(servo, script, 16.0, bench) for script in DRIVEN for bench in (BENCH, LIGHT)]
    errors = [fitted(servo, some)[1].standard_errors() for some in (logs[:6], [*logs, *others])]
    ratio = np.array([errors[1][name] / errors[0].get(name, math.inf) for name in errors[1]])
    assert np.median(ratio) < 0.7


@pytest.mark.long
def test_what_trades_is_said_to_and_the_recording_that_would_help_does(
    one_set_up: tuple[ServoModel, list[Recording]],
) -> None:
    servo, logs = one_set_up
    space = space_for(servo, logs)
    before = estimate_uncertainty(servo, logs, space, advise=advisor(servo, logs, space))
    constant = told(before, "torque_constant")
    assert not constant.identifiable
    assert {"resistance", "viscous"} <= set(constant.trades_with)
    assert {each.name for each in before.unidentifiable} >= {"torque_constant", "resistance", "viscous"}
    assert constant.finding is not None
    assert constant.finding.advice is not None
    # Where the bridge opens, friction brakes alone.
    assert constant.finding.advice.run.startswith("lift_and_drop")
    _, after = fitted(
        servo, [*logs, record(servo, "lift_and_drop", 32.0), record(servo, "lift_and_drop", 8.0)]
    )
    cured = told(after, "torque_constant")
    assert cured.identifiable
    assert cured.finding is None
    assert cured.standard_error < 0.2 * constant.standard_error


def test_perfect_logs_that_do_not_tell_motor_from_friction_are_no_excuse() -> None:
    servo = replace(mx106("m1"), firmware=replace(mx106("m1").firmware, counts_per_turn=1e9))
    logs = [
        synthesize(servo, bench, "sin_sin", kp, SynthesisSettings(sample_period=5e-3, supply_voltage=15.0))
        for kp in (8.0, 32.0)
        for bench in (BENCH, LIGHT)
    ]
    uncertainty = estimate_uncertainty(servo, logs, space_for(servo, logs), tolerances=EXACT)
    constant, coulomb = told(uncertainty, "torque_constant"), told(uncertainty, "coulomb")
    assert {"resistance", "viscous"} <= set(constant.trades_with)
    assert constant.standard_error > 0.02 * constant.value
    assert coulomb.standard_error < 0.002 * coulomb.value


def test_what_is_told_is_not_flagged_and_lies_inside_its_interval() -> None:
    servo = mx106("m1")
    fit, uncertainty = fitted(servo, session(servo))
    assert uncertainty.unidentifiable == ()
    for each in uncertainty.estimates:
        assert each.low <= each.value <= each.high
        assert each.finding is None
        assert each.value == pytest.approx(servo.parameters[each.name], rel=0.1)
    assert np.allclose(np.diag(uncertainty.correlation), 1.0)
    assert np.allclose(uncertainty.correlation, uncertainty.correlation.T)
    assert uncertainty.method.logs == len(fit.counts)


@pytest.mark.long
def test_a_parameter_that_is_zero_has_an_interval_to_one_side() -> None:
    truth = mx106("m1")
    free = replace(truth, friction_model="m3")
    _, uncertainty = fitted(free, session(truth))
    load = told(uncertainty, "load")
    assert load.low == 0.0
    assert 0.0 < load.high < 0.05
    assert load.identifiable  # known to be small


@pytest.mark.long
def test_a_law_that_is_not_at_work_is_not_told() -> None:
    truth = mx106("m1")  # no Stribeck friction: its speed and exponent mean nothing
    free = replace(truth, friction_model="m2")
    _, uncertainty = fitted(free, session(truth))
    for name in ("stribeck_velocity", "stribeck_exponent"):
        assert not told(uncertainty, name).identifiable
        assert told(uncertainty, name).finding is not None
    assert told(uncertainty, "torque_constant").identifiable


def test_what_the_data_do_not_tell_has_no_standard_error() -> None:
    problem = toy(12, 3, 0)
    blind = replace(problem, jacobian=problem.jacobian * np.array([1.0, 1.0, 0.0]))
    found = evidence(blind)
    terms = UncertaintyTerms(
        optimum=blind, evidence=found, scatter=covariance(found), discretisation_bias=np.zeros(3)
    )
    uncertainty = describe(terms, blind.normalised)
    armature = told(uncertainty, "armature")
    assert math.isinf(armature.standard_error)
    assert (armature.low, armature.high) == (-1.0, 1.0)
    assert armature.finding == ParameterRemark(kind="insensitive")
    kept = uncertainty.standard_errors()
    assert set(kept) == {"torque_constant", "resistance"}
    assert replace(mx106("m1"), uncertainty=kept).uncertainty == kept
    entry = json.loads(json.dumps(uncertainty.summary(), allow_nan=False))
    assert entry["estimates"]["armature"]["standard_error"] is None
    assert entry["estimates"]["armature"]["interval"] == [-1.0, 1.0]
    assert entry["correlation"]["parameters"] == list(entry["estimates"])
    assert np.shape(entry["correlation"]["matrix"]) == (3, 3)


def test_a_delay_below_zero_is_explained_and_what_cannot_be_negative_is_not() -> None:
    problem = toy(3, 2, 0)
    names = {"command_delay": -1.0, "viscous": 0.0}
    axes = tuple(Axis(name=name, low=low, high=1.0, targets=(name,)) for name, low in names.items())
    blind = replace(problem, space=replace(problem.space, axes=axes), jacobian=1e-4 * problem.jacobian)
    found = evidence(blind)
    terms = UncertaintyTerms(
        optimum=blind, evidence=found, scatter=covariance(found), discretisation_bias=np.zeros(2)
    )
    delay, viscous = describe(terms, np.array([0.5, 0.01])).estimates
    assert delay.low < 0.0
    assert delay.finding is not None
    assert delay.finding.is_late_stamped
    assert viscous.low == 0.0
    assert viscous.finding is not None
    assert not viscous.finding.is_late_stamped


@pytest.mark.long
def test_a_fit_that_did_not_arrive_is_less_sure() -> None:
    servo = mx106("m1")
    logs = session(servo)
    off = replace(servo, motor=replace(servo.motor, torque_constant=1.1 * servo.motor.torque_constant))
    here, away = (estimate_uncertainty(each, logs, space_for(servo, logs)) for each in (servo, off))
    error = told(away, "torque_constant").standard_error
    assert error > 3.0 * told(here, "torque_constant").standard_error
    assert error == pytest.approx(0.1 * servo.motor.torque_constant, rel=0.5)


def test_intervals_are_about_where_finer_steps_and_the_rest_of_a_descent_would_lead() -> None:
    problem = toy(12, 2, 0)
    found = evidence(problem)
    discretisation_bias = np.array([0.1, -1e-4])
    terms = UncertaintyTerms(
        optimum=problem, evidence=found, scatter=covariance(found), discretisation_bias=discretisation_bias
    )
    plain = describe(replace(terms, discretisation_bias=np.zeros(2)), problem.normalised).estimates
    for i, (each, straight) in enumerate(
        zip(describe(terms, problem.normalised).estimates, plain, strict=True)
    ):
        off = 2.0 * discretisation_bias[i]  # half a share is a value of one here
        assert each.low == pytest.approx(straight.low - off)
        assert each.high == pytest.approx(straight.high - off)
        assert each.standard_error == pytest.approx(math.hypot(straight.standard_error, off))
        assert (each.finding is None) == (each.low <= each.value <= each.high)


def test_parameters_make_up_for_what_a_simulation_is_off_by_and_logs_agree_as_before() -> None:
    problem = toy(12, 2, 0)
    way = np.array([0.02, -0.01])
    plain = set_right(problem, np.zeros(len(problem.residuals)))
    right = set_right(problem, -problem.jacobian @ way)
    np.testing.assert_allclose(right.normalised - plain.normalised, way, atol=1e-5)
    found, again = (covariance(evidence(each)) for each in (plain, right))
    np.testing.assert_allclose(np.diag(again), np.diag(found), rtol=1e-2)


@pytest.mark.long
def test_a_way_down_that_no_step_could_go_is_uncertainty(monkeypatch: pytest.MonkeyPatch) -> None:
    servo = mx106("m1")
    logs = session(servo)
    space = space_for(servo, logs)
    off = replace(servo, motor=replace(servo.motor, torque_constant=1.02 * servo.motor.torque_constant))
    vector = parameter_vector(off)
    here = sensitivity(Rollout.for_servo(logs, servo), space, vector)
    open_way = uncertainty_terms(servo, vector, logs, here)
    monkeypatch.setattr(
        "bam_core.identification.uncertainty.terms.follow",
        lambda rollout, at: replace(at, residuals=residuals_at(rollout, at.vector)),
    )
    unreachable = uncertainty_terms(servo, vector, logs, here)
    constant = [axis.name for axis in space.axes].index("torque_constant")
    way = normalised(space, vector)[constant] - normalised(space, parameter_vector(servo))[constant]
    assert open_way.scatter[constant, constant] < (0.1 * way) ** 2
    assert open_way.discretisation_bias[constant] == pytest.approx(way, rel=0.1)
    assert unreachable.scatter[constant, constant] == pytest.approx(way**2, rel=0.5)


@pytest.mark.long
def test_errors_of_the_simulation_count_as_none_of_the_logs_disagreement() -> None:
    servo = replace(mx106("m3"), firmware=replace(mx106("m3").firmware, counts_per_turn=1e9))
    logs = session(servo)  # without noise; all that logs disagree about is the simulation's steps
    optimum, _ = fitted(servo, logs)
    terms = uncertainty_terms(servo, optimum.vector, logs, optimum)
    misled = np.diag(covariance(evidence(optimum)))
    assert np.all(np.diag(terms.scatter) < 0.5 * misled)
    truth = normalised(optimum.space, parameter_vector(servo))
    centre = optimum.normalised - terms.discretisation_bias
    assert np.linalg.norm(centre - truth) < 0.5 * np.linalg.norm(optimum.normalised - truth)


def test_the_bias_of_the_steps_is_what_far_finer_steps_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bam_core.identification.uncertainty.terms.follow",
        lambda rollout, at: replace(at, residuals=residuals_at(rollout, at.vector)),
    )
    servo = mx106("m1")
    logs = [
        synthesize(servo, bench, "sin_sin", 8.0, SynthesisSettings(sample_period=0.02))
        for bench in (BENCH, LIGHT)
    ]
    vector = parameter_vector(servo)
    coarse = Rollout.for_servo(logs, servo)
    fine, finest = (
        Rollout(
            logs,
            servo.firmware,
            RolloutSettings(dt=coarse.dt, substeps=n * coarse.substeps, integrator="midpoint"),
        )
        for n in (4, 32)
    )
    here = slopes(coarse, space_for(servo, logs), vector)
    found = uncertainty_terms(servo, vector, logs, here, bent=False).discretisation_bias
    at_fine = replace(here, residuals=residuals_at(fine, vector))
    ahead = set_right(at_fine, residuals_at(finest, vector) - at_fine.residuals).normalised
    expected = set_right(at_fine, np.zeros_like(at_fine.residuals)).normalised - ahead
    assert np.linalg.norm(found - expected) < 0.3 * np.linalg.norm(expected)


def terms_of(scatter: np.ndarray, bias: tuple[float, ...] = (0.0, 0.0), **fields: Any) -> UncertaintyTerms:
    """Terms of a linear problem of 12 logs; a share of a search range is two units of a parameter."""
    problem = toy(12, 2, 0)
    return UncertaintyTerms(
        optimum=problem,
        evidence=evidence(problem),
        scatter=np.asarray(scatter),
        discretisation_bias=np.array(bias),
        **fields,
    )


def bench_error(*shift: float) -> HeaderError:
    return HeaderError(name="mass", deviation=0.01, shift=np.array(shift), unobservable=False)


def test_sources_of_uncertainty_add_as_squares() -> None:
    misfit = np.array([[0.04, 0.0], [0.0, 0.02]])
    terms = terms_of(
        np.diag([0.01, 0.02]) ** 2,
        (0.03, 0.0),
        headers=(bench_error(0.02, 0.01), bench_error(0.0, -0.05)),
        misfit=misfit,
    )
    np.testing.assert_allclose(terms.covariance, np.diag([0.01, 0.02]) ** 2 + np.diag([0.03, 0.0]) ** 2)
    np.testing.assert_allclose(terms.bench, [[4e-4, 2e-4], [2e-4, 26e-4]])
    np.testing.assert_allclose(terms.lacking, np.diag([8e-4, 2e-4]))
    np.testing.assert_allclose(terms.total, terms.covariance + terms.bench + terms.lacking)


def test_an_interval_is_students_for_scatter_and_normal_for_bench_and_model() -> None:
    misfit = np.array([[0.03, 0.0]])
    terms = terms_of(np.diag([0.01, 0.02]) ** 2, headers=(bench_error(0.02, 0.0),), misfit=misfit)
    found = describe(terms, np.array([0.5, 0.6]))
    t, z = 2.2009852, 1.9599640  # 11 degrees of freedom, and infinitely many
    half = 2.0 * np.sqrt([(t * 0.01) ** 2 + z**2 * (0.02**2 + 0.03**2), (t * 0.02) ** 2])
    for each, value, width, error in zip(
        found.estimates, (0.0, 0.2), half, 2.0 * np.sqrt([0.01**2 + 0.02**2 + 0.03**2, 0.02**2]), strict=True
    ):
        assert each.value == pytest.approx(value)
        assert (each.low, each.high) == (pytest.approx(value - width), pytest.approx(value + width))
        assert each.standard_error == pytest.approx(error)
    assert found.method == IntervalMethod(logs=12, level=0.95, allows_for_bench=True, allows_for_model=True)
    assert found.method.degrees_of_freedom == 11
    assert found.headers == terms.headers


CURES = [RunAdvice(kind="record", run="a run", factor=2.0), RunAdvice(kind="no_run")]


def test_what_trades_and_what_the_model_lacks_is_in_the_remarks() -> None:
    apart = terms_of(np.array([[0.01, 0.0094], [0.0094, 0.01]]))
    one, two = describe(apart, np.array([0.5, 0.5])).estimates
    assert (one.trades_with, two.trades_with) == ((), ())
    assert one.finding == ParameterRemark(kind="related", parameters=("resistance",))
    together = terms_of(np.array([[0.01, -0.0096], [-0.0096, 0.01]]))
    found = describe(together, np.array([0.5, 0.5]), lambda _, indices: [CURES[i] for i in indices])
    assert [each.trades_with for each in found.estimates] == [("resistance",), ("torque_constant",)]
    assert [each.finding and each.finding.advice for each in found.estimates] == CURES
    np.testing.assert_allclose(found.correlation, [[1.0, -0.96], [-0.96, 1.0]])
    lacking = terms_of(np.diag([0.01, 0.01]) ** 2, misfit=np.array([[0.02, 0.005]]))
    first, second = describe(lacking, np.array([0.5, 0.5])).estimates
    assert first.finding == ParameterRemark(kind="missing_physics")
    assert second.finding is None


@pytest.mark.parametrize(
    ("low", "value", "half", "identifiable"),
    [
        (0.1, 0.4, 0.19, True),
        (0.1, 0.4, 0.21, False),
        (0.0, 0.001, 0.0099, True),
        (0.0, 0.001, 0.0101, False),
        (-1.0, 0.001, 0.0999, True),
        (-1.0, 0.001, 0.1001, False),
    ],
)
def test_a_parameter_is_identifiable_beside_its_value_or_near_zero_beside_its_range(
    low: float, value: float, half: float, identifiable: bool
) -> None:
    axis = Axis(name="viscous", low=low, high=1.0, targets=("viscous",))
    assert _is_identifiable(axis, value, half) is identifiable
