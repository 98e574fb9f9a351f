# SPDX-License-Identifier: Apache-2.0
"""Gauss-Newton steps down a valley of the error: most of a search, and the way to the nearest optimum.

Friction parameters trade with each other, so the error has long curved valleys; CMA-ES is slow along them.
The simulated positions are nearly linear in the parameters: a few Gauss-Newton steps go where thousands of
samples would. What a straight step misses is the bend of the valley, and the farther the step, the sooner it
runs up a wall. One more simulation at its end shows the bend, and the step that allows for it stays on the
bottom (geodesic acceleration; Transtrum and Sethna 2012). Positions answer to one combination of parameters
ten thousand times as much as to another, so damping that stops a step across the valley must not stop it
along: steps with dampings over many powers of ten are tried, straight and bent, and the best of all is taken.

Steps by the slopes at a point come first: they follow a valley to its end, or to where stiction makes the
error rough. There, slopes over longer differences (see `sensitivity`) see across what is rough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.evidence import SampleWeights, evidence
from bam_core.identification.search.sensitivity import (
    Sensitivity,
    cost_of_quick_sensitivity,
    residuals_at,
    sensitivity,
    slopes,
    vector_at,
    vectors_at,
    weaker,
)
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.rollout import Rollout

_DAMPING = tuple(10.0 ** (-1.5 * i) for i in range(6))  # of the first steps that are tried,
_NEXT_DAMPING = (10.0, 1.0, 0.1, 0.01)  # of later ones, times that of the best before,
_AFTER_A_FAILURE = (1e4, 1e3, 1e2, 10.0)  # or where none gained anything
_BENDS = 2  # of each step: where the first leads, the valley bends otherwise
_LEAST_DAMPING, _MOST_DAMPING = 1e-10, 1e5
_WORTHWHILE = 3e-5  # relative gain that pays for another step: a fraction of a standard error
_IN_VAIN = 2  # steps by slopes that gain less, one after the other, end a descent
_STEPS = 40  # of a descent that is not told how long it may take
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
        The thorough sensitivity at the point arrived at, `weaker` where slopes are; what a fit minimises is
        no higher there.
    """
    guess = None
    for _ in range(_LOOKS):
        vector = descend(rollout, space, vector, spend=spend).vector
        here = sensitivity(rollout, space, vector, spend=spend)
        gain, there, _ = _Steps(rollout, spend).from_here(here)
        if gain <= 0.0:
            break
        vector, guess = there, here.jacobian
        if gain < _WORTHWHILE:
            break
    if gain > 0.0:
        here = sensitivity(rollout, space, vector, guess=guess, spend=spend)
    return weaker(slopes(rollout, space, vector, residuals=here.residuals, spend=spend), here)


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
    purse = _Purse(space, evaluations, spend)
    here = slide(rollout, space, vector, evaluations=purse.left, spend=purse.pay)
    steps = _Steps(rollout, purse.pay)
    while purse.left >= cost_of_quick_sensitivity(space.dimension) + steps.cost:
        here = sensitivity(rollout, space, here.vector, guess=here.jacobian, thorough=False, spend=purse.pay)
        gain, there, residuals = steps.from_here(here)
        if gain > 0.0:
            here = replace(here, vector=there, residuals=residuals)
        if gain < _WORTHWHILE:
            break
    return here


def slide(
    rollout: Rollout,
    space: SearchSpace,
    vector: Array,
    *,
    evaluations: int | None = None,
    spend: Callable[[int], None] | None = None,
) -> Sensitivity:
    """Step down by the slopes at each point itself, until steps gain next to nothing.

    Args:
        rollout: simulates the training recordings.
        space: free parameters.
        vector: (PARAMETERS,) SI, where to start.
        evaluations: as of `descend`.
        spend: called with the simulations that follow; may raise to end it.

    Returns:
        The last slopes, at the point arrived at; what a fit minimises is no higher there.
    """
    purse = _Purse(space, evaluations, spend)
    here = slopes(rollout, space, vector, spend=purse.pay)
    steps = _Steps(rollout, purse.pay)
    in_vain = 0
    while purse.left >= steps.cost:
        gain, there, residuals = steps.from_here(here)
        if gain > 0.0:
            here = replace(here, vector=there, residuals=residuals)
        in_vain = 0 if gain >= _WORTHWHILE else in_vain + 1
        if in_vain == _IN_VAIN or purse.left < space.dimension + steps.cost:
            break
        if gain > 0.0:
            here = slopes(rollout, space, there, residuals=residuals, spend=purse.pay)
    return here


