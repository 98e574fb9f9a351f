# SPDX-License-Identifier: Apache-2.0
"""A search problem whose bottom is known: a bowl with ripples in the space of an M4."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bam_core.identification.search.meter import Objective
from bam_core.identification.search.problem import Problem, Refine
from bam_core.identification.search.refine import Refined
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule
from bam_core.identification.search.space import search_space
from bam_core.servo.friction import FRICTION_MODELS
from test.core.identification_cases import mx106, record

Array = NDArray[np.float64]

SPACE = search_space(FRICTION_MODELS["m4"], [record(mx106("m1"), "sin_sin", 8.0)])
TARGET = SPACE.vectors(np.full((1, SPACE.dimension), 0.37))[0]


class Bowl:
    """Distance to a target in the space's own coordinates, with ripples; counts evaluations."""

    def __init__(self) -> None:
        self.evaluations = 0

    def __call__(self, vectors: Array) -> Array:
        self.evaluations += len(vectors)
        points = np.array([SPACE.point(vector) for vector in vectors]) - SPACE.point(TARGET)
        return np.asarray(np.abs(points).mean(axis=1) + 0.02 * (1.0 - np.cos(30.0 * points)).mean(axis=1))


def staying(objective: Objective) -> Refine:
    """Return a descent that stays where it begins."""

    def refine(vector: Array, evaluations: int, spend: Callable[[int], None]) -> Refined:
        spend(1)
        return Refined(vector=vector, error=float(objective(vector[None])[0]), valley=np.eye(SPACE.dimension))

    return refine


def problem(
    objective: Objective,
    *,
    refine: Refine | None = None,
    approach: Sequence[Refine] | None = None,
    error: Objective | None = None,
    schedule: SearchSchedule = DEFAULT_SCHEDULE,
) -> Problem:
    """Return the search for the bottom of an objective, by descents that stay where they begin by default."""
    refine = refine or staying(objective)
    return Problem(
        space=SPACE,
        objective=objective,
        error=error or objective,
        refine=refine,
        refine_draft=refine,
        refine_finely=None,
        short=objective,
        approach=[refine] if approach is None else approach,
        schedule=schedule,
    )
