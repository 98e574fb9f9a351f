# SPDX-License-Identifier: Apache-2.0
"""How far the mean error over some logs may be off that over many logs of the same kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy.special import stdtrit

LEVEL = 0.95


def mean_interval(errors: Sequence[float]) -> tuple[float, float] | None:
    """Return the LEVEL interval of the mean by Student's t, which takes logs as independent.

    Args:
        errors: of each log, not negative.

    Returns:
        Its ends in the unit of the errors, the lower one not below zero; None of fewer than two logs.
    """
    if len(errors) < 2:
        return None
    reach = float(stdtrit(len(errors) - 1, 0.5 + LEVEL / 2.0)) * stdev(errors) / math.sqrt(len(errors))
    mean = fmean(errors)
    return max(mean - reach, 0.0), mean + reach
