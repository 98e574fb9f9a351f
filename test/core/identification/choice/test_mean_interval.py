# SPDX-License-Identifier: Apache-2.0
"""The interval of a mean error: it holds the mean of many logs as often as it says."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.choice.mean_interval import LEVEL, mean_interval


def test_ends_are_those_of_students_t() -> None:
    ends = mean_interval([1.0, 2.0, 3.0])
    assert ends == pytest.approx((max(2.0 - 4.302653 / 3**0.5, 0.0), 2.0 + 4.302653 / 3**0.5))


def test_one_log_has_none() -> None:
    assert mean_interval([1.0]) is None
    assert mean_interval([]) is None


def test_it_holds_the_mean_of_normal_errors_as_often_as_it_says() -> None:
    draws = np.random.default_rng(0).normal(10.0, 1.0, (2000, 4))
    held = [low <= 10.0 <= high for low, high in filter(None, map(mean_interval, draws.tolist()))]
    assert np.mean(held) == pytest.approx(LEVEL, abs=0.02)
