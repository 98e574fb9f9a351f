# SPDX-License-Identifier: Apache-2.0
"""How positions answer to parameters: as far as an estimate may be off, along valleys, and at bounds."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.search.sensitivity import (
    Sensitivity,
    _Differences,
    normalised,
    residuals_at,
    sensitivity,
    slope_at,
    value_at,
    vector_at,
)
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from test.core.identification_cases import BENCH, mx106, record, session
from test.core.uncertainty_cases import space_for

LIGHT = PendulumBench(mass=0.5, arm_mass=0.05, length=0.1)


@pytest.fixture(scope="module")
def case() -> tuple[Rollout, Sensitivity]:
    servo = mx106("m3")
    logs = session(servo)
    rollout = Rollout.for_servo(logs, servo)
    return rollout, sensitivity(rollout, space_for(servo, logs), parameter_vector(servo), noise=1e-3)


def test_it_foretells_how_the_arm_moves(case: tuple[Rollout, Sensitivity]) -> None:
    rollout, here = case
    random = np.random.default_rng(0)
    principal = np.linalg.svd(here.jacobian, full_matrices=False)[2]
    for direction in (*principal, *random.normal(size=(5, len(principal)))):
        foretold = here.jacobian @ direction
        step = 1e-3 / np.sqrt(np.mean(foretold**2))
        moved = (
            residuals_at(rollout, vector_at(here.space, here.normalised + step * direction)) - here.residuals
        )
        assert np.sqrt(np.mean((moved - step * foretold) ** 2)) < 0.5e-3
        assert np.sqrt(np.mean(moved**2)) == pytest.approx(1e-3, rel=0.3)


def test_it_sees_the_valley_along_which_motor_and_friction_trade() -> None:
    # With the bridge always closed, back-EMF k_t²/R and viscous friction brake alike: k_t/R is all else.
    servo = mx106("m1")
    logs = [record(servo, script, kp) for script in ("sin_sin", "sin_time_square") for kp in (8.0, 32.0)]
    space = space_for(servo, logs)
    here = sensitivity(Rollout.for_servo(logs, servo), space, parameter_vector(servo))
    ahead = parameter_vector(servo)
    more = 1.02
    braking = ahead[0] ** 2 / ahead[1]
    ahead[:2] *= more
    ahead[PARAMETERS.index("viscous")] -= braking * (more - 1.0)
    along = normalised(space, ahead) - here.normalised
    across = along * np.array([1.0, -1.0, 1.0, 1.0, 1.0])
    moved_along, moved_across = (np.sqrt(np.mean((here.jacobian @ way) ** 2)) for way in (along, across))
    assert moved_along < 0.1 * moved_across


@pytest.mark.parametrize("slope", [0.0, 1e-9, 1e9])
def test_differences_stay_in_the_search_range_however_large_the_response(slope: float) -> None:
    visited: list[np.ndarray] = []

    def residuals(points: np.ndarray) -> np.ndarray:
        visited.append(points)
        return slope * points

    here = np.array([0.45, 0.999])
    jacobian = _Differences(residuals, here, slope * here).along_axes(1e-3)
    np.testing.assert_allclose(jacobian, slope * np.eye(2), rtol=1e-5, atol=1e-12)
    steps = np.concatenate(visited)[:, None] - here
    assert np.all((np.concatenate(visited) >= 0.0) & (np.concatenate(visited) <= 1.0))
    assert np.abs(steps[steps != 0.0]).min() > 0.5e-7
    assert np.abs(np.diagonal(visited[-1] - here)).max() <= 0.2 + 1e-12


def test_at_a_bound_it_looks_inwards() -> None:
    servo = mx106("m1")
    logs = [record(servo, "sin_sin", kp, bench) for kp in (8.0, 32.0) for bench in (BENCH, LIGHT)]
    space = space_for(servo, logs)
    vector = parameter_vector(servo)
    names = [axis.name for axis in space.axes]
    for name in ("viscous", "coulomb"):
        vector[PARAMETERS.index(name)] = 0.0
    here = sensitivity(Rollout.for_servo(logs, servo), space, vector, noise=1e-3)
    for name in ("viscous", "coulomb"):
        step = np.zeros(len(names))
        step[names.index(name)] = 1e-3
        moved = residuals_at(Rollout.for_servo(logs, servo), vector_at(space, here.normalised + step))
        foretold = here.jacobian @ step
        assert np.corrcoef(moved - here.residuals, foretold)[0, 1] > 0.9


def test_shares_and_values_are_two_sides_of_one_thing(case: tuple[Rollout, Sensitivity]) -> None:
    _, here = case
    for axis, share in zip(here.space.axes, here.normalised, strict=True):
        value = here.vector[PARAMETERS.index(axis.targets[0])]
        assert value_at(axis, share) == pytest.approx(value)
        change = (value_at(axis, share + 1e-6) - value_at(axis, share - 1e-6)) / 2e-6
        assert slope_at(axis, share) == pytest.approx(change, rel=1e-4)
    np.testing.assert_allclose(vector_at(here.space, here.normalised), here.vector)
