# SPDX-License-Identifier: Apache-2.0
"""Least squares from a good point: back to known parameters, within its budget, along the valley."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bam_core.identification.search.gauss_newton import evaluations_for
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.refine import Refiner
from bam_core.identification.search.space import SearchSpace, search_space
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.identification_cases import mx106, session

TRUTH = mx106("m3")


@pytest.fixture(scope="module")
def case() -> tuple[Refiner, SearchSpace]:
    logs = session(TRUTH)
    space = search_space(FRICTION_MODELS["m3"], logs, TRUTH.search.ranges)
    return Refiner(Rollout(logs, firmware=TRUTH.firmware), space), space


def test_it_finds_the_way_back_to_known_parameters(case: tuple[Refiner, SearchSpace]) -> None:
    refiner, space = case
    start = space.point(parameter_vector(TRUTH)) + np.array([0.02, -0.03, 0.02, 0.03, -0.03, 0.02])
    found = refiner.refine(space.vectors(start[None])[0], 300, lambda _: None)
    np.testing.assert_allclose(found.vector, parameter_vector(TRUTH), rtol=0.02)
    assert found.error < 1e-3  # the encoder's 1.5 mrad, uniform


@pytest.mark.parametrize("steps", [1, 3])
def test_it_spends_what_it_may_and_says_so_before(steps: int, case: tuple[Refiner, SearchSpace]) -> None:
    refiner, space = case
    allowance = evaluations_for(space.dimension, steps)
    spent: list[int] = []
    refiner.refine(parameter_vector(TRUTH) * 1.05, allowance, spent.append)
    assert 0.3 * allowance < sum(spent) <= allowance


def test_the_valley_is_long_where_the_data_tell_least(case: tuple[Refiner, SearchSpace]) -> None:
    refiner, space = case
    found = refiner.refine(parameter_vector(TRUTH), 100, lambda _: None)
    lengths = np.linalg.svd(found.valley, compute_uv=False)
    assert lengths[0] == pytest.approx(1.0)
    assert lengths[-1] < 0.3
    # A step along it moves the simulation less than one of the same length across it.
    along, across = (found.valley[:, i] / np.linalg.norm(found.valley[:, i]) for i in (-1, 0))
    rollout = Rollout(session(TRUTH), firmware=TRUTH.firmware)
    here, *there = (
        np.concatenate(rollout.positions(space.vectors((space.point(found.vector) + step)[None])[0]))
        for step in (np.zeros(space.dimension), 0.02 * along, 0.02 * across)
    )
    moved_along, moved_across = (float(np.abs(each - here).mean()) for each in there)
    assert moved_along < 0.5 * moved_across


def test_hops_from_a_valley_that_a_study_kept_are_those_from_the_valley_itself(
    case: tuple[Refiner, SearchSpace],
) -> None:
    refiner, space = case
    found = refiner.refine(parameter_vector(TRUTH), 100, lambda _: None)
    outcome = Outcome(vector=found.vector, error=found.error, evaluations=100, valley=found.valley)
    kept = Outcome.from_record(json.loads(json.dumps(outcome.to_record()))).valley
    assert kept is not None
    for number in range(50):
        step = np.random.default_rng(number).normal(size=space.dimension)
        np.testing.assert_array_equal(kept @ step, found.valley @ step)
