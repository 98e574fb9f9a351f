# SPDX-License-Identifier: Apache-2.0
"""What estimates of one quantity on several units mean for all units: a mean, a spread, outliers.

The model: the logarithm of the quantity of unit i is estimated as y_i with standard error s_i, and the units
themselves scatter around a mean with standard deviation tau (random effects). tau is where the weighted
squares are what they are expected to be (Paule and Mandel 1982). Its interval comes from the same statistic
(Q profile, Viechtbauer 2007). The standard error of the mean is that of Hartung and Knapp (2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, t

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape

LEVEL = 0.95
"""Of all intervals."""

FEWEST = 2
"""Units below which nothing can be compared."""

FEWEST_FOR_SPREAD = 3
"""Units below which no spread is reported: one difference hardly determines it."""

_LARGEST = 10.0  # tau searched for: a factor of 22,000


@dataclass(frozen=True, kw_only=True)
class Population:
    """One positive quantity over all units; logarithms are natural.

    Attributes:
        mean: of the logarithm.
        mean_error: its standard error.
        spread: tau, standard deviation of the logarithm between units, nearly a relative one.
        spread_interval: 95 %.
        difference: probability of estimates that differ as much, or more, if all units were equal.
        unseen: 95 % interval of the logarithm of a unit that nobody has measured; None below three units.
        outlying: (units,) probability that a unit like the others is as far from them, or farther. It is 1
            below three units.
    """

    mean: float
    mean_error: float
    spread: float
    spread_interval: tuple[float, float]
    difference: float
    unseen: tuple[float, float] | None
    outlying: Array


def estimate_population(logarithm: Array, error: Array) -> Population:
    """Return what units have in common and how they differ.

    Args:
        logarithm: (units,) estimates, two at least.
        error: (units,) their standard errors, above zero.

    Raises:
        BamError: the shapes differ, fewer than two units, or numbers that are not finite.
    """
    estimates, errors = np.asarray(logarithm, np.float64), np.asarray(error, np.float64)
    if estimates.shape != errors.shape or estimates.ndim != 1:
        raise WrongShape("error", errors.shape, f"{estimates.shape}, one per unit")
    if len(estimates) < FEWEST:
        raise BadData(
            "units",
            f"{len(estimates)} alone cannot be compared",
            expected="two or more",
            advice="identify more",
        )
    if not (np.all(np.isfinite(estimates)) and np.all(np.isfinite(errors)) and np.all(errors > 0.0)):
        raise BadData(
            "units",
            "an estimate or its error is not a finite number above zero",
            advice="leave that unit out, or identify it again",
        )
    units = len(estimates)
    mean, mean_error, spread = _random_effects(estimates, errors)
    tail, freedom = 0.5 * (1.0 - LEVEL), units - 1
    low, high = (
        _spread_where(estimates, errors, float(chi2.ppf(share, freedom))) for share in (1.0 - tail, tail)
    )
    unseen = None
    if units >= FEWEST_FOR_SPREAD:
        reach = float(t.ppf(1.0 - tail, units - 2)) * float(np.hypot(spread, mean_error))
        unseen = (mean - reach, mean + reach)
    return Population(
        mean=mean,
        mean_error=mean_error,
        spread=spread,
        spread_interval=(low, high),
        difference=float(chi2.sf(_squares(estimates, errors, 0.0), freedom)),
        unseen=unseen,
        outlying=_outlying(estimates, errors),
    )


def holm_adjusted(probabilities: Array) -> Array:
    """Return probabilities adjusted for so many tests at once (Holm 1979)."""
    values = np.asarray(probabilities, np.float64)
    order = np.argsort(values)
    raised = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def _outlying(estimates: Array, errors: Array) -> Array:
    """Return how improbable each unit is, beside a population of the others alone."""
    units = len(estimates)
    if units < FEWEST_FOR_SPREAD:
        return np.ones(units)
    probabilities = []
    for unit in range(units):
        others = np.arange(units) != unit
        mean, mean_error, spread = _random_effects(estimates[others], errors[others])
        scale = np.sqrt(spread**2 + mean_error**2 + errors[unit] ** 2)
        probabilities.append(2.0 * t.sf(abs(estimates[unit] - mean) / scale, max(units - 2, 1)))
    return np.array(probabilities)


def _random_effects(estimates: Array, errors: Array) -> tuple[float, float, float]:
    """Return mean, its standard error, and spread."""
    units = len(estimates)
    spread = _spread_where(estimates, errors, units - 1.0)
    weights = 1.0 / (errors**2 + spread**2)
    mean = float(np.sum(weights * estimates) / np.sum(weights))
    scatter = float(np.sum(weights * (estimates - mean) ** 2)) / (units - 1.0)
    # Not below what the estimates' own errors allow, where they happen to agree.
    return mean, float(np.sqrt(max(scatter, 1.0) / np.sum(weights))), spread


def _squares(estimates: Array, errors: Array, spread: float) -> float:
    weights = 1.0 / (errors**2 + spread**2)
    mean = np.sum(weights * estimates) / np.sum(weights)
    return float(np.sum(weights * (estimates - mean) ** 2))


def _spread_where(estimates: Array, errors: Array, squares: float) -> float:
    """Return the spread with which the weighted squares have this sum; zero where none is."""

    def excess(spread: float) -> float:
        return _squares(estimates, errors, spread) - squares

    if excess(0.0) <= 0.0:
        return 0.0
    if excess(_LARGEST) >= 0.0:
        return _LARGEST
    return float(brentq(excess, 0.0, _LARGEST, xtol=1e-9))
