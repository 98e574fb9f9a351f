# SPDX-License-Identifier: Apache-2.0
"""A fit with a prior is the most probable unit, and its covariance that of the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import Conflict
from bam_core.identification.identify import identify
from bam_core.identification.search.evidence import evidence
from bam_core.identification.search.sensitivity import Sensitivity, vector_at
from bam_core.identification.search.space_prior import SpacePrior
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.covariance import covariance
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.servo.model import ServoModel
from test.core.identification_cases import mx106, record
from test.core.uncertainty_cases import linear_space

DIMENSION, SAMPLES, NOISE = 3, 200, 2e-3
PRIOR = np.diag([1e-4, 4e-4, 1e-4]) + 5e-5


def problem(logs: int, seed: int, *, run: float = 0.0, size: float = 1.0) -> tuple[Sensitivity, np.ndarray]:
    """A linear problem at the prior's mean, and the true shares, which the prior draws; noise is white."""
    random = np.random.default_rng(seed)
    mean = np.full(DIMENSION, 0.5)
    true = random.multivariate_normal(mean, PRIOR)
    own = true + run * random.standard_normal((logs, DIMENSION))
    jacobian = size * random.normal(0.0, 0.05, (logs * SAMPLES, DIMENSION))
    jacobian[:, 2] = 0.0  # no log determines it
    space = linear_space(DIMENSION)
    prior = SpacePrior(mean=mean, precision=np.linalg.inv(PRIOR), run_factor=run * np.eye(DIMENSION))
    residuals = np.einsum("ij,ij->i", jacobian, mean - own.repeat(SAMPLES, axis=0))
    return (
        Sensitivity(
            space=replace(space, prior=prior),
            vector=vector_at(space, mean),
            jacobian=jacobian,
            residuals=residuals + random.normal(0.0, NOISE, len(jacobian)),
            counts=np.full(logs, SAMPLES),
        ),
        true,
    )


def optimum(linear: Sensitivity) -> Sensitivity:
    way = np.zeros(DIMENSION)
    for _ in range(20):
        here = replace(
            linear,
            vector=vector_at(linear.space, 0.5 + way),
            residuals=linear.residuals + linear.jacobian @ way,
        )
        way += evidence(here, cautious=True).shift()
    return here


def test_it_is_the_mean_of_the_posterior_which_has_a_closed_form() -> None:
    """Normal prior and white noise: precision-weighted means. A robust fit scatters about them a little."""
    off = []
    for seed in range(20):
        linear, _ = problem(2, seed, size=0.1)
        found = optimum(linear)
        information = linear.jacobian.T @ linear.jacobian / NOISE**2
        posterior = np.linalg.inv(information + np.linalg.inv(PRIOR))
        mean = 0.5 - posterior @ (linear.jacobian.T @ linear.residuals) / NOISE**2
        off.append((found.normalised - mean) / np.sqrt(np.diag(posterior)))
        # Of the third parameter logs say nothing: it follows the others as over units, and no further.
        regressed = 0.5 + PRIOR[2, :2] @ np.linalg.solve(PRIOR[:2, :2], found.normalised[:2] - 0.5)
        assert found.normalised[2] == pytest.approx(regressed, abs=1e-6)
    assert np.all(np.sqrt(np.mean(np.square(off), axis=0)) < 0.6)


@pytest.mark.parametrize(("run", "size"), [(0.0, 1.0), (0.0, 0.1), (0.01, 1.0)])
def test_intervals_hold_units_that_the_prior_draws(run: float, size: float) -> None:
    off = []
    for seed in range(60):
        linear, true = problem(2, seed, run=run, size=size)
        found = optimum(linear)
        off.append((found.normalised - true) / np.sqrt(np.diag(covariance(evidence(found)))))
    spread = np.sqrt(np.mean(np.square(off), axis=0))
    assert np.all((spread > 0.75) & (spread < 1.3)), spread


def test_logs_that_determine_everything_leave_nothing_of_a_wrong_prior() -> None:
    linear, true = problem(24, 3, size=20.0)
    np.testing.assert_allclose(optimum(linear).normalised[:2], true[:2], atol=3e-4)


def prior_of(servo: ServoModel, spread: float) -> UnitPrior:
    """Units around a servo that differ by a relative spread in every parameter."""
    values = {name: value for name, value in servo.parameters.items() if value > 0.0}
    ranges = {name: (value / 4.0, value * 4.0) for name, value in values.items()}
    factor = spread / np.log(16.0) * np.eye(len(ranges))
    prediction = Prediction(
        ranges=ranges, factor=factor, inflation=1.0, residual=1e-3, residual_alone=1e-3, units=12
    )
    return UnitPrior(servo=servo, prediction=prediction)


def unit() -> ServoModel:
    """An MX-106 that is no typical one."""
    typical = mx106("m1")
    motor = replace(typical.motor, torque_constant=1.05 * typical.motor.torque_constant)
    return replace(
        typical, motor=motor, friction=replace(typical.friction, coulomb=1.3 * typical.friction.coulomb)
    )


def test_two_runs_move_what_they_determine() -> None:
    servo, typical = unit(), mx106("m1")
    logs = [record(servo, script, 8.0) for script in ("sin_sin", "sin_time_square")]
    settings = IdentifySettings(models="m1", effects=(), prior=prior_of(typical, 0.2))
    fit = identify(logs, typical, settings).fits["m1"]
    assert fit.converged
    assert fit.servo.friction.coulomb == pytest.approx(servo.friction.coulomb, rel=0.05)
    strength = servo.motor.torque_constant / servo.motor.resistance
    assert fit.servo.motor.torque_constant / fit.servo.motor.resistance == pytest.approx(strength, rel=0.02)
    assert fit.uncertainty is not None
    for estimate in fit.uncertainty.estimates:
        true = servo.parameters[estimate.name]
        assert estimate.low <= true <= estimate.high, estimate
        assert estimate.high - estimate.low < 0.9 * true  # 95 % of the prior is 0.78 of the value


def test_a_search_that_a_prior_does_not_allow_is_refused() -> None:
    prior = prior_of(mx106("m1"), 0.2)
    for settings in ({"models": "m2"}, {"models": "all"}, {"models": "m1", "search": "cma-es"}):
        with pytest.raises(Conflict):
            IdentifySettings(prior=prior, **settings)