def follow(rollout: Rollout, here: Sensitivity) -> Sensitivity:
    """Go on to the optimum of another simulation of the same recordings, by the Jacobian at hand.

    Args:
        rollout: the other simulation, for example with finer steps, whose optimum is near.
        here: where to start.

    Returns:
        The Jacobian at hand, at the point arrived at; what a fit minimises is no higher there.
    """
    here = replace(here, residuals=residuals_at(rollout, here.vector))
    steps = _Steps(rollout, None)
    for _ in range(_FOLLOWING):
        gain, vector, residuals = steps.from_here(here)
        if gain <= 0.0:
            break
        here = replace(here, vector=vector, residuals=residuals)
        if gain < _WORTH_FOLLOWING:
            break
    return here


def evaluations_for(dimension: int, steps: int) -> int:
    """Return how many simulations of all recordings so many steps of `slide` take at most."""
    first, later = (1 + _BENDS) * len(_DAMPING), (1 + _BENDS) * len(_NEXT_DAMPING)
    return 1 + steps * (dimension + later) + first - later


class _Purse:
    """What a descent may spend."""

    def __init__(
        self, space: SearchSpace, evaluations: int | None, spend: Callable[[int], None] | None
    ) -> None:
        self.left = evaluations_for(space.dimension, _STEPS) if evaluations is None else evaluations
        self._spend = spend

    def pay(self, simulations: int) -> None:
        self.left -= simulations
        if self._spend is not None:
            self._spend(simulations)


class _Steps:
    """Steps of several dampings, which those of the next step depend on."""

    def __init__(self, rollout: Rollout, spend: Callable[[int], None] | None) -> None:
        self._rollout = rollout
        self._spend = spend
        self._damping = np.array(_DAMPING)

    @property
    def cost(self) -> int:
        """Simulations of the next step."""
        return (1 + _BENDS) * len(self._damping)

    def from_here(self, here: Sensitivity) -> tuple[float, Array, Array]:
        """Return relative gain, place and residuals of the best of several steps, straight and bent."""
        sample_weights = SampleWeights(here)
        log_evidence = evidence(here, cautious=True)
        steps = [np.array([log_evidence.shift(damping) for damping in self._damping])]
        ends = [self._residuals(here, steps[0])]
        for _ in range(_BENDS):
            bends = ends[-1] - here.residuals - steps[-1] @ here.jacobian.T
            leans = [sample_weights.lean(here, bend, cautious=True) for bend in bends]
            bent = [log_evidence.shift(*arguments) for arguments in zip(self._damping, leans, strict=True)]
            steps.append(np.array(bent))
            ends.append(self._residuals(here, steps[-1]))
        places = np.clip(here.normalised + np.concatenate(steps), 0.0, 1.0)
        costs = [
            sample_weights.cost(end, place) for end, place in zip(np.concatenate(ends), places, strict=True)
        ]
        best = int(np.argmin(costs))
        before = sample_weights.cost(here.residuals, here.normalised)
        gain = 1.0 - costs[best] / before if before > 0.0 else 0.0
        next_damping = (
            self._damping[best % len(self._damping)] * np.array(_NEXT_DAMPING)
            if gain > 0.0
            else self._damping.max() * np.array(_AFTER_A_FAILURE)
        )
        self._damping = np.clip(next_damping, _LEAST_DAMPING, _MOST_DAMPING)
        there = vector_at(here.space, here.normalised + np.concatenate(steps)[best])
        return gain, there, np.concatenate(ends)[best]

    def _residuals(self, here: Sensitivity, steps: Array) -> Array:
        if self._spend is not None:
            self._spend(len(steps))
        return residuals_at(self._rollout, vectors_at(here.space, here.normalised + steps))
