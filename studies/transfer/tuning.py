# SPDX-License-Identifier: Apache-2.0
"""Gains tuned in one simulation by CMA-ES: the same budget and the same marks whatever the servo model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from cmaes import CMA

from bam_core.arrays import Array
from studies.transfer.episodes import Simulator
from studies.transfer.policy import Gains, dimension

_SIGMA = 0.5  # of the search at its start; the scales of `policy` are for it
_MARKS = 512


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Of one tuning.

    Attributes:
        generations: of the search.
        candidates: per generation.
        episodes: of each candidate in each generation; marks and models are drawn anew, the same for all.
    """

    generations: int = 60
    candidates: int = 12
    episodes: int = 8


def tune(simulator: Simulator, models: Sequence[mujoco.MjModel], budget: Budget, seed: int) -> Array:
    """Return the search vector at which the search ended: the mean of its distribution.

    Args:
        simulator: of the task.
        models: the robot with the servos of one simulation; each episode takes one at random.
        budget: of the search.
        seed: of search, marks and choice of models.
    """
    joints, random = len(simulator.task.joints), np.random.default_rng(seed)
    search = CMA(mean=np.zeros(dimension(joints)), sigma=_SIGMA, seed=seed, population_size=budget.candidates)
    marks = simulator.task.marks(_MARKS, random)
    rows = np.repeat(np.arange(budget.candidates), budget.episodes)
    for _ in range(budget.generations):
        vectors = np.array([search.ask() for _ in range(budget.candidates)])
        which = np.tile(random.integers(_MARKS, size=budget.episodes), budget.candidates)
        drawn = np.tile(random.integers(2**31, size=budget.episodes) % len(models), budget.candidates)
        own = [models[number] for number in drawn]
        distances = simulator.distances(own, Gains.of(vectors[rows], joints), marks[which])
        costs = distances.reshape(budget.candidates, -1).mean(axis=1)
        search.tell([(vector, float(cost)) for vector, cost in zip(vectors, costs, strict=True)])
    return np.asarray(search.mean)
