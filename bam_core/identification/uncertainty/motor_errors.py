# SPDX-License-Identifier: Apache-2.0
"""What errors of measured motor constants do to a fit of a servo without load: the scale of all torques.

With torque constant, inertia and friction times a factor, and quadratic terms of friction divided by it, the
motion is exactly the same. So errors of the torque constant add to those of the others in proportion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from scipy.special import ndtri

from bam_core.arrays import Array
from bam_core.identification.motor_evidence import MotorEvidence
from bam_core.identification.search.sensitivity import slope_at
from bam_core.identification.search.space import SearchSpace
from bam_core.identification.uncertainty.estimates import (
    MAX_RELATIVE_HALF_WIDTH,
    ParameterEstimate,
    Uncertainty,
)
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.uncertainty import LEVEL
from bam_core.text.uncertainty_findings import ParameterRemark

_MEASURED = ("torque_constant", "resistance")
_SCALES: Mapping[str, float] = MappingProxyType(
    {
        "armature": 1.0,
        "viscous": 1.0,
        "coulomb": 1.0,
        "stribeck_coulomb": 1.0,
        "quadratic_motor": -1.0,
        "quadratic_external": -1.0,
    }
)
"""Parameter -> power of the factor."""

_REACH = float(ndtri(0.5 + LEVEL / 2.0))
_LARGEST_RATIO = 10.0  # of a value, to either side: further than any draw goes


def with_motor_errors(
    uncertainty: Uncertainty, space: SearchSpace, evidence: MotorEvidence, supply: float
) -> Uncertainty:
    """Return the uncertainty of a fit with that of the motor constants, which the search did not move.

    Args:
        uncertainty: of the other parameters.
        space: that was searched, without the motor constants.
        evidence: of the motor constants.
        supply: relative standard error of voltages, which both motor constants have in common.
    """
    relative = evidence.covariance + supply**2
    motor = np.array([evidence.torque_constant, evidence.resistance])
    errors = np.sqrt(np.diag(relative))
    scaled = np.array([_SCALES.get(estimate.name, 0.0) for estimate in uncertainty.estimates])
    values = np.array([estimate.value for estimate in uncertainty.estimates])
    moves = scaled * values  # for a relative error of k_t
    estimates = [
        _widened(estimate, abs(move) * errors[0])
        for estimate, move in zip(uncertainty.estimates, moves, strict=True)
    ]
    estimates += [
        _measured(name, float(value), float(error))
        for name, value, error in zip(_MEASURED, motor, errors, strict=True)
    ]
    return replace(
        uncertainty,
        estimates=tuple(estimates),
        correlation=_correlation(uncertainty, moves, relative),
        headers=tuple(
            replace(header, shift=np.append(header.shift, np.zeros(len(_MEASURED))))
            for header in uncertainty.headers
        ),
        prediction=None
        if uncertainty.prediction is None
        else _prediction(uncertainty.prediction, space, moves, motor, relative),
    )


def _widened(estimate: ParameterEstimate, error: float) -> ParameterEstimate:
    if error == 0.0 or not math.isfinite(estimate.standard_error):
        return estimate
    back, forth = estimate.value - estimate.low, estimate.high - estimate.value
    return replace(
        estimate,
        standard_error=math.hypot(estimate.standard_error, error),
        low=max(estimate.value - math.copysign(math.hypot(back, _REACH * error), back), 0.0),
        high=estimate.value + math.copysign(math.hypot(forth, _REACH * error), forth),
    )


def _measured(name: str, value: float, error: float) -> ParameterEstimate:
    reach = _REACH * error
    return ParameterEstimate(
        name=name,
        value=value,
        standard_error=value * error,
        low=value * math.exp(-reach),
        high=value * math.exp(reach),
        identifiable=reach <= MAX_RELATIVE_HALF_WIDTH,
        finding=ParameterRemark(kind="measured"),
    )


def _correlation(uncertainty: Uncertainty, moves: Array, relative: Array) -> Array:
    """Return the correlation of all estimates, those of the motor constants last."""
    own = np.array(
        [
            estimate.standard_error if math.isfinite(estimate.standard_error) else 0.0
            for estimate in uncertainty.estimates
        ]
    )
    n = len(own)
    total = np.zeros((n + 2, n + 2))
    total[:n, :n] = uncertainty.correlation * np.outer(own, own) + relative[0, 0] * np.outer(moves, moves)
    total[:n, n:] = np.outer(moves, relative[0])
    total[n:, :n] = total[:n, n:].T
    total[n:, n:] = relative
    errors = np.sqrt(np.diag(total))
    known = errors > 0.0
    result = np.eye(n + 2)
    result[np.ix_(known, known)] = total[np.ix_(known, known)] / np.outer(errors[known], errors[known])
    return np.clip(result, -1.0, 1.0)


def _prediction(
    prediction: Prediction, space: SearchSpace, moves: Array, motor: Array, relative: Array
) -> Prediction:
    """Return the predictive distribution whose draws vary the scale of all torques, which moves nothing."""
    n = space.dimension
    slopes = [
        slope_at(axis, axis.coordinate(abs(move))) for axis, move in zip(space.axes, moves, strict=True)
    ]
    shares = moves / np.array(slopes)
    root = np.linalg.cholesky(relative)
    factor = np.zeros((n + 2, n + 2))
    factor[:n, :n] = prediction.factor
    factor[:n, n:] = np.outer(shares, root[0])
    factor[n:, n:] = root / (2.0 * math.log(_LARGEST_RATIO))
    ranges = {
        **prediction.ranges,
        **{
            name: (value / _LARGEST_RATIO, value * _LARGEST_RATIO)
            for name, value in zip(_MEASURED, motor.tolist(), strict=True)
        },
    }
    return replace(prediction, ranges=ranges, factor=factor)
