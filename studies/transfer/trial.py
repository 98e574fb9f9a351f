# SPDX-License-Identifier: Apache-2.0
"""Tune in every simulation, then try all policies on the same hidden robots with the same marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.servo.model import load_servo
from studies.transfer.episodes import Simulator
from studies.transfer.policy import Gains
from studies.transfer.population import hidden_episodes
from studies.transfer.simulations import SIMULATIONS, Known, hidden_models, simulation
from studies.transfer.tasks import Marks, Task
from studies.transfer.tuning import Budget, tune

_EPISODES = 6  # of each hidden robot
_DRAWN = 5  # seed of what simulations draw


@dataclass(frozen=True, kw_only=True)
class Tried:
    """Policies of one simulation.

    Attributes:
        policies: (seeds, numbers) where each search ended.
        promised: (seeds,) mean distance in the simulation that they were tuned in, m.
        error: (seeds, robots) mean distance on hidden robots, m.
        success: (seeds, robots) share of episodes whose tip stayed near its mark.
    """

    policies: Array
    promised: Array
    error: Array
    success: Array


def tried_in_all(
    task: Task,
    known: Known,
    budget: Budget,
    *,
    seeds: Sequence[int],
    robots: int,
    hidden: int,
    report: Callable[[str], None],
) -> Mapping[str, Tried]:
    """Return the results of each simulation.

    Args:
        task: what is to be done.
        known: of its servo.
        budget: of each tuning.
        seeds: of the tunings.
        robots: hidden ones.
        hidden: seed of their servos and marks.
        report: receives a line after each tuning.
    """
    random, simulator = np.random.default_rng(hidden), Simulator(task)
    episodes = hidden_episodes(
        load_servo(task.servo), len(task.joints), robots=robots, episodes=_EPISODES, random=random
    )
    models = [model for robot in hidden_models(task, episodes) for model in robot]
    marks = task.marks(len(models), random)
    results = {}
    for name in SIMULATIONS:
        own = simulation(name, task, known, _DRAWN)
        rows = []
        for seed in seeds:
            policy = tune(simulator, own, budget, seed)
            promised = _distances(simulator, [own[i % len(own)] for i in range(len(models))], policy, marks)
            distances = _distances(simulator, models, policy, marks).reshape(robots, _EPISODES, -1)
            error, success = distances.mean(axis=(1, 2)), (distances.max(axis=2) < task.reached).mean(axis=1)
            rows.append((policy, promised.mean(), error, success))
            report(f"{name}, seed {seed}: {1e3 * promised.mean():.2f}, hidden {1e3 * error.mean():.2f} mm")
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        results[name] = Tried(**dict(zip(("policies", "promised", "error", "success"), columns, strict=True)))
    return results


def _distances(simulator: Simulator, models: Sequence[mujoco.MjModel], policy: Array, marks: Marks) -> Array:
    gains = Gains.of(np.tile(policy, (len(models), 1)), len(simulator.task.joints))
    return simulator.distances(models, gains, marks)
