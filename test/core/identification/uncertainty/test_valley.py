# SPDX-License-Identifier: Apache-2.0
"""Intervals follow a valley that is bent, are the straight ones where it is not, and stay in the space."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.identification.search.evidence import SampleWeights, evidence
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import Sensitivity, vector_at
from bam_core.identification.uncertainty.covariance import covariance
from bam_core.identification.uncertainty.terms import UncertaintyTerms
from bam_core.identification.uncertainty.uncertainty import describe
from bam_core.identification.uncertainty.valley import Valley, valley_around
from bam_core.recordings.recording import Recording
from bam_core.simulation.rollout import Rollout, parameter_vector
from test.core.identification_cases import mx106, session
from test.core.uncertainty_cases import linear_space, space_for

_LOGS, _SAMPLES = 12, 20
_WEAK = 0.005  # of the response to the second parameter: how much the first moves the arm along the valley


@dataclass(frozen=True)
class Bent:
    """Positions that depend on (exp(growth·b) - 1)/growth - bend·a² strongly, and on a alone weakly.

    Both are -1..1. Without growth, one step whose bend is allowed for leads to the end of the valley.
    """

    bend: float
    errors: Array
    growth: float = 1e-6
    recordings: tuple[Recording, ...] = ()

    @property
    def counts(self) -> Array:
        return np.full(_LOGS, _SAMPLES)

    @property
    def measured(self) -> Array:
        return -self.errors

    def samples(self, every: object) -> Bent:
        return self

    def positions(self, vectors: Array) -> Array:
        a, b = vectors[:, 0, None], vectors[:, 1, None]
        first = np.arange(_LOGS * _SAMPLES) % 2 == 0
        return np.where(first, np.expm1(self.growth * b) / self.growth - self.bend * a**2, _WEAK * a)


def terms_for(bend: float, growth: float = 1e-6) -> UncertaintyTerms:
    """Terms at a = b = 0, where the valley has no slope yet; errors let that be the optimum."""
    jacobian = np.zeros((_LOGS * _SAMPLES, 2))
    jacobian[1::2, 0], jacobian[::2, 1] = 2.0 * _WEAK, 2.0  # the space is two wide
    errors = np.random.default_rng(0).normal(0.0, 5e-3, len(jacobian))
    errors -= jacobian @ np.linalg.lstsq(jacobian, errors, rcond=None)[0]
    simulated = Bent(bend, errors, growth)
    space = linear_space(2)
    start = Sensitivity(
        space=space,
        vector=vector_at(space, np.full(2, 0.5)),
        jacobian=jacobian,
        residuals=simulated.errors,
        counts=np.full(_LOGS, _SAMPLES),
    )
    found = evidence(start)
    return UncertaintyTerms(
        optimum=start,
        evidence=found,
        scatter=covariance(found),
        discretisation_bias=np.zeros(2),
        valley=Valley(
            rollout=cast("Rollout", simulated),
            start=start,
            offset=np.zeros(len(jacobian)),
            weights=SampleWeights(start),
            prior=float(found.bounds[0, 0]),
        ),
    )


def test_bounds_pull_back_towards_the_optimum() -> None:
    valley = terms_for(bend=2.0).valley
    assert valley is not None
    point = np.array([0.6, 0.45])
    here = valley.at(point, valley.residuals(point[None])[0])
    pull = valley.gradient(here) - replace(valley, prior=0.0).gradient(here)
    np.testing.assert_allclose(pull, valley.prior * np.array([0.1, -0.05]), atol=1e-12)


def test_intervals_follow_a_bent_valley_that_straight_ones_leave() -> None:
    terms = terms_for(bend=2.0)
    there = np.full(2, 0.5)
    (weak, bent), (same, straight) = (
        describe(each, there).estimates for each in (terms, replace(terms, valley=None))
    )
    a = 0.7 * same.high  # well inside its own interval; the other makes up for it there
    b = 2.0 * a**2
    assert b > 3.0 * straight.high
    assert b < bent.high < 2.0 * same.high**2 + straight.high
    assert bent.low == pytest.approx(straight.low, rel=0.3)  # the valley bends to one side alone
    assert weak.high - weak.low == pytest.approx(same.high - same.low, rel=0.2)
    assert describe(terms, there).method.follows_valley
    assert not describe(replace(terms, valley=None), there).method.follows_valley


def test_walks_go_on_by_the_slopes_at_each_new_place() -> None:
    terms = terms_for(bend=2.0, growth=10.0)
    there = np.full(2, 0.5)
    bent = describe(terms, there).estimates[1]
    a = 0.7 * describe(replace(terms, valley=None), there).estimates[0].high
    assert bent.high > np.log1p(10.0 * 2.0 * a**2) / 10.0


def test_a_straight_valley_leaves_intervals_as_they_are() -> None:
    terms = terms_for(bend=0.0)
    there = np.full(2, 0.5)
    for each, straight in zip(
        describe(terms, there).estimates, describe(replace(terms, valley=None), there).estimates, strict=True
    ):
        assert each.high - each.low == pytest.approx(straight.high - straight.low, rel=0.05)
        assert each.low <= straight.low
        assert each.high >= straight.high


def test_ways_end_where_the_search_does_and_follow_parameters_that_stop_there() -> None:
    valley = terms_for(bend=2.0).valley
    assert valley is not None
    low, high = valley.ends(np.array([3.0, 3.0]))
    assert np.all((low >= 0.0) & (low < 0.5) & (high > 0.5) & (high <= 1.0))
    assert high[1] == 1.0  # b at its bound, while a goes no farther than that lets it


@pytest.mark.long
def test_of_many_logs_some_are_walked_on_and_the_valley_begins_at_the_optimum_of_all() -> None:
    servo = mx106("m1")
    logs = session(servo)
    space = space_for(servo, logs)
    right = nearest_optimum(Rollout.for_servo(logs, servo), space, parameter_vector(servo))
    half = len(logs) // 2
    valley = valley_around(servo, logs, right, evidence(right), most_logs=half)
    assert len(valley.start.counts) == len(valley.rollout.recordings) == len(logs) // 2
    found = evidence(right)
    reach = 2.0 * np.sqrt(np.diag(covariance(found)))
    low, high = valley_around(servo, logs, right, found, most_logs=half).ends(reach)
    assert np.all((low <= right.normalised) & (right.normalised <= high))
    assert np.all((high - low) > 1.7 * reach)
    assert np.median((high - low) / (2.0 * reach)) < 1.4
