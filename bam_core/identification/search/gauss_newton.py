# SPDX-License-Identifier: Apache-2.0
"""Gauss-Newton steps down a valley of the error: the end of a search, and the way to the nearest optimum.

Friction parameters trade with each other, so the error has long curved valleys, which CMA-ES crawls. The
simulated positions are nearly linear in the parameters: a few Gauss-Newton steps go where thousands of
samples would. What a straight step misses is the bend of the valley, and the farther the step, the sooner it
runs up a wall. One more simulation at its end shows the bend, and the step that allows for it stays on the
bottom (geodesic acceleration; Transtrum and Sethna 2012). Steps of several lengths are tried, straight and
bent, and the best of all is taken: where stiction makes the error rough, the first that gains anything
would often end in a pit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.evidence import SampleWeights, evidence
from bam_core.identification.search.sensitivity import (
    Sensitivity,
    cost_of_sensitivity,
    residuals_at,
    sensitivity,
    vector_at,
    vectors_at,
)
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.rollout import Rollout

_DAMPING = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0)  # of the steps that are tried
_WORTHWHILE = 1e-4  # relative gain that pays for another step: a fraction of a standard error
_STEPS = 20  # of a descent that is not told how long it may take
_LOOKS = 4  # after as many descents at most
_WORTH_FOLLOWING = 1e-5  # likewise, where a step costs no Jacobian,
_FOLLOWING = 8  # and so many steps at most


def nearest_optimum(
    rollout: Rollout,
    space: SearchSpace,
    vector: Array,
    *,
    spend: Callable[[int], None] | None = None,
) -> Sensitivity:
    """Descend, and descend again where a thorough sensitivity shows a way further down.

    A search ends somewhere near an optimum; its distance to it would have to count as uncertainty.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
        vector: (PARAMETERS,) SI, where to start.
        spend: called with the simulations that follow; may raise to end it.

    Returns:
        The thorough sensitivity at the point arrived at, with its vector; what a fit minimises is no higher
        there.
    """
    for _ in range(_LOOKS):
        vector = descend(rollout, space, vector, spend=spend).vector
        here = sensitivity(rollout, space, vector, spend=spend)
        gain, there = _step(rollout, here, spend)
        if gain <= 0.0:
            return here
        vector = there
        if gain < _WORTHWHILE:
            break
    return sensitivity(rollout, space, vector, guess=here.jacobian, spend=spend)


def descend(
    rollout: Rollout,
    space: SearchSpace,
    vector: Array,
    *,
    evaluations: int | None = None,
    spend: Callable[[int], None] | None = None,
) -> Sensitivity:
    """Step down the valley until steps gain next to nothing.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
        vector: (PARAMETERS,) SI, where to start.
        evaluations: simulations of all recordings that it may take, `evaluations_for` one step or more;
            default for _STEPS of them.
        spend: called with the simulations that follow; may raise to end it.

    Returns:
        The sensitivity, not a thorough one, at the point arrived at; what a fit minimises is no higher there.
    """
    left = evaluations_for(space.dimension, _STEPS) if evaluations is None else evaluations

    def pay(simulations: int) -> None:
        nonlocal left
        left -= simulations
        if spend is not None:
            spend(simulations)

    here = sensitivity(rollout, space, vector, thorough=False, spend=pay)
    is_new = True
    while left >= _cost_of_step(space.dimension):
        gain, there = _step(rollout, here, pay)
        vector = there if gain > 0.0 else here.vector
        stalled = gain < _WORTHWHILE
        if stalled and (is_new or left < cost_of_sensitivity(space.dimension)):
            return here if gain <= 0.0 else _carried(rollout, here, vector, pay)
        # A Jacobian that was carried along may have missed a valley that a new one finds.
        is_new = stalled
        here = (
            sensitivity(rollout, space, vector, thorough=False, spend=pay)
            if stalled
            else _carried(rollout, here, vector, pay)
        )
    return here


def follow(rollout: Rollout, here: Sensitivity) -> Sensitivity:
    """Go on to the optimum of another simulation of the same recordings, by the Jacobian at hand.

    Args:
        rollout: the other simulation, say with finer steps, whose optimum is near.
        here: where to start.

    Returns:
        The Jacobian at hand, at the point arrived at; what a fit minimises is no higher there.
    """
    here = replace(here, residuals=residuals_at(rollout, here.vector))
    for _ in range(_FOLLOWING):
        gain, vector = _step(rollout, here, None)
        if gain <= 0.0:
            break
        here = replace(here, vector=vector, residuals=residuals_at(rollout, vector))
        if gain < _WORTH_FOLLOWING:
            break
    return here


def _carried(
    rollout: Rollout, here: Sensitivity, vector: Array, spend: Callable[[int], None] | None
) -> Sensitivity:
    return sensitivity(rollout, here.space, vector, guess=here.jacobian, thorough=False, spend=spend)


def evaluations_for(dimension: int, steps: int) -> int:
    """Return how many simulations of all recordings so many steps of `descend` take at most."""
    return cost_of_sensitivity(dimension) + steps * _cost_of_step(dimension)


def _cost_of_step(dimension: int) -> int:
    return 2 * len(_DAMPING) + 1 + 2 * dimension


def _step(rollout: Rollout, here: Sensitivity, spend: Callable[[int], None] | None) -> tuple[float, Array]:
    """Return relative gain and place of the best of several steps, straight and bent."""
    sample_weights = SampleWeights(here)
    found = evidence(here, cautious=True)
    straight = np.array([found.shift(damping) for damping in _DAMPING])
    ends = _residuals(rollout, here, straight, spend)
    bends = ends - here.residuals - straight @ here.jacobian.T
    bent = np.array(
        [
            found.shift(damping, lean=sample_weights.lean(here, bend, cautious=True))
            for damping, bend in zip(_DAMPING, bends, strict=True)
        ]
    )
    ends = np.concatenate([ends, _residuals(rollout, here, bent, spend)])
    costs = [sample_weights.cost(end) for end in ends]
    best = int(np.argmin(costs))
    before = sample_weights.cost(here.residuals)
    gain = 1.0 - costs[best] / before if before > 0.0 else 0.0
    return gain, vector_at(here.space, here.normalised + np.concatenate([straight, bent])[best])


def _residuals(
    rollout: Rollout, here: Sensitivity, steps: Array, spend: Callable[[int], None] | None
) -> Array:
    if spend is not None:
        spend(len(steps))
    return residuals_at(rollout, vectors_at(here.space, here.normalised + steps))
