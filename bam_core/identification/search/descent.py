# SPDX-License-Identifier: Apache-2.0
"""One CMA-ES descent that can be advanced a generation at a time, so that several share an evaluation."""

from __future__ import annotations

import math

import numpy as np

from bam_core.arrays import Array

_STALL_LIMIT = 10  # generations without progress that end a descent, per free parameter and population
_MIN_STALL_LIMIT = 10
PROGRESS = 1e-3
"""Relative improvement that counts."""


class Descent:
    """CMA-ES from one point, with its best point so far and a sense of when it has stalled.

    Attributes:
        population: points per generation.
        point: best point, (dimension,).
        error: its objective.
    """

    def __init__(self, mean: Array, *, step: float, population: int, seed: int) -> None:
        """Start a descent.

        Args:
            mean: where to start, (dimension,).
            step: initial standard deviation.
            population: points per generation.
            seed: of its random numbers.
        """
        from cmaes import CMA  # loads scipy.stats, half a second that most commands need not wait

        self.population = population
        self.point = np.array(mean)
        self.error = math.inf
        self._cma = CMA(mean=mean, sigma=step, population_size=population, seed=seed)
        self._stall_limit = _MIN_STALL_LIMIT + math.ceil(_STALL_LIMIT * len(mean) / population)
        self._reference = math.inf
        self._stalled = 0
        self._asked = np.empty((0, len(mean)))

    @property
    def finished(self) -> bool:
        """True once further generations are not worth their price."""
        return self._stalled >= self._stall_limit or self._cma.should_stop()

    def ask(self) -> Array:
        """Draw the next generation, (population, dimension)."""
        self._asked = np.array([self._cma.ask() for _ in range(self.population)])
        return self._asked

    def tell(self, errors: Array) -> None:
        """Take the objective of the generation that was drawn last, (population,)."""
        self._cma.tell(list(zip(self._asked, errors.tolist(), strict=True)))
        lowest = int(np.argmin(errors))
        if errors[lowest] < self.error:
            self.error, self.point = float(errors[lowest]), self._asked[lowest]
        if self.error < (1.0 - PROGRESS) * self._reference:
            self._reference, self._stalled = self.error, 0
        else:
            self._stalled += 1
