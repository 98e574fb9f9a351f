# SPDX-License-Identifier: Apache-2.0
"""Derivatives and descents on errors that are known functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from bam_core.robot.descent import Descent, Place, derivatives, descend, one_sided
from bam_core.robot.noise import Noise
from bam_core.robot.objective import Objective

NOISE = Noise(scale=np.ones(1), independent=np.ones(1))


class KnownErrors:
    """Errors, in standard deviations, as a function of two unknowns that may not go below a bound.

    Another function, that is like the first one, may be what is quick.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        least: float = -np.inf,
        quick: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.function, self.quick = function, quick
        self.unknowns = SimpleNamespace(least=np.full(2, least))
        self.asked = 0

    def at(self, points: Sequence[np.ndarray]) -> list[np.ndarray]:
        self.asked += len(points)
        return [self.function(point) for point in points]

    def about(
        self, point: np.ndarray, errors: np.ndarray
    ) -> Callable[[Sequence[np.ndarray]], list[np.ndarray]]:
        quick = self.quick
        if quick is None:
            return self.at
        return lambda points: [quick(each) - quick(point) + errors for each in points]

    def objective(self, noise: Noise) -> Objective:
        size = len(self.function(np.zeros(2)))
        return Objective(worth=np.ones(size), scale=np.ones(size))

    def place(self, point: Sequence[float]) -> Place:
        errors = self.function(np.array(point))
        return Place(point=np.array(point), errors=errors, jacobian=np.zeros((len(errors), 2)))


def bent(point: np.ndarray) -> np.ndarray:
    """A parabola's valley: one combination is told well, the way along it is not."""
    return np.array([30.0 * (point[1] - 0.5 * point[0] ** 2)])


def descent(directions: np.ndarray, *, is_two_sided: bool = False) -> Descent:
    return Descent(name="only", directions=directions, is_two_sided=is_two_sided, noise=lambda errors: NOISE)


@pytest.mark.parametrize("is_two_sided", [False, True])
def test_any_directions_give_the_derivatives_of_linear_errors(is_two_sided: bool) -> None:
    slope = np.array([[2.0, -1.0], [0.5, 3.0], [1.0, 1.0]])
    errors = KnownErrors(lambda point: slope @ point, least=0.0)
    oblique = np.array([[0.3, 0.2], [-0.4, 0.6]])
    for directions in (one_sided(np.ones(2, dtype=bool)), oblique):
        found = derivatives(errors, descent(directions, is_two_sided=is_two_sided), errors.place([0.0, 0.5]))
        assert found == pytest.approx(slope)


def test_unknowns_that_are_not_free_have_no_derivatives() -> None:
    errors = KnownErrors(lambda point: 2.0 * point)
    found = derivatives(errors, descent(one_sided(np.array([True, False]))), errors.place([0.0, 0.0]))
    assert found == pytest.approx(np.array([[2.0, 0.0], [0.0, 0.0]]))


def test_a_descent_follows_a_bent_valley_to_its_lowest_point() -> None:
    errors = KnownErrors(lambda point: np.append(bent(point), 5.0 * (point[0] - 3.0)))
    said: list[str] = []
    place = descend(errors, descent(one_sided(np.ones(2, dtype=bool))), errors.place([0.0, 0.0]), said.append)
    assert place.point == pytest.approx([2.5, 3.1], abs=0.3)  # the prior holds both back a little
    assert said[0].startswith("only ")
    assert " 1: " in said[0]


def test_what_is_quick_gives_derivatives_and_what_is_right_decides() -> None:
    def right(point: np.ndarray) -> np.ndarray:
        return np.append(bent(point), 5.0 * (point[0] - 3.0))

    def quick(point: np.ndarray) -> np.ndarray:
        return 1.3 * right(point) + 7.0 + 0.2 * point[0]

    free = descent(one_sided(np.ones(2, dtype=bool)))
    alone, both = KnownErrors(right), KnownErrors(right, quick=quick)
    expected = descend(alone, free, alone.place([0.0, 0.0]), lambda words: None)
    found = descend(both, free, both.place([0.0, 0.0]), lambda words: None)
    assert found.errors == pytest.approx(right(found.point))
    assert both.objective(NOISE).cost(found.errors, found.point) == pytest.approx(
        alone.objective(NOISE).cost(expected.errors, expected.point), abs=1.0
    )
    assert both.asked < 0.5 * alone.asked
