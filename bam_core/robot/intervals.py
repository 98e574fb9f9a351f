# SPDX-License-Identifier: Apache-2.0
"""What is known of servos' parameters, from the covariance of a robot's unknowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.unknowns import Unknowns

_TOLD = 0.8  # of the standard deviation beforehand: what is left is not told by the runs
_WIDE = 1.96  # standard deviations on both sides: 95 %


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """One unknown after the fit.

    Attributes:
        value: SI.
        low: end of the 95 % interval.
        high: likewise.
        told: whether the runs tell it: their interval is narrower than what was known beforehand.
    """

    value: float
    low: float
    high: float
    told: bool


def parameter_intervals(
    unknowns: Unknowns, point: Array, covariance: Array
) -> dict[str, dict[str, Estimate]]:
    """Return type -> parameter -> 95 % interval: the range over that of its coordinate.

    Args:
        unknowns: of a robot.
        point: (unknowns,) coordinates of the values.
        covariance: (unknowns, unknowns) of them.
    """
    error = dict(zip(unknowns.names, np.sqrt(np.diag(covariance)), strict=True))
    place = dict(zip(unknowns.names, point, strict=True))
    found = {}
    for servo, model in unknowns.types_at(point).items():
        estimates = {}
        for name, value in model.parameters.items():
            if (key := f"{servo} {name}") in error:
                reach = _WIDE * error[key]
                low, high = unknowns.between(servo, name, place[key] - reach, place[key] + reach)
                estimates[name] = Estimate(value=value, low=low, high=high, told=bool(error[key] < _TOLD))
        found[servo] = estimates
    return found
