# SPDX-License-Identifier: Apache-2.0
"""The distribution of a robot's unknowns, of errors that are known functions."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from bam_core.robot.descent import Place
from bam_core.robot.distribution import BEGIN, ROUNDS, Distribution, find_distribution
from bam_core.robot.noise import Noise
from bam_core.robot.objective import Objective

SIZE, SAMPLES = 6, 2000
STANDARD = np.array([1e-3, 3e-3, 0.02, 0.1, 0.5, 10.0])  # of axes, by what runs tell
NOISE = Noise(scale=np.ones(1), independent=np.ones(1))


class KnownErrors:
    """Errors, in their standard deviations, as a function of the unknowns; a quick one is as good."""

    def __init__(
        self,
        function: Callable[[np.ndarray], np.ndarray | None],
        least: float = -np.inf,
        quick: KnownErrors | None = None,
    ) -> None:
        self.function, self.unknowns = function, SimpleNamespace(least=np.full(SIZE, least))
        self.quick, self.asked = quick, 0

    def at(self, points: Sequence[np.ndarray]) -> list[np.ndarray | None]:
        self.asked += len(points)
        return [self.function(point) for point in points]

    def about(
        self, point: np.ndarray, errors: np.ndarray
    ) -> Callable[[Sequence[np.ndarray]], list[np.ndarray | None]]:
        return (self.quick or self).at

    def noise(self, errors: np.ndarray) -> Noise:
        return NOISE

    def objective(self, noise: Noise) -> Objective:
        return Objective(worth=np.ones(SAMPLES), scale=np.full(SAMPLES, 1.0))

    def distribution(self, point: np.ndarray, covariance: np.ndarray) -> Distribution:
        errors = self.function(point)
        assert errors is not None
        place = Place(point=point, errors=errors, jacobian=np.zeros((SAMPLES, SIZE)))
        return find_distribution(self, place, BEGIN**2 * covariance, said.append)


said: list[str] = []
axes, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((SIZE, SIZE)))
columns, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((SAMPLES, SIZE)))
SLOPES = columns @ np.diag(1.0 / STANDARD) @ axes.T
TRUE = np.linalg.inv(np.eye(SIZE) + SLOPES.T @ SLOPES)
LEFT = 0.5 * np.random.default_rng(3).standard_normal(
    SAMPLES
)  # errors at the truth, below the pseudo-Huber tail


def rough(point: np.ndarray) -> np.ndarray:
    """Errors that jump with the least change of a point, by a chi-square of 6."""
    seed = zlib.crc32(point.tobytes())
    return np.sqrt(6.0 / SAMPLES) * np.random.default_rng(seed).standard_normal(SAMPLES)


def wrong(found: Distribution) -> float:
    """Return by how much the standard deviations along its axes differ from the true ones, logarithmic."""
    root = np.linalg.cholesky(TRUE)
    shares = np.linalg.eigvalsh(np.linalg.solve(root, np.linalg.solve(root, found.covariance).T))
    return float(np.sqrt(np.mean(np.log(np.maximum(shares, 1e-9)) ** 2)) / 2.0)


@pytest.mark.parametrize("factor", [1e-2, 1.0, 1e2])
def test_of_linear_errors_the_exact_one_is_found_from_any_first_guess(factor: float) -> None:
    errors = KnownErrors(lambda point: LEFT + SLOPES @ point)
    found = errors.distribution(np.zeros(SIZE), factor**2 * TRUE)
    weights = errors.objective(NOISE).weights(found.errors)
    exact = np.linalg.inv(np.eye(SIZE) + (SLOPES.T * weights) @ SLOPES)
    assert found.covariance == pytest.approx(exact, rel=0.02, abs=1e-9)
    lowest = -exact @ (SLOPES.T @ (weights * LEFT))
    assert np.all(np.abs(found.point - lowest) < 0.05 * np.sqrt(np.diag(exact)))
    assert said[-1].startswith("round 9 of 9: ")


def test_with_quick_simulations_each_round_needs_one_that_is_not() -> None:
    def errors(point: np.ndarray) -> np.ndarray:
        return LEFT + SLOPES @ point

    quick = KnownErrors(errors)
    both = KnownErrors(errors, quick=quick)
    found = both.distribution(np.ones(SIZE), TRUE)
    alone = KnownErrors(errors).distribution(np.ones(SIZE), TRUE)
    assert found.point == pytest.approx(alone.point)
    assert both.asked == ROUNDS
    assert quick.asked > 10 * both.asked


def test_roughness_does_not_look_like_information() -> None:
    """Differences over a standard deviation drown in it along the axes that runs do not tell."""
    errors = KnownErrors(lambda point: LEFT + SLOPES @ point + rough(point))
    found = errors.distribution(np.zeros(SIZE), 0.1 * TRUE)
    assert wrong(found) < 0.5
    off = found.point - TRUE @ -(SLOPES.T @ LEFT)
    assert off @ np.linalg.solve(TRUE, off) < 3.0 * SIZE


@pytest.mark.parametrize("variance", [0.01, 1.0])
def test_runs_that_are_only_rough_tell_nothing(variance: float) -> None:
    """Without what roughness is taken for, deviations of 1 would come out as 0.3 to 0.7."""
    errors = KnownErrors(lambda point: LEFT + rough(point))
    found = errors.distribution(np.zeros(SIZE), variance * np.eye(SIZE))
    deviations = np.sqrt(np.linalg.eigvalsh(found.covariance))
    assert np.all((deviations > 0.95) & (deviations < 1.2))


def test_unknowns_stay_above_their_bound() -> None:
    errors = KnownErrors(lambda point: LEFT + SLOPES @ (point + 0.3), least=-0.1)
    found = errors.distribution(np.zeros(SIZE), TRUE)
    assert np.all(found.point >= -0.1)


def test_where_simulations_diverge_the_spread_shrinks() -> None:
    def errors_near(point: np.ndarray) -> np.ndarray | None:
        return LEFT + SLOPES @ point if np.linalg.norm(point) < 0.3 else None

    found = KnownErrors(errors_near).distribution(np.zeros(SIZE), np.eye(SIZE))
    assert np.all(np.isfinite(found.covariance))
    assert np.linalg.norm(found.point) < 0.3
