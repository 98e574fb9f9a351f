# SPDX-License-Identifier: Apache-2.0
"""The trend of a quantity over sessions: intervals hold it, temperature is not taken for it."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.errors import BadData, WrongShape
from bam_core.identification.variation.trend import Trend, estimate_trend

SESSIONS, WEAR, HEAT, SCATTER, ERROR = 8, 0.04, -0.01, 0.03, 0.03


def sessions(seed: int, wear: float = WEAR, *, hot: bool = True) -> Trend:
    """Eight sessions that scatter; the later ones are in summer."""
    random = np.random.default_rng(seed)
    time = np.arange(SESSIONS, dtype=np.float64)
    temperature = 30.0 + 2.0 * time + random.normal(0.0, 4.0, SESSIONS)
    errors = np.full(SESSIONS, ERROR)
    true = 0.3 + wear * time + HEAT * (temperature - 30.0) + random.normal(0.0, SCATTER, SESSIONS)
    estimates = true + errors * random.standard_normal(SESSIONS)
    return estimate_trend(estimates, errors, time, temperature if hot else None)


def test_intervals_hold_wear_and_the_effect_of_temperature() -> None:
    found = [sessions(seed) for seed in range(200)]
    times = [trend.time.interval for trend in found]
    heats = [trend.temperature.interval for trend in found if trend.temperature is not None]
    assert len(heats) == 200
    assert np.mean([low <= WEAR <= high for low, high in times]) >= 0.93
    assert np.mean([low <= HEAT <= high for low, high in heats]) >= 0.93
    assert np.mean([trend.time.probability < 0.05 for trend in found]) > 0.4
    assert np.mean([trend.time.value for trend in found]) == pytest.approx(WEAR, abs=0.005)


def test_heat_is_not_taken_for_wear_where_temperatures_are_known() -> None:
    known = [sessions(seed, 0.0).time.probability for seed in range(200)]
    unknown = [sessions(seed, 0.0, hot=False).time.probability for seed in range(200)]
    assert np.mean(np.array(known) < 0.05) <= 0.06
    assert np.mean(np.array(unknown) < 0.05) > 0.2


def test_temperatures_that_are_alike_unknown_or_too_few_do_not_count() -> None:
    values, errors, time = 0.1 * np.arange(4.0), np.full(4, 0.05), np.arange(4.0)
    for temperature in (np.full(4, 30.0), np.array([20.0, 40.0, np.nan, 30.0])):
        assert estimate_trend(values, errors, time, temperature).temperature is None
    few = estimate_trend(values[:3], errors[:3], time[:3], np.array([20.0, 40.0, 30.0]))
    assert few.temperature is None
    assert few.time.value == pytest.approx(0.1)
    assert (few.sessions, few.span) == (3, 2.0)


def test_what_shows_no_trend_is_refused() -> None:
    ones = np.ones(3)
    with pytest.raises(WrongShape):
        estimate_trend(ones, ones, np.arange(4.0))
    with pytest.raises(BadData):
        estimate_trend(ones[:2], ones[:2], np.arange(2.0))
    with pytest.raises(BadData):
        estimate_trend(ones, ones, ones)
    with pytest.raises(BadData):
        estimate_trend(ones, 0.0 * ones, np.arange(3.0))
