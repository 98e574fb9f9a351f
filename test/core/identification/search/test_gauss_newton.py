# SPDX-License-Identifier: Apache-2.0
"""The last steps of a fit: down to where the truth lies, never up, inside the bounds."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from bam_core.identification.search.evidence import SampleWeights, set_right
from bam_core.identification.search.gauss_newton import (
    descend,
    evaluations_for,
    follow,
    nearest_optimum,
    slide,
)
from bam_core.identification.search.sensitivity import residuals_at, sensitivity
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.identification_cases import mx106, session
from test.core.uncertainty_cases import linear_space, space_for


@pytest.mark.long
@pytest.mark.parametrize("model", ["m1", "m4"])
def test_it_finds_the_way_back_to_known_parameters(model: str) -> None:
    servo = mx106(model)
    logs = session(servo)
    space = space_for(servo, logs)
    rollout = Rollout.for_servo(logs, servo)
    truth = parameter_vector(servo)
    away = space.point(truth) + np.random.default_rng(1).normal(0.0, 0.02, space.dimension)
    start = space.vectors(np.clip(away, 0.01, 0.99)[None])[0]
    end = nearest_optimum(rollout, space, start).vector
    errors = rollout.errors(np.stack([truth, start, end])).mean(axis=1)
    assert errors[1] > 5.0 * errors[0]
    assert errors[2] < 1.05 * errors[0]


@pytest.mark.long
def test_it_does_not_leave_for_worse() -> None:
    servo = mx106("m1")
    logs = session(servo)[:4]
    space = space_for(servo, logs)
    rollout = Rollout.for_servo(logs, servo)
    for seed in range(3):
        point = np.random.default_rng(seed).random(space.dimension)
        start = space.vectors(point[None])[0]
        sample_weights = SampleWeights(sensitivity(rollout, space, start, thorough=False))
        end = nearest_optimum(rollout, space, start)
        assert sample_weights.cost(end.residuals) <= sample_weights.cost(residuals_at(rollout, start))
        assert np.all((end.normalised >= 0.0) & (end.normalised <= 1.0))


class BentValley:
    """Stands for a rollout of one log with two samples; the valley y = x² hardly slopes to its bottom."""

    recordings = (range(2),)
    measured = np.zeros(2)
    counts = np.array([2])

    def __init__(self, bottom: float = 0.8, across: float = 1e-2) -> None:
        self._bottom, self._across = bottom, across

    def samples(self, _every: object) -> BentValley:
        return self

    def positions(self, vectors: np.ndarray) -> np.ndarray:
        x, y = vectors[:, 0], vectors[:, 1]
        return np.stack([1e-3 * (x - self._bottom), self._across * (y - x**2)], axis=1)


def test_it_follows_the_bend_of_a_valley_to_the_very_bottom_within_its_budget() -> None:
    space = linear_space(2)
    start = space.base.copy()
    start[:2] = -0.8, 0.64
    allowance = evaluations_for(2, 10)  # straight steps are at -0.2 by then
    spent: list[int] = []
    end = descend(cast(Rollout, BentValley()), space, start, evaluations=allowance, spend=spent.append)
    np.testing.assert_allclose(end.vector[:2], [0.8, 0.64], atol=1e-3)
    assert sum(spent) <= allowance


@pytest.mark.parametrize("across", [1e-2, 1.0])
def test_slopes_lead_along_a_valley_between_ever_so_steep_walls(across: float) -> None:
    """What stops a step across the valley is no reason to stop one along it."""
    space = linear_space(2)
    start = space.base.copy()
    start[:2] = -0.2, 0.04
    spent: list[int] = []
    end = slide(
        cast(Rollout, BentValley(across=across)),
        space,
        start,
        evaluations=evaluations_for(2, 20),
        spend=spent.append,
    )
    np.testing.assert_allclose(end.vector[:2], [0.8, 0.64], atol=1e-2)
    assert sum(spent) <= evaluations_for(2, 20)


class Diverging(BentValley):
    """Beyond x = 0.7, where the way leads, simulations leave the range of floating point."""

    def __init__(self, beyond: float) -> None:
        super().__init__()
        self._beyond = beyond

    def positions(self, vectors: np.ndarray) -> np.ndarray:
        return np.where(vectors[:, :1] > 0.7, self._beyond, super().positions(vectors))


@pytest.mark.parametrize("beyond", [1e300, -1e300, np.inf, np.nan])
def test_it_turns_back_where_simulations_diverge(beyond: float) -> None:
    space = linear_space(2)
    start = space.base.copy()
    for at in (-0.2, 0.69, 0.9):
        start[:2] = at, at**2
        for way in (slide, descend):
            end = way(
                cast(Rollout, Diverging(beyond)),
                space,
                start,
                evaluations=evaluations_for(2, 10),
                spend=lambda _: None,
            )
            assert np.isfinite(end.jacobian).all()
            assert np.square(end.residuals).max() < (1e-2 if at < 0.7 else np.inf)


def test_it_follows_the_bend_to_the_bottom_of_another_simulation_by_the_jacobian_at_hand() -> None:
    space = linear_space(2)
    start = space.base.copy()
    start[:2] = 0.8, 0.64
    here = sensitivity(cast(Rollout, BentValley()), space, start, thorough=False)
    other = cast(Rollout, BentValley(0.4))
    straight = set_right(here, residuals_at(other, start) - here.residuals).vector[:2]
    np.testing.assert_allclose(straight, [0.4, 0.0], atol=1e-3)
    np.testing.assert_allclose(follow(other, here).vector[:2], [0.4, 0.16], atol=1e-3)
