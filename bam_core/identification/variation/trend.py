# SPDX-License-Identifier: Apache-2.0
"""How one quantity of a unit changes over its sessions, with the temperature of each as a covariate.

The model: the logarithm of the quantity in session i is estimated as y_i with standard error s_i. It is a
line in time and in temperature, about which sessions scatter with standard deviation tau (meta-regression
with random effects, Thompson and Higgins 2002). tau is where the weighted squares are what they are expected
to be (Paule and Mandel 1982). Standard errors of the coefficients are those of Knapp and Hartung (2003), and
at least those of the estimates' own errors (Röver, Knapp and Friede 2015): intervals hold 95 % or more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t

from bam_core.arrays import Array
from bam_core.errors import BadData, WrongShape

LEVEL = 0.95
"""Of intervals."""

FEWEST = 3
"""Sessions below which a line has no error; one more with temperatures."""

_LEAST_RANGE = 3.0  # K: temperatures that differ by less say nothing about their effect
_LARGEST = 10.0  # tau searched for


@dataclass(frozen=True, kw_only=True)
class Coefficient:
    """One coefficient of the line.

    Attributes:
        value: of the logarithm, per unit of time or per kelvin.
        interval: 95 %.
        probability: of one as large, or larger, if there were none.
    """

    value: float
    interval: tuple[float, float]
    probability: float


@dataclass(frozen=True, kw_only=True)
class Trend:
    """The line through the sessions of a unit.

    Attributes:
        time: change per unit of time.
        temperature: change per kelvin; None: temperatures are unknown or alike.
        spread: tau, by which sessions scatter about the line beyond their errors.
        sessions: that count.
        span: from the first to the last of them, in units of time.
    """

    time: Coefficient
    temperature: Coefficient | None
    spread: float
    sessions: int
    span: float


def estimate_trend(logarithm: Array, error: Array, time: Array, temperature: Array | None = None) -> Trend:
    """Return how a quantity changes.

    Args:
        logarithm: (sessions,) estimates, three at least.
        error: (sessions,) their standard errors, above zero.
        time: (sessions,) when, in any unit.
        temperature: (sessions,) of the servo, °C; None, or a NaN among them: they do not count. Nor do they
            where they span less than 3 K, or where three sessions are all there are.

    Raises:
        BamError: the shapes differ, there are too few sessions, all are of one time, or numbers are not
            finite.
    """
    estimates, errors, times = (np.asarray(values, np.float64) for values in (logarithm, error, time))
    if not estimates.shape == errors.shape == times.shape or estimates.ndim != 1:
        raise WrongShape("time", times.shape, f"{estimates.shape}, one per session")
    sessions = len(estimates)
    if sessions < FEWEST:
        raise BadData(
            "sessions", f"{sessions} show no trend", expected=f"{FEWEST} or more", advice="identify more"
        )
    if not (np.all(np.isfinite([estimates, errors, times])) and np.all(errors > 0.0)):
        raise BadData(
            "sessions",
            "an estimate, its error or its time is not a finite number",
            advice="leave that session out, or identify it again",
        )
    span = float(np.ptp(times))
    if span == 0.0:
        raise BadData(
            "sessions", "are all of one time", expected="different times", advice="name them by date"
        )
    columns = [np.ones(sessions), times - times.mean()]
    if _counts(temperature, sessions):
        assert temperature is not None
        columns.append(temperature - np.mean(temperature))
    design = np.stack(columns, axis=1)
    spread = _spread(design, estimates, errors)
    coefficients = _coefficients(design, estimates, errors, spread)
    return Trend(
        time=coefficients[1],
        temperature=coefficients[2] if len(coefficients) > 2 else None,
        spread=spread,
        sessions=sessions,
        span=span,
    )


def _counts(temperature: Array | None, sessions: int) -> bool:
    """Return whether temperatures count: they are known, differ, and leave an error."""
    if temperature is None or sessions <= FEWEST or not np.all(np.isfinite(temperature)):
        return False
    return float(np.ptp(temperature)) >= _LEAST_RANGE


def _fit(design: Array, estimates: Array, errors: Array, spread: float) -> tuple[Array, Array, float]:
    """Return coefficients, their inverse information, and the weighted squares about the line."""
    weights = 1.0 / (errors**2 + spread**2)
    inverse = np.linalg.pinv(design.T * weights @ design)
    coefficients = inverse @ (design.T * weights @ estimates)
    squares = float(np.sum(weights * (estimates - design @ coefficients) ** 2))
    return np.asarray(coefficients, np.float64), np.asarray(inverse, np.float64), squares


def _spread(design: Array, estimates: Array, errors: Array) -> float:
    freedom = len(estimates) - design.shape[1]

    def excess(spread: float) -> float:
        return _fit(design, estimates, errors, spread)[2] - freedom

    if excess(0.0) <= 0.0:
        return 0.0
    return _LARGEST if excess(_LARGEST) >= 0.0 else float(brentq(excess, 0.0, _LARGEST, xtol=1e-9))


def _coefficients(design: Array, estimates: Array, errors: Array, spread: float) -> list[Coefficient]:
    freedom = len(estimates) - design.shape[1]
    values, inverse, squares = _fit(design, estimates, errors, spread)
    # Not below what the estimates' own errors allow, where they happen to lie on a line.
    deviations = np.sqrt(np.diag(inverse) * max(squares / freedom, 1.0))
    reach = float(t.ppf(0.5 + LEVEL / 2.0, freedom))
    return [
        Coefficient(
            value=value,
            interval=(value - reach * deviation, value + reach * deviation),
            probability=float(2.0 * t.sf(abs(value) / deviation, freedom)),
        )
        for value, deviation in zip(values.tolist(), deviations.tolist(), strict=True)
    ]
