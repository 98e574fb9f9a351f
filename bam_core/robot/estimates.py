# SPDX-License-Identifier: Apache-2.0
"""What a fit to a robot's runs knows of each unknown: its value and its 95 % interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.fit import RobotFit
from bam_core.robot.unknowns import Unknowns

_NINETY_FIVE = 1.96  # standard deviations
_TOLD = 0.8  # of the standard deviation beforehand; with more left the runs do not determine it on its own


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """One unknown after the fit.

    Attributes:
        value: SI.
        begin: where the fit began: what was known beforehand.
        low: end of the 95 % interval.
        high: likewise.
        told: whether the runs determine it on its own: its interval is narrower, by a fifth or more, than
            what was known beforehand. Where not, its value may have moved all the same, along with others.
        width: its standard error, as a share of the standard deviation beforehand.
        shift: how far it is from where it began, in standard deviations beforehand.
    """

    value: float
    begin: float
    low: float
    high: float
    told: bool
    width: float
    shift: float = 0.0


def parameter_estimates(
    unknowns: Unknowns, point: Array, standard_errors: Array
) -> dict[str, dict[str, Estimate]]:
    """Return type -> parameter -> its interval: the range over that of its coordinate.

    Args:
        unknowns: of a robot.
        point: (unknowns,) coordinates of the values.
        standard_errors: (unknowns,) of them.
    """
    error = dict(zip(unknowns.names, standard_errors, strict=True))
    place = dict(zip(unknowns.names, point, strict=True))
    result = {}
    for servo, model in unknowns.types_at(point).items():
        estimates = {}
        for name, value in model.parameters.items():
            if (key := f"{servo} {name}") in error:
                reach = _NINETY_FIVE * error[key]
                low, high = (unknowns.value(servo, name, place[key] + side * reach) for side in (-1.0, 1.0))
                estimates[name] = Estimate(
                    value=value,
                    begin=unknowns.servos[servo].parameters[name],
                    low=low,
                    high=high,
                    told=bool(error[key] < _TOLD),
                    width=float(error[key]),
                    shift=float(place[key]),
                )
        result[servo] = estimates
    return result


def deviation_estimates(fit: RobotFit) -> dict[str, Estimate]:
    """Return the name of each unknown of the robot (as in `RobotDeviations.by_name`) -> its interval."""
    unknowns = fit.unknowns
    error = dict(zip(unknowns.names, fit.standard_errors, strict=True))

    def values(point: Array) -> dict[str, float]:
        return unknowns.deviations_at(point).by_name()

    here, begin = values(fit.point), values(np.zeros(len(fit.point)))
    estimates = {}
    for index, name in enumerate(unknowns.names):
        if name in here:  # it grows with its coordinate
            reach = _NINETY_FIVE * error[name] * np.eye(len(fit.point))[index]
            estimates[name] = Estimate(
                value=here[name],
                begin=begin[name],
                low=values(fit.point - reach)[name],
                high=values(fit.point + reach)[name],
                told=bool(error[name] < _TOLD),
                width=float(error[name]),
                shift=float(fit.point[index]),
            )
    return estimates
